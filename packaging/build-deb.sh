#!/bin/sh
# build-deb.sh BUILD_FOLDER: a Debian package of the program built there, BUILD_FOLDER/cuzk_*.deb.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
source=$(dirname "$here")
version=$("$build/cuzk" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

"$build/cuzk" serve --help >/dev/null # a build without the daemon is no package
install -D -m 755 "$build/cuzk" "$root/usr/bin/cuzk"
strip --strip-unneeded "$root/usr/bin/cuzk"
for library in "$build"/libcuzk-cuda.so "$build"/lib/libcuzk-cuda.so; do
    [ ! -e "$library" ] || install -D -m 644 -s "$library" "$root/usr/lib/cuzk/libcuzk-cuda.so"
done
install -D -m 644 "$here/cuzk.toml" "$root/etc/cuzk/cuzk.toml"
for unit in cuzk.service cuzk.socket; do
    install -D -m 644 "$here/systemd/$unit" "$root/lib/systemd/system/$unit"
done
install -D -m 644 "$source/proto/cuzk/v1/proving.proto" "$root/usr/share/cuzk/proto/cuzk/v1/proving.proto"
doc=$root/usr/share/doc/cuzk
for text in README.md docs/daemon.md; do
    install -D -m 644 "$source/$text" "$doc/$(basename "$text")"
done
cat "$source/LICENSE-MIT" "$source/LICENSE-APACHE" >"$work/copyright"
install -m 644 "$work/copyright" "$doc/copyright"

# What the program is linked with, as package names and versions.
mkdir -p "$work/debian"
printf 'Source: cuzk\n\nPackage: cuzk\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/cuzk 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ]

mkdir -p "$root/DEBIAN"
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s|@DEPENDS@|$depends|" "$here/debian/control.in" >"$root/DEBIAN/control"
printf 'Installed-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)" >>"$root/DEBIAN/control"
echo /etc/cuzk/cuzk.toml >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 "$here/debian/$script" "$root/DEBIAN/$script"
done
(cd "$root" && find usr lib -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group --build "$root" "$build/cuzk_${version}_$arch.deb"
