# shellcheck shell=sh
# Through the kernel's advertising manager, while bluetoothd runs.

bus_start() {
    dbus-daemon --system --fork
}

bluetoothd_start() {
    bluetoothd -n >/tmp/bluetoothd.log 2>&1 &
    echo $! >/tmp/bluetoothd.pid
    eventually 2 bluetoothd_manages hci0 && eventually 2 bluetoothd_manages hci1
}

bluetoothd_stop() {
    kill "$(cat /tmp/bluetoothd.pid)"
    # bluetoothd needs time to power the adapters down, and keeps its name on the bus until then.
    eventually 15 ended "$(cat /tmp/bluetoothd.pid)"
}

# Without bluetoothd, bluetoothctl would wait for ever.
bluetoothd_manages() { timeout 3 bluetoothctl list | grep -q "$(adapter_address "$1")"; }
adapter_address() { hciconfig "$1" | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p'; }
is_up() { adapter_flags "$1" | grep -q '^UP'; }
is_down() { adapter_flags "$1" | grep -q '^DOWN'; }

# managed_starts_up: both adapters are powered, as bluetoothd leaves them.
managed_starts_up() {
    for adapter in hci0 hci1; do
        is_up "$adapter" || hciconfig "$adapter" up || fail "cannot bring $adapter up"
    done
}

# managed_in_background [OPTION…]: leaves the process id in $pharos_pid, the output in out.json, and warnings in
# err.txt.
managed_in_background() {
    # shellcheck disable=SC2086 # the arguments are words
    background out.json sh -c 'exec pharos "$@" 2>err.txt' pharos \
        advertise $IBEACON --interval-ms 100 --json --adapter hci0:mgmt "$@"
    pharos_pid=$started
    eventually 15 grep -q '"event":"on-air"' out.json || {
        cat out.json err.txt
        hciconfig hci0
        if [ -s capture.btsnoop ]; then
            capture_stop
            grep hci0 capture.txt | tail -n 40
        fi
        fail "pharos never said that it is on the air"
    }
}

managed_ends() { # managed_ends [STATUS]: ended by SIGINT, or by itself with that status
    if [ $# = 0 ]; then
        stop "$pharos_pid" INT
        equal "exit status" 0 $?
    else
        eventually 10 ended "$pharos_pid" || fail "pharos goes on"
        wait "$pharos_pid"
        equal "exit status" "$1" $?
    fi
    cat out.json err.txt
}

# management COMMAND…: a management command of the kernel for hci0. btmgmt needs a terminal.
management() { timeout 5 btmgmt --index 0 "$@" </dev/console; }

ended() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }

# foreign_start: bluetoothctl lets bluetoothd advertise manufacturer data ABCD of company FFFF until foreign_stop.
FOREIGN=05ffffffabcd
foreign_start() {
    mkfifo commands
    background foreign.txt sh -c 'exec bluetoothctl <commands'
    foreign_pid=$started
    exec 9>commands
    {
        echo "select $(adapter_address hci0)"
        echo "menu advertise"
        echo "manufacturer 0xffff 0xab 0xcd"
        echo "back"
        echo "advertise broadcast"
    } >&9
    eventually 10 grep -q 'Advertising object registered' foreign.txt || {
        cat foreign.txt /tmp/bluetoothd.log
        fail "bluetoothd does not advertise"
    }
}

foreign_stop() {
    exec 9>&-
    stop "$foreign_pid" TERM || true
}

# foreign_reports: the number of hci1's reports of it.
foreign_reports() { grep -cE "hci1 event 3e.*$FOREIGN" capture.txt; }

managed_hears() {
    managed_starts_up
    before=$(adapter_flags hci0)
    listen_start
    capture_start
    managed_in_background
    sleep 0.5
    managed_ends
    capture_stop
    listen_stop
    heard "$IBEACON_OCTETS"
    only_one_family
    shows out.json '"adapter":"hci0:mgmt"' '"instance":' '"grantedIntervalMs":100'
    equal "hci0 afterwards" "$before" "$(adapter_flags hci0)"
    # Parameters that the kernel chooses: min = max = 100 ms, ADV_NONCONN_IND.
    sets_interval 100
}

managed_grants_power() {
    managed_starts_up
    capture_start
    managed_in_background --radio-power-dbm -8
    sleep 0.3
    managed_ends
    capture_stop
    sent hci0 '362019.{38}f8' || fail "the set was not asked for -8 dBm"
    # btvirt answers 0 dBm to every requested power.
    shows out.json '"radioPowerDbm":-8' '"grantedRadioPowerDbm":0'
}

# beside_bluetoothd: bluetoothd's own advertisement is received before, during and after ours.
beside_bluetoothd() {
    managed_starts_up
    listen_start
    foreign_start
    capture_start
    managed_in_background
    sleep 6
    managed_ends
    capture_stop
    heard "$IBEACON_OCTETS"
    if grep -q '"instance":1,' out.json; then fail "pharos took instance 1, which is bluetoothd's"; fi
    # Its set, or its turn, is still there when ours is gone. btvirt reports a set only when a scanner starts.
    listen_stop
    capture_start
    listen_start
    sleep 4
    listen_stop
    capture_stop
    count=$(foreign_reports)
    echo "reports of bluetoothd's advertisement afterwards: $count"
    foreign_stop
    [ "$count" -gt 0 ] || fail "bluetoothd's advertisement is gone"
    if reports "$IBEACON_OCTETS"; then fail "still on the air afterwards"; fi
}

# bluetoothd_again: a test starts bluetoothd, which keeps running after the test, like the first one.
bluetoothd_again() {
    setsid sh -c 'bluetoothd -n >/tmp/bluetoothd.log 2>&1 & echo $! >/tmp/bluetoothd.pid'
    eventually 2 bluetoothd_manages hci0 || {
        cat /tmp/bluetoothd.log
        fail "bluetoothd does not come back"
    }
}

# bluetoothd_stops: bluetoothd powers the adapters down when it ends, which removes every instance; pharos reports the
# cause.
bluetoothd_stops() {
    managed_starts_up
    managed_in_background
    bluetoothd_stop || fail "bluetoothd goes on"
    managed_ends 69
    # Either of the two messages may reach pharos before it ends.
    grep -qE '^pharos: hci0:mgmt: bluetoothd (removed the advertisement|powered the adapter down)$' err.txt \
        || fail "err.txt does not say what bluetoothd did"
    bluetoothd_again
}

# bluetoothd_starts: bluetoothd starts while pharos advertises. It removes the instances that it sees; on this kernel it
# does not see ours.
bluetoothd_starts() {
    bluetoothd_stop || fail "bluetoothd goes on"
    managed_starts_up
    managed_in_background
    bluetoothd_again
    sleep 3
    managed_ends
    if grep 'removed' err.txt; then fail "bluetoothd removed the instance"; fi
}

powered_down() {
    managed_starts_up
    managed_in_background
    hciconfig hci0 down
    managed_ends 69
    shows err.txt 'hci0:mgmt: the adapter was powered down'
    adapter_starts_up hci0
}

powers_up_and_down() {
    managed_starts_up
    hciconfig hci0 down
    capture_start
    managed_in_background
    capture_stop
    is_up hci0 || fail "hci0 was not powered"
    managed_ends
    eventually 5 is_down hci0 || fail "hci0 stays powered"
    adapter_starts_up hci0
}

missing_adapter_managed() {
    # shellcheck disable=SC2086 # the arguments are words
    expect_exit 69 out.txt pharos advertise $IBEACON --adapter hci7:mgmt --duration-s 1
    shows out.txt hci7 'there is no such adapter'
}

no_permission_managed() {
    managed_starts_up
    expect_exit 77 out.txt su nobody -s /bin/sh -c "pharos advertise $IBEACON --adapter hci0:mgmt --duration-s 1"
    shows out.txt CAP_NET_ADMIN
}

unplugged_managed() {
    managed_starts_up
    managed_in_background
    # shellcheck disable=SC2154 # the guest's script sets it
    kill "$controllers_pid"
    managed_ends 69
    shows err.txt 'hci0:mgmt: the adapter was unplugged'
}

managed_warns_of_legacy() {
    managed_starts_up
    # shellcheck disable=SC2086 # the arguments are words
    expect_exit 0 out.txt pharos advertise $IBEACON --interval-ms 500 --radio-power-dbm -8 --adapter hci0:mgmt \
        --duration-s 0.5
    shows out.txt 'warning: hci0:mgmt: the interval is not 500 ms' '100...150 ms' 'the radio power of -8 dBm is ignored' \
        'a new random address at each change' '--adapter hci0 or hci0:user'
}

managed_interval_is_the_kernels() {
    managed_starts_up
    listen_start
    capture_start
    managed_in_background --interval-ms 500
    sleep 4
    managed_ends
    capture_stop
    listen_stop
    heard "$IBEACON_OCTETS"
    # The kernel requests 0x00A0...0x00F0, ADV_NONCONN_IND, for any request of pharos.
    sent hci0 '06200fa000f00003' || fail "this kernel does not ask for 100...150 ms"
    within "median time between reports in ms" "$(median_in_ms "$IBEACON_OCTETS")" 130 30
}

turned_off_by_hcitool() {
    managed_starts_up
    listen_start
    managed_in_background
    # On a legacy controller the kernel itself repairs it within two seconds, sometimes before pharos can notice.
    tries=8
    until grep -q 'hcitool turned advertising off' err.txt; do
        hcitool -i hci0 cmd 0x08 0x000a 00
        sleep 1.3
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || {
            cat err.txt
            fail "pharos does not say who turned it off"
        }
    done
    capture_start
    sleep 2
    capture_stop
    managed_ends
    listen_stop
    heard "$IBEACON_OCTETS"
}

reset_by_hciconfig() {
    managed_starts_up
    listen_start
    managed_in_background
    hciconfig hci0 reset
    eventually 10 grep -qE 'reset the controller|powered' err.txt || {
        cat err.txt
        fail "pharos does not notice"
    }
    # On some kernels the adapter was powered down, which ends pharos.
    sleep 1
    if ended "$pharos_pid"; then
        managed_ends 69
    else
        capture_start
        sleep 2
        capture_stop
        managed_ends
        heard "$IBEACON_OCTETS"
    fi
    listen_stop
}
