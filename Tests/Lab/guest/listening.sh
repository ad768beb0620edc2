# shellcheck shell=sh
# What pharos hears through a real kernel: hci1 scans, hci0 sends.

# scanning: btmon saw hci1 take the command that turns scanning on.
scanning() {
    btsnoop_lines capture.btsnoop >now.txt 2>/dev/null
    grep -qE 'hci1 command (4220|0c20)..01' now.txt
}

# scans raw|user: `pharos scan` on hci1 hears an iBeacon by its identity and its octets, and leaves no scan behind.
scans() {
    adapter_starts_up hci0
    case $1 in
    raw) ear=hci1 && adapter_starts_up hci1 ;;
    user) ear=hci1:user && adapter_starts_down hci1 ;;
    esac
    capture_start
    background scan.txt pharos scan --adapter "$ear" --json --only ibeacon
    scan_pid=$started
    # The virtual adapters report once for each time that advertising is turned on: so nothing is sent before.
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
}
