#!/bin/sh
# The main job end to end on real input: a 2 KiB sector's C1 output goes in, a verified proof comes
# out. Parameters are made here first (INSECURE: for demonstration), since Filecoin's published ones
# are a 1 GB download.
set -eu
build=${1:-build}
here=$(cd "$(dirname "$0")/.." && pwd)
cuzk="$here/$build/cuzk"
[ -x "$cuzk" ] || cuzk="$build/cuzk"
c1="$here/tests/data/filecoin/porep-2k/c1.json"
meta="$here/tests/data/filecoin/porep-2k/meta.json"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/cuzk-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

say() { printf '\n== %s\n' "$1"; }

say "1/4 the input: what C1 made of a sealed 2 KiB sector"
"$cuzk" inspect "$c1"
say "2/4 make development parameters (1.1 GB, once)"
"$cuzk" setup --circuit porep-2k --out "$work/params" --seed \
    00000000000000000000000000000000000000000000000000000000000000d0
say "3/4 prove"
"$cuzk" prove porep --c1 "$c1" --params "$work/params" --out "$work/proof.bin"
say "4/4 verify, from public data alone"
"$cuzk" verify porep --meta "$meta" --proof "$work/proof.bin" --params "$work/params"
"$cuzk" inspect "$work/proof.bin"
