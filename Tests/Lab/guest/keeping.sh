# shellcheck shell=sh
# `pharos run` as a service, and all faults of its adapter. Both controllers keep time, so the receptions of hci1 show
# for how long the beacon was silent.
#
# hci1 listens and btmon writes from ears_open to ears_close, during all tests between them: each test has its own
# service and checks the receptions since its start.

EARS=/tmp/ears
# The seconds after the adapter's return in which a beacon must be back.
BACK_LIMIT=2

# air_open MODEL: a controller program on TCP port 6402, with hci0 and hci1. Each connection is a separate controller. A
# bridge keeps its connection while it is unplugged, so its adapter comes back with the same address.
air_open() {
    air_model=$1
    if [ "$1" = rootcanal ]; then
        set -- rootcanal -hci_port 6402 -test_port 6401 -link_port 6403 -link_ble_port 6404
    else
        set -- pharos controller --listen tcp:127.0.0.1:6402 --like "$1"
    fi
    "$@" >/tmp/air.log 2>&1 &
    echo $! >/tmp/air.pid
    eventually 15 listens 6402
    for number in 0 1; do
        bridge_open "$number"
        eventually 15 adapter_exists "hci$number"
    done
}

air_ready() { air_open "$@" && adapters_ready; }

air_close() {
    kill "$(cat /tmp/air.pid)"
    eventually 10 adapters_gone
}

listens() { netstat -ltn | grep -q ":$1 "; }

bridge_open() {
    vhci_bridge 6402 2>/dev/null &
    echo $! >"/tmp/bridge$1.pid"
}

bridge() { kill -"$2" "$(cat "/tmp/bridge$1.pid")"; }

no_adapter() { ! adapter_exists "$1"; }

ears_open() {
    mkdir -p $EARS && cd $EARS || return
    rm -f capture.btsnoop
    capture_start
    listen_start
    cd /root || return
}

# ears_again: listens again after hci1 was away; unlike a program of a test, this continues after the test's end.
ears_again() {
    cd $EARS || return
    listen_start
    cd "$WORK" || return
}

ears_close() {
    cd $EARS || return
    listen_stop >/dev/null
    capture_stop >/dev/null
    cd /root || return
}

# now: microseconds since 1970, on the capture's clock.
now() {
    started_at now.txt true
    cat now.txt
}

# heard_since MICROSECONDS OCTETS: writes the times since then at which hci1 reported these octets to times.txt.
heard_since() {
    btsnoop_lines $EARS/capture.btsnoop >capture.txt
    reports "$2" | awk -v since="$1" '$1 >= since { print $1 }' >times.txt
}

# longest_silence: the longest time between two lines of times.txt, in seconds.
longest_silence() {
    awk 'NR > 1 && $1 - last > gap { gap = $1 - last } { last = $1 } END { printf "%.2f\n", gap / 1e6 }' times.txt
}

# first_since MICROSECONDS PATTERN: the time of the first matching line of capture.txt since then; empty without one.
first_since() { grep -E "$2" capture.txt | awk -v since="$1" '$1 >= since { print $1; exit }'; }

# seconds_between MICROSECONDS MICROSECONDS: a day if one of the two times is empty.
seconds_between() { awk "BEGIN { if (${1:-0} && ${2:-0}) printf \"%.2f\\n\", (${2:-0} - ${1:-0}) / 1e6; else print 86400 }"; }

at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

