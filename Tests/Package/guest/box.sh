# shellcheck shell=sh
# A box with systemd, hci0 for its beacon, and somebody who listens with hci1 all the time.

# shellcheck disable=SC2034 # for the scripts that read this one, and for lib.sh
LAB_LIMIT=120
BOX=/var/lib/lab # what has to be known after the restart
AIR=$BOX/air.btsnoop
# The iBeacon of lobby.json; its minor, which the tests change, is any.
LOBBY='0201061aff4c000215fb0b57a2822844cd913a94a122ba12060001....c5'

# note TEXT: a number for the reader, shown whether or not the test succeeds.
note() {
    echo "$*"
    say "note $*"
}

now() { date +%s%6N; }            # microseconds since 1970, as btmon's clock
milliseconds() { echo $((($2 - $1) / 1000)); } # milliseconds FROM TO

uptime_in_tenths() { awk '{ printf "%d", $1 * 10 }' /proc/uptime; }

# eventually SECONDS COMMAND…: by the clock, because a command may take long here.
eventually() {
    deadline=$(($(uptime_in_tenths) + $1 * 10))
    shift
    until "$@"; do
        [ "$(uptime_in_tenths)" -lt "$deadline" ] || return 1
        sleep 0.2
    done
}

# write_lobby MINOR: its profile with this minor.
write_lobby() { sed -i "s/\"minor\": [0-9]*/\"minor\": $1/" /etc/pharos/lobby.json; }

# lobby MINOR: the octets of lobby.json with this minor.
lobby() { printf '0201061aff4c000215fb0b57a2822844cd913a94a122ba12060001%04xc5' "$1"; }

# listen: what hci1 has heard until now, in capture.txt.
listen() { /lab/bin/btsnoop_lines "$AIR" >capture.txt; }

# sightings OCTETS: the lines of capture.txt in which hci1 hears them. Cheaper than the lab's `reports`, which looks at
# the whole packet: what a packet is made of, the lab has tested.
sightings() { grep -E "hci1 event 3e.*$1" capture.txt; }

# heard_after TIME OCTETS: when hci1 first heard them after that time; fails when it has not.
heard_after() {
    listen
    sightings "$2" | awk -v since="$1" '$1 > since { print $1; found = 1; exit } END { exit !found }'
}

# comes_back TIME OCTETS: waits until hci1 hears them after that time, and leaves when in $back.
comes_back() {
    eventually 30 heard_after "$1" "$2" >heard.txt || fail "hci1 does not hear the beacon"
    back=$(tail -n 1 heard.txt)
}

# longest_silence FROM TO OCTETS: in milliseconds, the longest time within FROM...TO in which hci1 heard none of them.
longest_silence() {
    listen
    sightings "$3" | awk -v from="$1" -v to="$2" 'BEGIN { last = from }
        $1 > from && $1 < to { if ($1 - last > longest) longest = $1 - last; last = $1 }
        END { if (to - last > longest) longest = to - last; printf "%d", longest / 1000 }'
}

# at_most WHAT MILLISECONDS LIMIT
at_most() {
    note "$1: $2 ms (at most $3 ms)"
    [ "$2" -le "$3" ] || fail "$1: $2 ms, more than $3 ms"
}

property() { systemctl show --value -p "$2" "pharos@$1"; } # property INSTANCE NAME
is_active() { systemctl -q is-active "pharos@$1"; }
is_failed() { systemctl -q is-failed "pharos@$1"; }

# says INSTANCE WORDS: its line for `systemctl status`.
says() { property "$1" StatusText | grep -F -e "$2"; }

# status_is INSTANCE STATE: what `pharos status` tells.
status_is() { pharos status --json | grep -E "\"name\":\"$1\",[^{]*\"state\":\"$2\""; }

# restarted INSTANCE PID: it is on the air again, as another process.
restarted() { is_active "$1" && [ "$(property "$1" MainPID)" != "$2" ]; }

# explain INSTANCE: evidence.
explain() {
    systemctl status --no-pager -l "pharos@$1"
    pharos status
}

# start_time INSTANCE: milliseconds from the start of the unit to READY.
start_time() {
    echo $((($(property "$1" ActiveEnterTimestampMonotonic) - $(property "$1" InactiveExitTimestampMonotonic)) / 1000))
}

unplug() { systemctl kill -s USR1 lab-adapter@0; }
plug_in() { systemctl kill -s USR2 lab-adapter@0; }

# property_of UNIT NAME
property_of() { systemctl show --value -p "$2" "$1"; }

# write_hall ADAPTER MINOR: the file of a listener, which knows the beacon with this minor.
write_hall() {
    cat >/etc/pharos/hall.json <<END
{ "version": 1, "name": "hall", "adapter": "$1",
  "known": [ { "name": "lobby", "ibeacon": { "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": $2 } } ],
  "zones": [ { "name": "near", "beacons": [ "lobby" ], "aboveDbm": -100, "silentAfterS": 3 } ],
  "hooks": [ { "on": "any", "run": [ "sh", "-c", "cat >>/var/lib/pharos/hooks.txt" ] } ] }
END
}

# files: all that lies on the box's disks and does not change from hour to hour.
files() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/tmp -o \
    -path /var/log -o -path /var/cache -o -path "$BOX" -o -path /var/lib/bluetooth -o -path /root \) -prune -o \
    -print | sort; }
