# shellcheck shell=sh
# Time and rules, on controllers that keep both.

# median_in_ms OCTETS: the median time between hci1's reports of these octets, 0 for too few.
median_in_ms() {
    reports "$1" | awk 'NR > 1 { print $1 - last } { last = $1 }' | sort -n | awk '{ gap[NR] = $1 }
        END { print NR < 5 ? 0 : gap[int((NR + 1) / 2)] / 1000 }'
}

# advertise_and_capture FORM SECONDS ARGUMENT…: pharos on hci0 while hci1 listens.
advertise_and_capture() {
    adapter_for "$1"
    seconds=$2
    shift 2
    before=$(adapter_flags hci0)
    listen_start
    capture_start
    expect_exit 0 out.json pharos advertise "$@" --adapter "$adapter" --duration-s "$seconds" --json
    sleep 0.5
    capture_stop
    listen_stop
    equal "hci0 afterwards" "$before" "$(adapter_flags hci0)"
    shows out.json '"event":"on-air"'
    only_one_family
    data_before_enable
    advertised_then_off
}

# within WHAT ACTUAL WANTED TOLERANCE
within() {
    echo "$1: $2 (wanted $3, tolerance $4)"
    awk "BEGIN { exit !($2 >= $3 - $4 && $2 <= $3 + $4) }" || fail "$1 is $2, wanted $3"
}

# keeps_interval FORM MILLISECONDS DELAY: the interval on the air is the one asked for, and the one reported. DELAY is the
# mean advDelay of this controller in ms, 5 by the specification, 0 for rootcanal's extended sets. A median does not mind
# that the emulated machine is late now and then.
keeps_interval() {
    # shellcheck disable=SC2086 # the arguments are words
    advertise_and_capture "$1" 3 $IBEACON --interval-ms "$2"
    heard "$IBEACON_OCTETS"
    nonconnectable "$IBEACON_OCTETS"
    sets_interval "$2"
    within "median time between reports in ms" "$(median_in_ms "$IBEACON_OCTETS")" "$(awk "BEGIN { print $2 + $3 }")" 5
    shows out.json "\"grantedIntervalMs\":$2"
}

# sets_interval MILLISECONDS: the parameters say this interval from and to, in units of 0.625 ms, and ADV_NONCONN_IND.
sets_interval() {
    units=$(awk "BEGIN { printf \"%04x\", $1 / 0.625 }")
    wire=${units#??}${units%??}
    case $FAMILY in
    legacy) sent hci0 "06200f$wire${wire}03" ;;
    extended) sent hci0 "362019..1000${wire}00${wire}00" ;;
    esac || fail "the parameters do not say ADV_NONCONN_IND every 0x$units units"
}

# telemetry_changes FORM: one run sends telemetry that goes on counting, without turning advertising off and on.
telemetry_changes() {
    telemetry=0201060303aafe1116aafe20000bb81540................
    advertise_and_capture "$1" 4 tlm --battery-mv 3000 --temperature-c 21.25 --interval-ms 100
    heard "$telemetry"
    # ADV_CNT and SEC_CNT, the last eight octets of an extended report.
    reports "$telemetry" | grep -oE '.{16}$' >counters.txt
    awk '!seen[$0]++' counters.txt >different.txt
    cat different.txt
    [ "$(wc -l <different.txt)" -ge 2 ] || fail "the counters never changed"
    sort different.txt | cmp -s - different.txt || fail "the counters went backwards"
    # SEC_CNT counts tenths of a second: over a run of 4 s it gains 10...40 between the first and the last report.
    first=$((0x$(head -n 1 different.txt | cut -c9-16))) last=$((0x$(tail -n 1 different.txt | cut -c9-16)))
    within "tenths of a second between the first and the last report" $((last - first)) 25 20
    equal "times advertising was enabled" 1 "$(sent hci0 '3920..01' | wc -l)"
}

# grants_power FORM: the power asked for goes to the controller, and the answer is what pharos reports.
grants_power() {
    # shellcheck disable=SC2086 # the arguments are words
    advertise_and_capture "$1" 0.5 $IBEACON --interval-ms 100 --radio-power-dbm -8
    # The octet after own address type, peer address and filter policy.
    sent hci0 '362019.{38}f8' || fail "the set was not asked for -8 dBm"
    grep -E 'hci0 event 0e05..362000f8' capture.txt || fail "the controller did not grant -8 dBm"
    shows out.json '"grantedRadioPowerDbm":-8'
}

# silent_afterwards FORM: after SIGTERM nothing is on the air any more.
silent_afterwards() {
    adapter_for "$1"
    listen_start
    # shellcheck disable=SC2086 # the arguments are words
    background out.json pharos advertise $IBEACON --interval-ms 100 --adapter "$adapter" --json
    pharos_pid=$started
    on_air out.json
    sleep 0.3
    stop "$pharos_pid" TERM
    equal "exit status" 0 $?
    capture_start
    sleep 1
    capture_stop
    listen_stop
    if reports "$IBEACON_OCTETS"; then fail "still on the air after SIGTERM"; fi
}

# second_run_replaces_first: two runs, one after the other; what the first sent is heard no more during the second.
second_run_replaces_first() {
    # shellcheck disable=SC2086 # the arguments are words
    advertise_and_capture raw 1 $IBEACON --interval-ms 100
    heard "$IBEACON_OCTETS"
    advertise_and_capture raw 1 url --url https://github.com/citruz --measured-power-dbm -8 --interval-ms 100
    heard 0201060303aafe1316aafe10f8036769746875620063697472757a
    if reports "$IBEACON_OCTETS"; then fail "the first advertisement is still on the air"; fi
}

# hcitool_keeps_interval MILLISECONDS TOLERANCE: the same measurement without pharos, for the lab's own sake.
hcitool_keeps_interval() {
    hcitool_is_heard
    within "median time between reports in ms" "$(median_in_ms "$IBEACON_OCTETS")" "$1" "$2"
}