# profile NAME MAJOR: an iBeacon every 100 ms, in NAME.json.
profile() {
    cat >"$1.json" <<END
{ "version": 1, "name": "$1", "advertisements": [ { "type": "ibeacon", "major": $2, "minor": 772, "intervalMs": 100,
  "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "measuredPowerDbm": -59 } ] }
END
}

# ibeacon_octets MAJOR: the octets that such a profile sends.
ibeacon_octets() { echo "0201061aff4c000215fb0b57a2822844cd913a94a122ba1206$(printf %04x "$1")0304c5"; }

# service_begins NAME ADAPTER: leaves the process id in $service_pid, and the output in NAME.log.
service_begins() {
    mkdir -p state runtime
    background "$1.log" pharos run "$1.json" --adapter "$2" --state-dir state --runtime-dir runtime
    # shellcheck disable=SC2154 # background sets it
    service_pid=$started
    eventually 15 grep -q ' on the air' "$1.log" || {
        cat "$1.log"
        fail "the service never said that it is on the air"
    }
}

# service_ends NAME: advertising is off and the service ends within a second.
service_ends() {
    asked=$(now)
    stop "$service_pid" TERM
    equal "exit status" 0 $?
    # One second, plus the emulated machine's delay.
    within "seconds from SIGTERM to the end" "$(seconds_between "$asked" "$(now)")" 0 3
    cat "$1.log"
}

# comes_back FORM WHAT CAUSES SAYS: after the fault, the beacon is back in time, and the service reports why it was
# away. `fault_WHAT` causes the fault, and leaves the time of the adapter's return in $back if it was away; $deaf is set
# if hci1 was away too. CAUSES is a regular expression.
comes_back() {
    sends_on "$1"
    # If another program powers an adapter down repeatedly, pharos reacts every two seconds only.
    case $2 in down | reset | bluetoothd_again) sleep 2 ;; *) sleep 0.5 ;; esac
    since=$(now) back="" deaf=""
    "fault_$2"
    eventually 20 grep -q 'back on the air' lobby.log || {
        cat lobby.log
        pharos status --runtime-dir runtime
        fail "the beacon does not come back"
    }
    sleep 0.5
    heard_since "$since" "$IBEACON_OCTETS"
    silence=$(longest_silence)
    # A controller continues to send without its kernel, so the beacon is back when it was enabled and then received.
    enabled=$(first_since "${back:-$since}" 'hci[02] command (0a2001|3920..)01')
    heard_since "${enabled:-0}" "$IBEACON_OCTETS"
    again=$(head -n 1 times.txt)
    # If hci1 was away too, it may have missed the first packets.
    if [ -n "$again" ] && [ -n "$deaf" ]; then again=$enabled; fi
    late=$(seconds_between "${back:-$since}" "$again")
    text="back after $late s"
    if [ -n "$back" ] && announced=$(first_since "$back" 'hci[02] told ........0400$') && [ -n "$announced" ]; then
        late=$(seconds_between "$announced" "$again")
        text="back $late s after the kernel announced it, $(seconds_between "$back" "$announced") s after it came"
    fi
    # When bluetoothd finds an adapter, it may power it down once more.
    eventually 10 tells_on_air
    service_ends lobby
    say "note $air_model, $adapter, $2: $text; longest silence on the air $silence s"
    at_most "$late" $BACK_LIMIT || fail "back after $late s, wanted $BACK_LIMIT s"
    shows lobby.log "$4"
    shows metrics.txt 'pharos_on_air{profile="lobby"} 1'
    grep -qE "^pharos_rearms_total\{profile=\"lobby\",cause=\"($3)\"\} 1" metrics.txt || {
        cat metrics.txt
        fail "the metrics know no re-arm because of $3"
    }
}

# sends_on FORM: a service sends the profile `lobby` on hci0 in this form, and the adapter's name is left in $adapter.
sends_on() {
    adapter=$(adapter_form "$1")
    profile lobby 258
    if [ "$1" = user ]; then adapter_starts_down hci0; else adapter_starts_up hci0; fi
    service_begins lobby "$adapter"
}

adapter_form() {
    case $1 in
    raw) echo hci0 ;;
    *) echo "hci0:$1" ;;
    esac
}

# starts FORM: the time from the start of the service until hci1 receives the beacon.
starts() {
    start=$(now)
    sends_on "$1"
    sleep 0.5
    heard_since "$start" "$IBEACON_OCTETS"
    service_ends lobby
    late=$(seconds_between "$start" "$(head -n 1 times.txt)")
    say "note $air_model, $adapter, start: received after $late s"
    at_most "$late" $BACK_LIMIT || fail "received after $late s, wanted $BACK_LIMIT s"
}

tells_on_air() {
    pharos status --runtime-dir runtime --metrics | grep -v '^#' >metrics.txt
    grep -qF 'pharos_on_air{profile="lobby"} 1' metrics.txt
}

fault_unplugged() {
    bridge 0 USR1
    eventually 5 no_adapter hci0 || fail "hci0 stays"
    sleep 1
    back=$(now)
    bridge 0 USR2
}

