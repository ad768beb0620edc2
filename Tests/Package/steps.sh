#!/bin/sh
# Installs the packages in /packages in a new system, uses them, and removes them again: as root, in a chroot. Each step
# prints a line `OK …` or `NOT OK …`.
step() {
    sentence=$1
    shift
    if output=$("$@" 2>&1); then echo "OK $sentence"; else printf 'NOT OK %s\n%s\n' "$sentence" "$output"; fi
}
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"; }
left_behind() {
    find / -xdev -path /proc -prune -o -path /sys -prune -o -path /packages -prune -o -path '/var/log/*' -prune \
        -o -path '/var/cache/*' -prune -o -iname '*pharos*' -print
}
checks_what_it_brings() {
    pharos listen check /usr/share/pharos/listeners/hall.json &&
        pharos inventory check /usr/share/pharos/inventories/*.json
}
leaves_nothing() { apt purge pharos pharos-hub && left_behind && [ -z "$(left_behind)" ]; }
step "apt installs both packages" apt install /packages/*.deb
step "pharos sends on the virtual controller" \
    pharos advertise /usr/share/pharos/profiles/lobby-ibeacon.json --adapter virtual --duration-s 1
step "pharos-hub runs, and reads the files that it comes with" checks_what_it_brings
step "nothing is left after apt purge" leaves_nothing
