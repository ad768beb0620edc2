# shellcheck shell=sh
# `pharos run` on hci0 while another program uses the same adapter through bluetoothd, and its packets at hci1.

# The longest silence in seconds when another program's scan starts or ends.
SCAN_LIMIT=0.5
# Advertisements through the kernel that share a single set take turns of two seconds.
TURN_LIMIT=2.5

sharing_opens() { # sharing_opens MODEL
    [ -e /run/dbus/pid ] || bus_start
    air_ready "$1"
    bluetoothd_start
    ears_open
}

sharing_closes() {
    ears_close
    bluetoothd_stop
    air_close
}

# control_begins: an interactive bluetoothctl on hci0. `control LINE…` sends lines to it.
control_begins() {
    rm -f commands
    mkfifo commands
    background control.txt sh -c 'exec bluetoothctl <commands'
    control_pid=$started
    exec 9>commands
    control "select $(adapter_address hci0)"
    sleep 1
}

control() { for line in "$@"; do echo "$line" >&9; sleep 0.3; done; }

control_ends() {
    exec 9>&-
    stop "$control_pid" TERM || true
}

# foreign_begins WHAT / foreign_ends WHAT: scan, advertise or both, through bluetoothd. An adapter with an open user
# channel does not exist for bluetoothd, so hcitool and hciconfig are used there.
foreign_begins() {
    if [ "$adapter" = hci0:user ]; then
        intrudes "$1"
        return 0
    fi
    case $1 in
    scan) control "scan on" ;;
    advertise) control "menu advertise" "manufacturer 0xffff 0xab 0xcd" "back" "advertise broadcast" ;;
    both) foreign_begins advertise && foreign_begins scan ;;
    esac
}

intrudes() {
    case $1 in
    scan) background intruder.txt timeout -s INT 10 hcitool -i hci0 lescan --duplicates ;;
    advertise) hciconfig hci0 leadv 3 ;;
    both) intrudes advertise && intrudes scan ;;
    esac
}

foreign_ends() {
    if [ "$adapter" = hci0:user ]; then return 0; fi
    case $1 in
    scan) control "scan off" ;;
    advertise) control "advertise off" ;;
    both) foreign_ends scan && foreign_ends advertise ;;
    esac
}

# runs_beside FORM WHAT SECONDS: leaves the times of all receptions in times.txt, the service's log in lobby.log, its
# metrics in metrics.txt, and the start time of the other program in $since.
runs_beside() {
    managed_starts_up
    sends_on "$1"
    if [ "$1" != user ]; then control_begins; fi
    sleep 2
    since=$(now)
    foreign_begins "$2"
    sleep "$3"
    foreign_ends "$2"
    sleep 4
    tells_on_air || true
    if [ "$1" != user ]; then control_ends; fi
    service_ends lobby
    heard_since "$since" "$IBEACON_OCTETS"
    say "note $air_model, $adapter beside $2 for $3 s: received $(wc -l <times.txt) times," \
        "longest silence $(longest_silence) s; $(kernel_and_bluez)"
}

kernel_and_bluez() { echo "kernel $(uname -r), BlueZ $(bluetoothd -v)"; }

# sends_beside FORM WHAT SECONDS: no silence is longer than the limit, and the beacon is on the air at the end.
sends_beside() {
    runs_beside "$@"
    case $1-$2 in
    *-scan) limit=$SCAN_LIMIT ;;
    mgmt-*) limit=$TURN_LIMIT ;;
    *) limit=$BACK_LIMIT ;;
    esac
    at_most "$(longest_silence)" "$limit" || {
        silences
        fail "silent for $(longest_silence) s beside $2, wanted $limit s"
    }
    shows metrics.txt 'pharos_on_air{profile="lobby"} 1'
}

# silences: the receptions before a silence above the limit, in seconds from the beginning.
silences() {
    awk -v since="$since" -v limit=$SCAN_LIMIT 'NR > 1 && $1 - last > limit * 1e6 {
        printf "silent from %.2f to %.2f s\n", (last - since) / 1e6, ($1 - since) / 1e6 } { last = $1 }' times.txt
}

# reports_beside FORM WHAT SECONDS: the log reports each silence over two seconds within a second, and the beacon is
# back after it.
reports_beside() {
    runs_beside "$@"
    if at_most "$(longest_silence)" 2; then return 0; fi
    silences
    grep -q 'off the air' lobby.log || fail "silent for $(longest_silence) s, and the log does not say so"
    shows metrics.txt 'pharos_on_air{profile="lobby"} 1'
}

# reports_advertising_on: another program turns the kernel's own advertisement on, which keeps all others off the air.
# Pharos reports it within a second, and is back within two seconds after it was turned off.
reports_advertising_on() {
    managed_starts_up
    profile lobby 258
    service_begins lobby hci0:mgmt
    sleep 1
    management advertising on
    eventually 1 grep -q 'off the air' lobby.log || {
        cat lobby.log
        fail "the log does not say that the beacon is off the air"
    }
    expect_exit 1 doctor.txt pharos doctor --adapter hci0:mgmt
    shows doctor.txt 'advertising'
    sleep 3
    back=$(now)
    management advertising off
    sleep 4
    tells_on_air || true
    service_ends lobby
    heard_since "$back" "$IBEACON_OCTETS"
    late=$(seconds_between "$back" "$(head -n 1 times.txt)")
    say "note $air_model, hci0:mgmt after advertising off: back after $late s; $(kernel_and_bluez)"
    at_most "$late" "$BACK_LIMIT" || fail "back after $late s, wanted $BACK_LIMIT s"
    shows metrics.txt 'pharos_on_air{profile="lobby"} 1'
}

# user_again: a service on hci0:user ends, bluetoothd powers the adapter up, and the service is started again.
user_again() {
    profile lobby 258
    adapter_starts_down hci0
    service_begins lobby hci0:user
    sleep 1
    service_ends lobby
    sleep 3
    flags=$(adapter_flags hci0)
    since=$(now)
    background again.log pharos run lobby.json --adapter hci0:user --state-dir state --runtime-dir runtime
    again_pid=$started
    sleep 6
    stop "$again_pid" TERM || true
    cat again.log
    heard_since "$since" "$IBEACON_OCTETS"
    say "note $air_model, hci0:user again: hci0 was $flags, received $(wc -l <times.txt) times in 6 s; $(kernel_and_bluez)"
    [ "$(wc -l <times.txt)" -gt 20 ] || fail "received $(wc -l <times.txt) times in 6 s"
    adapter_starts_up hci0
}
