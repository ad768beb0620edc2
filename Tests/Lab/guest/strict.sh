# Guest 9: a kernel that refuses Add Extended Advertising Data unless it is exactly as long as its data. bluetoothctl cannot
# advertise there; Pharos can, and doctor names what bluetoothctl has left behind.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/managed.sh"
. "$LAB/keeping.sh"
. "$LAB/beside.sh"

is_strict() { [ -e /strict/bluetooth.ko ] || skip "this kernel does not look at the length"; }

bluetoothctl_fails() {
    is_strict
    managed_starts_up
    adapter=hci0
    control_begins
    foreign_begins advertise
    eventually 10 grep -qE 'Failed to register advertisement|Advertising object registered' control.txt || {
        cat control.txt
        fail "bluetoothctl does not end"
    }
    control_ends
    if grep -q 'Advertising object registered' control.txt; then skip "this BlueZ sends the exact length"; fi
    touch "/tmp/failed-on-$air_model"
}

# sends_exactly: the service is received, also next to the empty instance that bluetoothctl has left.
sends_exactly() {
    is_strict
    pharos doctor --adapter hci0:mgmt >doctor.txt
    sends_on mgmt
    if [ -e "/tmp/failed-on-$air_model" ]; then
        shows doctor.txt "left by a failed \`bluetoothctl advertise\`"
        received_in_8_s "next to an empty instance" 25
        management rm-adv 1
        management advinfo
    fi
    received_in_8_s "without another instance" 50
    service_ends lobby
}

received_in_8_s() { # received_in_8_s WHEN AT_LEAST
    sleep 1
    since=$(now)
    sleep 8
    heard_since "$since" "$IBEACON_OCTETS"
    count=$(wc -l <times.txt)
    say "note $air_model, hci0:mgmt on a strict kernel, $1: received $count times in 8 s; $(kernel_and_bluez)"
    [ "$count" -ge "$2" ] || fail "received $count times in 8 s $1"
}

for air in raspberry-pi intel; do
    case $air in
    intel) FAMILY=extended ;;
    *) FAMILY=legacy ;;
    esac
    prepare sharing_opens "$air"
    lab_test strict/$air/bluetoothctl bluetoothctl_fails
    lab_test strict/$air/mgmt sends_exactly
    prepare sharing_closes
done
