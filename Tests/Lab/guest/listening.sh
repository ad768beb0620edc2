# shellcheck shell=sh
# Receptions of pharos through a real kernel: hci1 scans, hci0 sends.

# scanning: btmon's capture has the command to hci1 that turns scanning on.
scanning() {
    btsnoop_lines capture.btsnoop >now.txt 2>/dev/null
    grep -qE 'hci1 command (4220|0c20)..01' now.txt
}

# scans raw|user: `pharos scan` on hci1 receives an iBeacon by its identity and its octets, and turns the scan off at
# its end.
scans() {
    adapter_starts_up hci0
    case $1 in
    raw) ear=hci1 && adapter_starts_up hci1 ;;
    user) ear=hci1:user && adapter_starts_down hci1 ;;
    esac
    capture_start
    background scan.txt pharos scan --adapter "$ear" --json --only ibeacon
    scan_pid=$started
    # The virtual adapters report once for each time that advertising is turned on, so no packet may be sent before.
    eventually 15 scanning || {
        cat scan.txt
        fail "pharos does not turn scanning on"
    }
    # shellcheck disable=SC2086 # the arguments are words
    pharos advertise $IBEACON --adapter hci0 --duration-s 1 >advertise.txt 2>&1
    eventually 10 grep -q '"identity":"ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-258-772"' scan.txt || {
        cat scan.txt advertise.txt
        fail "pharos does not hear the iBeacon"
    }
    shows scan.txt "\"adapter\":\"$ear\"" "\"data\":\"$IBEACON_OCTETS\""
    stop "$scan_pid"
    equal "the exit status" 0 $?
    capture_stop
    sent hci1 '(4220|0c20)..00' >/dev/null || fail "pharos leaves the scan on"
    # The capture of btmon gives the same reports again.
    expect_exit 0 replay.txt pharos scan --replay capture.btsnoop --json --only ibeacon
    shows replay.txt "\"data\":\"$IBEACON_OCTETS\""
}

# scan_begins FILE ADAPTER [OPTION…]: leaves the process id in $scan_pid, the lines in FILE, and the messages in
# FILE.err.
scan_begins() {
    file=$1 ear=$2
    shift 2
    # shellcheck disable=SC2016 # the inner shell expands them
    background "$file" sh -c 'exec pharos "$@" 2>"$0.err"' "$file" scan --adapter "$ear" --json "$@"
    # shellcheck disable=SC2154 # background sets it
    scan_pid=$started
}

# says_report FILE: succeeds if a report was received.
says_report() { grep -q '"event":"report"' "$1"; }

# scan_ends FILE
scan_ends() {
    stop "$scan_pid"
    equal "the exit status" 0 $?
    cat "$1.err"
}

# beacon_begins ADAPTER [OPTION…]: the iBeacon of the frames, every 100 ms; its process id is left in $beacon_pid.
beacon_begins() {
    adapter=$1
    shift
    # shellcheck disable=SC2086 # the arguments are words
    background beacon.txt pharos advertise $IBEACON --interval-ms 100 --json --adapter "$adapter" "$@"
    beacon_pid=$started
    on_air beacon.txt
}

# longest_gap FILE [LINES]: the longest time in seconds between two reports of the scan, after that many lines.
longest_gap() {
    tail -n "+$((${2:-0} + 1))" "$1" | sed -n 's/.*"bootNs":\([0-9]*\).*/\1/p' |
        awk 'NR > 1 && $1 - last > gap { gap = $1 - last } { last = $1 } END { printf "%.2f\n", (NR > 9 ? gap / 1e9 : 999) }'
}

# silence_after FILE SECONDS: the longest time without a report from that time of /proc/uptime on.
silence_after() {
    sed -n 's/.*"bootNs":\([0-9]*\).*/\1/p' "$1" | awk -v last="$2" '
        $1 / 1e9 <= last { next }
        { at = $1 / 1e9; if (at - last > gap) gap = at - last; last = at; heard += 1 }
        END { printf "%.2f\n", (heard > 9 ? gap : 999) }'
}

