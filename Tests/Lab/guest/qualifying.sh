# shellcheck shell=sh
# `pharos qualify` between hci0 and hci1, through the kernel.

# not_scanning hciN: the controller accepts scan parameters, which it refuses while it scans.
not_scanning() {
    case $FAMILY in
    legacy) hcitool -i "$1" cmd 0x08 0x000B 00 A0 00 A0 00 00 00 | grep -q '0B 20 00' ;;
    extended) hcitool -i "$1" cmd 0x08 0x0041 00 00 01 00 A0 00 A0 00 | grep -q '41 20 00' ;;
    esac
}

# both_quiet: neither adapter scans or advertises.
both_quiet() {
    for adapter in hci0 hci1; do not_scanning $adapter || fail "$adapter is left scanning"; done
    expect_exit 0 rest.txt pharos scan --adapter hci1 --json --duration-s 1
    ! says_report rest.txt || fail "hci0 is left on the air"
    expect_exit 0 rest.txt pharos scan --adapter hci0 --json --duration-s 1
    ! says_report rest.txt || fail "hci1 is left on the air"
}

# qualifies_both: all phases, and good grades; the virtual radios lose nothing but what the emulated machine is too slow
# for.
qualifies_both() {
    adapter_starts_up hci0
    adapter_starts_down hci1
    expect_exit 0 report.json pharos qualify --sender hci0 --receiver hci1 --duration-s 4 --json
    shows report.json '"complete":true' '"fit":true' '"adapter":"hci0"' '"adapter":"hci1"' '"phase":"while-sending"'
    case $FAMILY in
    legacy) ! grep -q '"phase":"extended"' report.json || fail "extended advertising without it" ;;
    extended) shows report.json '"phase":"extended"' ;;
    esac
    shares=$(sed 's/"phase":/\n/g' report.json | sed -n 's/^"\([a-z-]*\)".*"share":\([0-9.]*\).*/\1 \2/p' | tr '\n' ' ')
    say "note $FAMILY: qualify: $shares"
    ! grep -q '"grade":"unfit"' report.json || fail "unfit"
    equal hci1 DOWN "$(adapter_flags hci1)"
    adapter_starts_up hci1
    both_quiet
}

# qualifies_nothing_that_is_taken: a radio that sends or listens for others already, or that this user may not use.
qualifies_nothing_that_is_taken() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    beacon_begins hci0
    expect_exit 69 taken.txt pharos qualify --sender hci0 --receiver hci1 --duration-s 1
    shows taken.txt 'is used by the instance "pharos advertise"'
    stop "$beacon_pid"
    scan_begins scan.txt hci1
    sleep 1
    expect_exit 69 taken.txt pharos qualify --sender hci0 --receiver hci1 --duration-s 1
    shows taken.txt 'is used for listening by "pharos scan"'
    scan_ends scan.txt
    expect_exit 69 missing.txt pharos qualify --sender hci0 --receiver hci7 --duration-s 1
    shows missing.txt hci7
    expect_exit 64 same.txt pharos qualify --sender hci0 --receiver hci0:user --duration-s 1
    expect_exit 77 rights.txt su nobody -s /bin/sh -c "pharos qualify --sender hci0 --receiver hci1 --duration-s 1"
    shows rights.txt CAP_NET_RAW
}

# is_quiet_after_a_signal: in the middle of a phase.
is_quiet_after_a_signal() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    background report.json pharos qualify --duration-s 20 --json
    qualify_pid=$started
    sleep 6
    stop "$qualify_pid" TERM
    equal "the exit status" 75 $?
    shows report.json '"complete":false' '"phase":"legacy"'
    both_quiet
}