# Another adapter takes the number; this one comes back as hci2.
fault_renumbered() {
    bridge 0 USR1
    eventually 5 no_adapter hci0 || fail "hci0 stays"
    bridge_open stranger
    eventually 5 adapter_exists hci0 || fail "the other adapter does not come"
    sleep 1
    back=$(now)
    bridge 0 USR2
    eventually 5 adapter_exists hci2 || fail "hci2 does not come"
}

# numbers_restored: after a test that may have changed the numbers.
numbers_restored() {
    if [ -e /tmp/bridgestranger.pid ]; then
        bridge stranger TERM
        rm /tmp/bridgestranger.pid
    fi
    bridge 0 USR1
    eventually 5 no_adapter hci0
    eventually 5 no_adapter hci2
    bridge 0 USR2
    eventually 15 adapter_ready hci0
}

fault_down() { hciconfig hci0 down; }

fault_reset() { hciconfig hci0 reset; }

fault_disabled() {
    case $FAMILY in
    legacy) hciconfig hci0 noleadv ;;
    extended) hcitool -i hci0 cmd 0x08 0x0039 00 00 ;;
    esac
}

fault_changed() {
    case $FAMILY in
    legacy)
        # shellcheck disable=SC2046 # octets are words
        hcitool -i hci0 cmd 0x08 0x0008 03 $(spaced "020106$(printf %056d 0)")
        ;;
    extended)
        btsnoop_lines $EARS/capture.btsnoop >capture.txt
        handle=$(sent hci0 3720 | tail -n 1 | grep -oE '3720..(..)' | cut -c7-8)
        hcitool -i hci0 cmd 0x08 0x0037 "$handle" 03 01 03 02 01 06
        ;;
    esac
}

fault_blocked() {
    switch=$(echo /sys/class/bluetooth/hci0/rfkill*/soft)
    echo 1 >"$switch"
    sleep 2
    back=$(now)
    echo 0 >"$switch"
}

fault_suspended() {
    [ -d /sys/kernel/debug/bluetooth ] || mount -t debugfs debugfs /sys/kernel/debug
    switch=/sys/kernel/debug/bluetooth/hci0/force_suspend
    [ -e $switch ] || skip "this kernel's hci_vhci cannot be suspended"
    echo Y >$switch
    sleep 2
    back=$(now)
    echo N >$switch
}