at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

frame_is_heard() { # frame_is_heard NAMES NAME OCTETS TYPE MEMBER ARGUMENT…, where the name is among the names
    case " $1 " in *" $2 "*) ;; *) return ;; esac
    heard_name=$2 heard_octets=$3 heard_type=$4
    shift 5
    pharos advertise "$@" --interval-ms 100 --adapter hci0 --duration-s 0.5 >advertise.txt 2>&1
    eventually 5 grep -qE "\"data\":\"$heard_octets\"" scan.txt || {
        cat advertise.txt
        tail -n 3 scan.txt
        fail "the $heard_name is not heard"
    }
    case $heard_type in
    [a-z]*)
        grep -E "\"data\":\"$heard_octets\"" scan.txt | grep -q "\"type\":\"$heard_type\"" ||
            fail "the $heard_name is heard as something else"
        ;;
    esac
}

# hears_frames NAMES
hears_frames() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    scan_begins scan.txt hci1
    each_frame frame_is_heard "$1"
    scan_ends scan.txt
}

# outlives_a_foreign_scan: another program turns scanning on, which is already on, and off, which ends the scan of
# pharos. It must be quicker than the check of pharos, so it sends no parameters.
outlives_a_foreign_scan() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    before=$(wc -l <scan.txt)
    case $FAMILY in
    legacy)
        hcitool -i hci1 cmd 0x08 0x000C 01 00 >/dev/null
        sleep 2
        hcitool -i hci1 cmd 0x08 0x000C 00 00 >/dev/null
        ;;
    extended)
        hcitool -i hci1 cmd 0x08 0x0042 01 00 00 00 00 00 >/dev/null
        sleep 2
        hcitool -i hci1 cmd 0x08 0x0042 00 00 00 00 00 00 >/dev/null
        ;;
    esac
    sleep 2
    scan_ends scan.txt
    stop "$beacon_pid"
    grep '"event":"state"' scan.txt
    shows scan.txt '"state":"foreign"'
    grep '"state":"listening"' scan.txt | tail -n 1 | grep -q '"restarts":[1-9]' || fail "no restart was counted"
    gap=$(longest_gap scan.txt "$before")
    say "note $FAMILY: a foreign scan costs $gap s"
    at_most "$gap" 2 || fail "nothing was heard for $gap s"
}

# outlives_lescan: BlueZ's own scanner is started while pharos scans, and the controller refuses its parameters; and it
# is started first, and pharos waits until it has ended, because it leaves repeats out meanwhile.
outlives_lescan() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    before=$(wc -l <scan.txt)
    background lescan.txt hcitool -i hci1 lescan
    lescan_pid=$started
    sleep 2
    stop "$lescan_pid" || true
    sleep 2
    scan_ends scan.txt
    cat lescan.txt
    gap=$(longest_gap scan.txt "$before")
    say "note $FAMILY: hcitool lescan beside a scan costs $gap s"
    at_most "$gap" 2 || fail "nothing was heard for $gap s"
    # An extended controller refuses the legacy commands that lescan knows.
    if [ "$FAMILY" = legacy ]; then outlives_an_earlier_lescan; fi
    stop "$beacon_pid"
}

outlives_an_earlier_lescan() {
    background lescan.txt hcitool -i hci1 lescan
    lescan_pid=$started
    sleep 1
    scan_begins scan.txt hci1
    sleep 3
    [ "$(grep -c '"event":"report"' scan.txt)" -le 3 ] || fail "lescan filters nothing, so that this shows nothing"
    stop "$lescan_pid" || true
    ended_at=$(cut -d ' ' -f 1 /proc/uptime)
    eventually 10 more_than 15 scan.txt || fail "nothing is heard after lescan has ended"
    scan_ends scan.txt
    shows scan.txt.err 'hci1: hcitool scans, too'
    # The tenth report is the first one after the end, or comes up to a second later.
    tenth=$(sed -n 's/.*"bootNs":\([0-9]*\).*/\1/p' scan.txt | sed -n 10p)
    waited=$(awk "BEGIN { printf \"%.2f\", $tenth / 1e9 - $ended_at }")
    say "note $FAMILY: ten reports within $waited s after hcitool lescan has ended"
    at_most "$waited" 2.5 || fail "heard again after $waited s only"
}

