#!/bin/sh
# run.sh test|page SIM_DAEMON PROTO_FOLDER WORK_FOLDER: the packages come from npm into WORK_FOLDER.
# Exit code 77, "skipped": no node, no packages, or no Chromium.
set -eu
what=$1 program=$2 proto=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || exit 77
mkdir -p "$work"
(
    flock 9
    cp "$here"/*.js "$here"/package.json "$here"/package-lock.json "$work"/
    [ -e "$work/installed" ] && cmp -s "$here/package-lock.json" "$work/installed" || {
        (cd "$work" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || exit 77
        cp "$here/package-lock.json" "$work/installed"
    }
) 9>"$work/lock"
if [ "$what" = page ]; then
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
    exec timeout 120 node "$work/page.js" "$program" "$proto" "$browser" "$work"
fi
exec timeout 120 node "$work/test.js" "$program" "$proto"