# The driver's module is unloaded and loaded again, which takes hci1 away, too.
fault_reloaded() {
    for number in 0 1; do bridge $number USR1; done
    eventually 5 adapters_gone || fail "the adapters stay"
    eventually 5 rmmod hci_vhci || fail "hci_vhci cannot be unloaded"
    sleep 0.5
    insmod /modules/*-hci_vhci.ko || fail "hci_vhci cannot be loaded"
    back=$(now) deaf=yes
    bridge 0 USR2
    eventually 5 adapter_exists hci0 || fail "hci0 does not come"
    bridge 1 USR2
    eventually 10 hciconfig hci1 up
    ears_again
}

# The program behind both adapters ends, and is started again.
fault_killed() {
    kill -9 "$(cat /tmp/air.pid)"
    eventually 10 adapters_gone || fail "the adapters stay"
    sleep 0.5
    back=$(now) deaf=yes
    air_open "$air_model"
    eventually 10 hciconfig hci1 up
    listen_start
}

# A program resets the controller without the kernel's knowledge.
fault_cleared() { hcitool -i hci0 cmd 0x03 0x0003; }

# two_adapters: one instance for each, and status shows both; a second instance on the same adapter is refused.
two_adapters() {
    adapter_starts_up hci0
    bridge_open 2
    eventually 15 adapter_ready hci2 || fail "hci2 does not come"
    profile lobby 258
    profile hall 259
    profile attic 260
    since=$(now)
    service_begins lobby hci0
    lobby_pid=$service_pid
    service_begins hall hci2
    hall_pid=$service_pid
    expect_exit 0 status.txt pharos status --runtime-dir runtime
    expect_exit 69 attic.txt pharos run attic.json --adapter hci0 --state-dir state --runtime-dir runtime
    shows attic.txt 'is used by the instance "lobby"'
    sleep 1
    for pid in $lobby_pid $hall_pid; do
        stop "$pid" TERM
        equal "exit status" 0 $?
    done
    bridge 2 TERM
    shows status.txt 'lobby: on the air' 'hall: on the air'
    for major in 258 259; do
        heard_since "$since" "$(ibeacon_octets $major)"
        [ "$(wc -l <times.txt)" -ge 8 ] || fail "beacon $major was heard $(wc -l <times.txt) times"
        at_most "$(longest_silence)" 0.5 || fail "beacon $major was silent for $(longest_silence) s"
    done
    heard_since "$since" "$(ibeacon_octets 260)"
    [ ! -s times.txt ] || fail "the one that was refused has been on the air"
}

# frames_in_turn: four frames on a controller with one set; each is received as often as its interval requires.
frames_in_turn() {
    adapter_starts_up hci0
    cat >four.json <<END
{ "version": 1, "name": "four", "advertisements": [
  { "type": "ibeacon", "major": 258, "minor": 772, "intervalMs": 250, "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206",
    "measuredPowerDbm": -59 },
  { "type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000002", "intervalMs": 350,
    "measuredPowerDbm": -12 },
  { "type": "eddystone-url", "url": "https://github.com/citruz", "intervalMs": 700, "measuredPowerDbm": -8 },
  { "type": "ibeacon", "major": 259, "minor": 772, "intervalMs": 1000, "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206",
    "measuredPowerDbm": -59 } ] }
END
    service_begins four hci0
    sleep 0.2
    since=$(now)
    # If an event is close to a change of the data, a turn has none, one or two events. In this time the rarest frame
    # has thirty turns, so that makes a difference of at most a dozen.
    sleep 30
    heard_in_turn 255 "$IBEACON_OCTETS"
    heard_in_turn 355 0201060303aafe1716aafe00f48b0ca750095477cb3e770000000000020000
    heard_in_turn 705 0201060303aafe1316aafe10f8036769746875620063697472757a
    heard_in_turn 1005 "$(ibeacon_octets 259)"
    service_ends four
}

# heard_in_turn PERIOD OCTETS: since $since, the octets were received as often as one event in PERIOD milliseconds
# gives. The host cannot see events and changes the data by time, so a turn may have one event more or less.
heard_in_turn() {
    heard_since "$since" "$2"
    within "seconds between two reports of $2" \
        "$(awk 'NR == 1 { first = $1 } { last = $1 } END { print NR < 2 ? 0 : (last - first) / (NR - 1) / 1e6 }' times.txt)" \
        "$(awk "BEGIN { print $1 / 1000 }")" "$(awk "BEGIN { print $1 / 2500 }")"
}

# fault_bluetoothd_again: bluetoothd powers both adapters down when it ends, and comes back.
fault_bluetoothd_again() {
    # shellcheck disable=SC2034 # comes_back reads it
    deaf=yes
    bluetoothd_stop || fail "bluetoothd goes on"
    listen_start
    sleep 1
    bluetoothd_again
    sleep 1
}

# run_beside_bluetoothd: bluetoothd's own advertisement is received before, during and after the service's.
run_beside_bluetoothd() {
    managed_starts_up
    profile lobby 258
    foreign_start
    before=$(now)
    sleep 3
    service_begins lobby hci0:mgmt
    during=$(now)
    sleep 9
    service_ends lobby
    after=$(now)
    sleep 3
    foreign_stop
    btsnoop_lines $EARS/capture.btsnoop >capture.txt
    for span in "$before $during" "$during $after" "$after 9999999999999999"; do
        count=$(grep -E "hci1 event 3e.*$FOREIGN" capture.txt | awk -v from="${span% *}" -v to="${span#* }" \
            '$1 >= from && $1 < to' | wc -l)
        echo "reports of bluetoothd's advertisement: $count"
        [ "$count" -gt 0 ] || fail "bluetoothd's advertisement is not heard"
    done
    heard_since "$during" "$IBEACON_OCTETS"
    [ "$(wc -l <times.txt)" -gt 10 ] || fail "ours was heard $(wc -l <times.txt) times"
    say "note raspberry-pi, hci0:mgmt beside bluetoothd's own: longest silence $(longest_silence) s"
}
