#!/bin/sh
# The two rules of the layers (docs/architecture.md), held by reading the sources:
#   - a layer includes headers of itself and of the layers it uses, and no others;
#   - the core layers take memory from the host they are given, and never start threads, log, read
#     the environment or end the process.
# The layers and what they use come from the cuzk_layer() lines of the CMake files.
set -eu
cd "${1:-$(dirname "$0")/..}"

# Said here because they are not made by cuzk_layer(): cuda is loaded at run time; cli uses all.
uses() {
    sed -n 's/^ *cuzk_layer(\([a-z0-9]*\) *\(USES\)\{0,1\}\([a-z0-9 ]*\)).*/\1 \3/p' \
        CMakeLists.txt src/*/CMakeLists.txt
    echo "cuda curve poly r1cs groth16"
}

# "layer/used" for every pair, with what is used through others.
pairs() {
    uses | awk '{
        for (i = 2; i <= NF; i++) direct[$1] = direct[$1] " " $i
        layer[$1] = 1
    }
    function visit(top, name,    n, i, part) {
        if ((top, name) in seen) return
        seen[top, name] = 1
        print top "/" name
        n = split(direct[name], part, " ")
        for (i = 1; i <= n; i++) visit(top, part[i])
    }
    END { for (l in layer) visit(l, l) }'
}

failed=0
complain() {
    echo "$1"
    failed=1
}

allowed=$(pairs)
layers=$(uses | cut -d' ' -f1)
for layer in $layers; do
    [ -d "src/$layer" ] || { complain "no folder src/$layer"; continue; }
    found=$(grep -HnoE '^ *# *include +"[a-z0-9_]+/' "src/$layer"/* || true)
    [ -n "$found" ] || { complain "src/$layer: no includes found"; continue; }
    while IFS= read -r line; do
        other=${line##*\"}
        other=${other%/}
        [ -d "src/$other" ] || continue # a library's header
        echo "$allowed" | grep -qx "$layer/$other" || complain "${line%%:#*}: $layer may not use $other"
    done <<EOF
$found
EOF
done

# Calls that the core does not make. snprintf writes to memory and is fine.
names='malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|memalign|strdup|strndup'
names="$names|mmap|munmap|pthread_[a-z_]+|thrd_[a-z_]+|fork|system|popen|getenv|secure_getenv|setenv"
names="$names|printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|perror|syslog|fopen"
names="$names|abort|exit|_exit|_Exit|quick_exit|raise|signal|sigaction"
# Files are mapped and written in one place; its writer is one block from malloc, as file.h says.
exceptions='^src/base/file\.c:.*[^_](calloc|free|mmap|munmap)\('
for layer in base hash field curve poly msm r1cs groth16 filecoin prover; do
    calls=$(grep -HnE "(^|[^A-Za-z0-9_>.])($names) *\(" "src/$layer"/*.[ch] |
        grep -vE "$exceptions" | grep -vE ':[0-9]+: *(/\*|\*| \*)' || true)
    [ -z "$calls" ] || complain "$calls"
    heads=$(grep -HnE '# *include +<(pthread|threads|signal|syslog|malloc)\.h>' "src/$layer"/*.[ch] || true)
    [ -z "$heads" ] || complain "$heads"
done

[ "$failed" -eq 0 ] && echo "layers: every include and call within the rules"
exit "$failed"