# outlives_a_discovery: bluetoothd searches for devices, which turns the scan of pharos off, filters duplicates, and
# ends.
outlives_a_discovery() {
    managed_starts_up
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    (
        echo "select $(adapter_address hci1)"
        sleep 1
        echo "scan on"
        sleep 3
        cut -d ' ' -f 1 /proc/uptime >scan_off.txt
        echo "scan off"
        sleep 1
        echo quit
    ) | bluetoothctl >bluetoothctl.txt 2>&1
    ended_at=$(wc -l <scan.txt)
    sleep 2
    scan_ends scan.txt
    stop "$beacon_pid"
    grep '"event":"state"' scan.txt || {
        cat bluetoothctl.txt
        fail "the discovery was not noticed"
    }
    shows scan.txt.err 'bluetoothd scans, too'
    # During the discovery, repeats are left out; its end may be less than ten reports ago.
    gap=$(silence_after scan.txt "$(cat scan_off.txt)")
    say "note $FAMILY: a discovery costs $gap s at its end"
    at_most "$gap" 2 || fail "nothing was heard for $gap s"
    [ "$(($(wc -l <scan.txt) - ended_at))" -ge 10 ] || fail "the scan is not back"
}

# shares_with_a_beacon: hci1 receives hci0's beacon while pharos also advertises on hci1. There, a second listener is
# accepted and a second beacon is refused.
shares_with_a_beacon() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    scan_begins scan.txt hci1
    beacon_begins hci0
    other=$beacon_pid
    eventually 15 says_report scan.txt || fail "nothing is heard"
    beacon_begins hci1
    # shellcheck disable=SC2086 # the arguments are words
    expect_exit 69 second.txt pharos advertise $IBEACON --adapter hci1 --duration-s 1
    shows second.txt 'is used by the instance "pharos advertise"'
    expect_exit 0 ears.txt pharos scan --adapter hci1 --json --duration-s 1
    says_report ears.txt || fail "a second listener hears nothing"
    since=$(wc -l <scan.txt)
    sleep 2
    scan_ends scan.txt
    for pid in $beacon_pid $other; do
        stop "$pid"
        equal "the exit status of a beacon" 0 $?
    done
    at_most "$(longest_gap scan.txt "$since")" 1 || fail "nothing was heard for $(longest_gap scan.txt "$since") s"
}

# has_an_adapter_for_itself: the user channel is exclusive, and a refused program names its holder.
has_an_adapter_for_itself() {
    adapter_starts_up hci0
    adapter_starts_down hci1
    beacon_begins hci0
    scan_begins scan.txt hci1:user
    eventually 15 says_report scan.txt || fail "nothing is heard"
    expect_exit 69 raw.txt pharos scan --adapter hci1 --json --duration-s 1
    shows raw.txt '"pharos scan" (process'
    expect_exit 69 user.txt pharos scan --adapter hci1:user --json --duration-s 1
    shows user.txt '"pharos scan" (process'
    expect_exit 69 beside.txt pharos scan --adapter hci0:user --json --duration-s 1
    shows beside.txt 'is used by the instance "pharos advertise"'
    scan_ends scan.txt
    stop "$beacon_pid"
}

# says_that_nothing_is_heard: without CAP_NET_RAW the kernel would withhold all reports without an error.
says_that_nothing_is_heard() {
    adapter_starts_up hci1
    expect_exit 77 scan.txt su nobody -s /bin/sh -c "pharos scan --adapter hci1 --duration-s 1"
    shows scan.txt 'hci1: receiving needs CAP_NET_RAW'
}

