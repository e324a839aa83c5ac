# Two commands for a fresh Debian 12: `make demo` and `make test`. Everything else is CMake
# (CMakePresets.json); this file only chains the steps.
.PHONY: all deps demo test deb deb-test clean

BUILD ?= build
JOBS ?= $(shell nproc)

all: deps
	cmake --preset default -B $(BUILD) $(if $(CUDA_ARCHS),'-DCUZK_CUDA_ARCHS=$(CUDA_ARCHS)')
	cmake --build $(BUILD) -j $(JOBS)

deps:
	sh scripts/install-deps.sh

demo: all
	sh scripts/demo.sh $(BUILD)

test: deps
	sh scripts/install-deps.sh --test
	cmake --preset default -B $(BUILD)
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# A Debian package, build/cuzk_*.deb; deb-test installs it in a clean chroot (root, debootstrap).
# The package's GPU library is for every architecture.
deb: CUDA_ARCHS = all
deb: all
	sh packaging/build-deb.sh $(BUILD)

deb-test: deb
	sh packaging/test-deb.sh $(BUILD)/cuzk_*.deb

clean:
	rm -rf $(BUILD)
