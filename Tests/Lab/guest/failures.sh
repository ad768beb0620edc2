# shellcheck shell=sh
# Faults of an adapter and pharos' messages about them; the end of pharos, and the state that it leaves.

advertise_on() { # advertise_on ADAPTER [OPTION…]
    adapter=$1
    shift
    # shellcheck disable=SC2086 # the arguments are words
    pharos advertise $IBEACON --interval-ms 100 --json --adapter "$adapter" "$@"
}

advertise_in_background() { # advertise_in_background ADAPTER: its process id is left in $pharos_pid
    # shellcheck disable=SC2086 # the arguments are words
    background out.json pharos advertise $IBEACON --interval-ms 100 --json --adapter "$1"
    pharos_pid=$started
    on_air out.json
}

as_nobody() { su nobody -s /bin/sh -c "pharos advertise $IBEACON --interval-ms 100 --adapter $1 --duration-s 1"; }

adapters_lists_both() {
    adapter_starts_up hci0
    adapter_starts_down hci1
    expect_exit 0 out.json pharos adapters --json
    shows out.json '"hci0"' '"hci1"'
    equal "hci1 afterwards" DOWN "$(adapter_flags hci1)"
}

missing_adapter() {
    expect_exit 69 out.txt advertise_on "$1" --duration-s 1
    shows out.txt hci7
}

no_permission() { # no_permission FORM STATE CAPABILITY
    if [ "$2" = up ]; then adapter_starts_up hci0; else adapter_starts_down hci0; fi
    before=$(adapter_flags hci0)
    expect_exit 77 out.txt as_nobody "$1"
    shows out.txt "$3"
    equal "hci0 afterwards" "$before" "$(adapter_flags hci0)"
}

raises_and_lowers() {
    adapter_starts_down hci0
    listen_start
    capture_start
    expect_exit 0 out.json advertise_on hci0 --duration-s 0.5
    capture_stop
    listen_stop
    heard "$IBEACON_OCTETS"
    advertised_then_off
    equal "hci0 afterwards" DOWN "$(adapter_flags hci0)"
}

user_channel_while_up() {
    adapter_starts_up hci0
    expect_exit 69 out.txt advertise_on hci0:user --duration-s 1
    shows out.txt hci0 down
    equal "hci0 afterwards" "UP RUNNING" "$(adapter_flags hci0)"
}

held_by_another() { # held_by_another FORM: while a first pharos holds the user channel
    adapter_starts_down hci0
    advertise_in_background hci0:user
    expect_exit 69 second.txt advertise_on "$1" --duration-s 1
    shows second.txt 'is used by the instance "pharos advertise"'
    stop "$pharos_pid" TERM
    equal "exit status of the first" 0 $?
}

blocked_by_rfkill() { # blocked_by_rfkill ADAPTER
    adapter_starts_down hci0
    switch=$(echo /sys/class/bluetooth/hci0/rfkill*/soft)
    echo 1 >"$switch"
    (expect_exit 69 out.txt advertise_on "$1" --duration-s 1)
    status=$?
    echo 0 >"$switch"
    [ "$status" = 0 ] || exit 1
    shows out.txt rfkill
}

ended_by() { # ended_by FORM SIGNAL
    adapter_for "$1"
    before=$(adapter_flags hci0)
    capture_start
    advertise_in_background "$adapter"
    stop "$pharos_pid" "$2"
    equal "exit status" 0 $?
    capture_stop
    advertised_then_off
    equal "hci0 afterwards" "$before" "$(adapter_flags hci0)"
    # btvirt reports the advertisements on the air to every new scanner.
    capture_start
    listen_start
    sleep 0.5
    listen_stop
    capture_stop
    if reports "$IBEACON_OCTETS"; then fail "still on the air after SIG$2"; fi
}

unplugged() { # unplugged FORM
    adapter_for "$1"
    advertise_in_background "$adapter"
    kill "$btvirt_pid"
    wait "$pharos_pid"
    equal "exit status" 69 $?
    shows out.json hci0
    eventually 10 adapters_gone || fail "btvirt's adapters stay"
}

# The previous test has ended btvirt; the next one needs new adapters.
plug_in_again() { if ! adapter_exists hci0; then plug_in; fi; }

failures() {
    lab_test btvirt/missing/raw missing_adapter hci7
    lab_test btvirt/missing/user missing_adapter hci7:user
    lab_test btvirt/no-permission/raw-up no_permission hci0 up CAP_NET_RAW
    lab_test btvirt/no-permission/raw-down no_permission hci0 down CAP_NET_ADMIN
    lab_test btvirt/no-permission/user no_permission hci0:user down CAP_NET_ADMIN
    lab_test btvirt/down-is-raised-and-lowered raises_and_lowers
    lab_test btvirt/user-channel-while-up user_channel_while_up
    lab_test btvirt/held-by-another/raw held_by_another hci0
    lab_test btvirt/held-by-another/user held_by_another hci0:user
    lab_test btvirt/rfkill/raw blocked_by_rfkill hci0
    lab_test btvirt/rfkill/user blocked_by_rfkill hci0:user
    for form in raw user; do
        for signal in INT TERM; do lab_test "btvirt/ended-by/SIG$signal/$form" ended_by $form $signal; done
    done
    for form in raw user; do
        lab_test "btvirt/unplugged/$form" unplugged $form
        prepare plug_in_again
    done
}