# hears_presence: through the kernel's advertisement monitors, which are gone afterwards.
hears_presence() {
    adapter_starts_up hci0
    adapter_starts_down hci1
    capture_start
    beacon_begins hci0
    scan_begins scan.txt hci1:mgmt
    eventually 20 says_report scan.txt || {
        cat scan.txt scan.txt.err
        fail "nothing is heard"
    }
    scan_ends scan.txt
    shows scan.txt '"identity":"ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-258-772"' '"adapter":"hci1:mgmt"'
    shows scan.txt.err 'not how often'
    equal hci1 DOWN "$(adapter_flags hci1)"
    stop "$beacon_pid"
    capture_stop
}

# hears_again_after down: the adapter is put down and comes back.
hears_again_after() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    hciconfig hci1 "$1"
    sleep 1
    hciconfig hci1 up
    since=$(wc -l <scan.txt)
    eventually 10 more_than "$((since + 10))" scan.txt || {
        grep -v '"event":"report"' scan.txt
        cat scan.txt.err
        fail "nothing is heard any more"
    }
    scan_ends scan.txt
    stop "$beacon_pid"
    grep '"event":"state"' scan.txt
}

# puts_down_what_it_raised: an adapter that was down is down again at the end, also after it had to be reopened.
puts_down_what_it_raised() {
    adapter_starts_up hci0
    adapter_starts_down hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    equal hci1 "UP RUNNING" "$(adapter_flags hci1)"
    scan_ends scan.txt
    equal hci1 DOWN "$(adapter_flags hci1)"
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    hciconfig hci1 down
    since=$(wc -l <scan.txt)
    eventually 10 more_than "$((since + 10))" scan.txt || fail "nothing is heard any more"
    scan_ends scan.txt
    equal hci1 DOWN "$(adapter_flags hci1)"
    stop "$beacon_pid"
}

# outlives_a_reset HOW: another program resets the controller while pharos listens. The kernel reports nothing, and its
# settings are gone, including the event masks; after a power cycle it sets up everything but the scan.
outlives_a_reset() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 more_than 5 scan.txt || fail "nothing is heard"
    before=$(wc -l <scan.txt)
    case $1 in
    ioctl) hciconfig hci1 reset ;;
    command) hcitool -i hci1 cmd 0x03 0x0003 >/dev/null ;;
    cycle) hciconfig hci1 down && hciconfig hci1 up ;;
    esac
    eventually 10 more_than "$((before + 20))" scan.txt || true
    scan_ends scan.txt
    stop "$beacon_pid"
    grep '"event":"state"' scan.txt || fail "it was not noticed"
    shows scan.txt '"state":"recovering"'
    gap=$(longest_gap scan.txt "$before")
    say "note $FAMILY: a reset ($1) costs $gap s"
    at_most "$gap" 2 || fail "nothing was heard for $gap s"
}

more_than() { [ "$(wc -l <"$2")" -gt "$1" ]; }

# spread COUNT: that many octets, 00 01 02 …, as AD structures of manufacturer data of 50 octets each.
long_octets() {
    awk -v count="$1" 'BEGIN { for (at = 0; at < count; at++) printf "%s%02x", (at ? " " : ""), (at % 50 == 0 ? 49 : (at % 50 == 1 ? 255 : at % 256)) }'
}

