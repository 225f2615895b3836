#!/usr/bin/env bash
# The quick part of the tests (`make quick`) on the Python of a newer Debian: 3.13 of trixie, unless another suite is given.
# Needs root, debootstrap and 3 GB; what is committed is tested.  scripts/newer_python.sh [SUITE] [FOLDER]
set -euo pipefail
suite=${1:-trixie}
folder=${2:-/var/tmp/hockeystick-$suite}
project=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
[ "$(id -u)" = 0 ] || { echo "needs root: it makes a Debian of its own in $folder"; exit 1; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap"; exit 1; }

if [ ! -e "$folder/ready" ]; then
    rm -rf "$folder"
    debootstrap --variant=minbase --include=python3,python3-venv,python3-dev,gcc,libc6-dev,make,ca-certificates,binutils \
        "$suite" "$folder" http://deb.debian.org/debian
    touch "$folder/ready"
fi
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do # as this machine reaches the index
    if [ -e "$file" ]; then cp -L "$file" "$folder$file"; fi
done
rm -rf "$folder/hockeystick"
mkdir "$folder/hockeystick"
git -C "$project" archive HEAD | tar -x -C "$folder/hockeystick"

# mounts of its own, which end with it
exec unshare --mount --fork bash -euc '
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm"
    nice chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
        bash -euc "cd /hockeystick; python3 --version; make quick VENV=/venv; PYTHONPATH= /venv/bin/hockeystick --version"
' bash "$folder"
