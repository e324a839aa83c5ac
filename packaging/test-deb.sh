#!/bin/sh
# test-deb.sh PACKAGE: install it in a clean chroot of this Debian release, run it, remove it.
# Exit code 77, "skipped": not root, no debootstrap, or no archive to be reached.
set -eu
package=$1
[ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || {
    echo "skipped: this needs root and debootstrap" >&2
    exit 77
}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m1 '/debian/*$' || echo http://deb.debian.org/debian)
root=$(mktemp -d)
chmod 755 "$root" # it is the folder / of other users too
daemon=
clean() {
    [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean EXIT

depends=$(dpkg-deb -f "$package" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g')
debootstrap --variant=minbase --include="$depends" "$release" "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -5 "$root.log" >&2
    rm -f "$root.log"
    exit 77
}
rm -f "$root.log"
mount -t proc proc "$root/proc" 2>/dev/null || true
cp "$package" "$root/tmp/cuzk.deb"
inside() { chroot "$root" "$@"; }
inside dpkg -i /tmp/cuzk.deb
inside cuzk --version
inside getent passwd cuzk
inside cuzk config check --config /etc/cuzk/cuzk.toml
inside cuzk selftest
# It serves as its own user, and answers.
inside install -d -o cuzk -m 700 /run/cuzk /var/lib/cuzk
chroot --userspec=cuzk:cuzk "$root" cuzk serve --config /etc/cuzk/cuzk.toml --http off &
daemon=$!
for i in $(seq 100); do
    [ -S "$root/run/cuzk/cuzk.sock" ] && break
    sleep 0.1
done
inside cuzk status --daemon unix:///run/cuzk/cuzk.sock
kill -TERM "$daemon"
wait "$daemon"
daemon=
inside dpkg -r cuzk
[ -e "$root/etc/cuzk/cuzk.toml" ]
inside dpkg -P cuzk
for left in usr/bin/cuzk etc/cuzk var/lib/cuzk lib/systemd/system/cuzk.service; do
    [ ! -e "$root/$left" ] || { echo "left behind: /$left" >&2; exit 1; }
done
echo "ok: installed, served and removed in a clean $release"