# hears_long_data LENGTH…: that many octets in one extended advertisement, which the controller reports in pieces.
hears_long_data() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    scan_begins scan.txt hci1
    for length in "$@"; do
        octets=$(long_octets "$length")
        first=$(echo "$octets" | cut -d ' ' -f 1-200)
        rest=$(echo "$octets" | cut -d ' ' -f 201-)
        # Handle 1, no legacy PDU, not connectable, every 100 ms, public address, secondary LE 1M.
        hcitool -i hci0 cmd 0x08 0x0036 01 00 00 A0 00 00 A0 00 00 07 00 00 00 00 00 00 00 00 00 7F 01 00 01 00 00 >set.txt
        # shellcheck disable=SC2086 # octets are words
        if [ -n "$rest" ] && [ "$length" -gt 200 ]; then
            hcitool -i hci0 cmd 0x08 0x0037 01 01 01 C8 $first >>set.txt
            hcitool -i hci0 cmd 0x08 0x0037 01 02 01 "$(printf %02X $((length - 200)))" $rest >>set.txt
        else
            hcitool -i hci0 cmd 0x08 0x0037 01 03 01 C8 $first >>set.txt
        fi
        hcitool -i hci0 cmd 0x08 0x0039 01 01 01 00 00 00 >>set.txt
        eventually 10 grep -q "\"data\":\"$(echo "$octets" | tr -d ' ')\"" scan.txt || {
            cat set.txt
            cut -c 1-400 scan.txt | tail -n 5
            fail "$length octets are not heard whole"
        }
        hcitool -i hci0 cmd 0x08 0x0039 00 01 01 00 00 00 >/dev/null
        hcitool -i hci0 cmd 0x08 0x003D >/dev/null
    done
    scan_ends scan.txt
}

# flood_is_counted: each of the 20000 packets was received, or is counted as lost.
flood_is_counted() {
    heard=$(sed -n 's/.*"strangers":{"addresses":[0-9]*,"reports":\([0-9]*\).*/\1/p' scan.txt | awk '{ sum += $1 } END { print sum + 0 }')
    lost=$(sed -n 's/.*"kernel":\([0-9]*\).*/\1/p' scan.txt | tail -n 1)
    [ "$((heard + ${lost:-0}))" -ge 20000 ]
}

# counts_what_a_flood_loses: received and lost packets together are exactly those that were sent.
counts_what_a_flood_loses() {
    background flood.txt vhci_flood 20000
    flood_pid=$started
    eventually 15 adapter_ready hci0 || fail "the adapter does not come"
    adapter_starts_up hci0
    scan_begins scan.txt hci0 --every-s 1
    eventually 15 grep -q scanning flood.txt || fail "pharos does not turn scanning on"
    kill -STOP "$scan_pid"
    kill -USR1 "$flood_pid"
    eventually 30 grep -q 'sent 20000' flood.txt || fail "the flood does not end"
    # The kernel passes the reports on asynchronously.
    sleep 3
    kill -CONT "$scan_pid"
    # The emulated machine is slow, and the checks take time too.
    tries=0
    until flood_is_counted || [ "$tries" -ge 20 ]; do
        sleep 1
        tries=$((tries + 1))
    done
    scan_ends scan.txt
    flood_is_counted || true
    cut -c 1-300 scan.txt
    say "note flood: 20000 sent to a reader that stood still, $heard heard, $lost lost"
    equal "heard and lost" 20000 "$((heard + lost))"
    [ "$lost" -gt 0 ] || fail "nothing was lost"
    shows scan.txt.err "$lost reports were lost in the kernel"
}

# outlives_a_clock: the wall clock is changed back and forth; durations do not depend on it, and `at` follows it.
outlives_a_clock() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    real=$(date '+%Y-%m-%d %H:%M:%S')
    for time in '2001-01-01 00:00:00' '2035-01-01 00:00:00' "$real"; do
        date -s "$time" >/dev/null
        sleep 1
    done
    scan_ends scan.txt
    stop "$beacon_pid"
    shows scan.txt '"at":"2001-01-01T00:00:0' '"at":"2035-01-01T00:00:0'
    sed -n 's/.*"bootNs":\([0-9]*\).*/\1/p' scan.txt | sort -nc || fail "time went back"
    at_most "$(longest_gap scan.txt)" 1 || fail "a gap of $(longest_gap scan.txt) s"
}
