# Guest 4: bluetoothd runs and uses the adapters, as on any desktop; pharos goes through the kernel (hciN:mgmt).
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/managed.sh"
. "$LAB/keeping.sh"

plug_in() { # plug_in COMMAND…: the program behind the adapters, then bluetoothd, which powers them
    "$@" >/tmp/controllers.log 2>&1 &
    controllers_pid=$!
    adapters_ready
    bluetoothd_start
}

unplug() {
    bluetoothd_stop
    kill "$controllers_pid"
    eventually 10 adapters_gone
}

prepare bus_start

FAMILY=extended
prepare plug_in btvirt -l2
lab_test bluetoothd/btvirt/ibeacon managed_hears
lab_test bluetoothd/btvirt/power managed_grants_power
lab_test bluetoothd/btvirt/beside beside_bluetoothd
lab_test bluetoothd/btvirt/bluetoothd-stops bluetoothd_stops
lab_test bluetoothd/btvirt/bluetoothd-starts bluetoothd_starts
lab_test bluetoothd/btvirt/powered-down powered_down
lab_test bluetoothd/btvirt/powers-up powers_up_and_down
lab_test bluetoothd/btvirt/missing missing_adapter_managed
lab_test bluetoothd/btvirt/no-permission no_permission_managed
lab_test bluetoothd/btvirt/unplugged unplugged_managed
prepare unplug 2>/dev/null

FAMILY=legacy
prepare plug_in pharos controller --listen vhci --listen vhci --like raspberry-pi
lab_test bluetoothd/raspberry-pi/warns managed_warns_of_legacy
lab_test bluetoothd/raspberry-pi/interval managed_interval_is_the_kernels
lab_test bluetoothd/raspberry-pi/beside beside_bluetoothd
lab_test bluetoothd/raspberry-pi/turned-off turned_off_by_hcitool
lab_test bluetoothd/raspberry-pi/reset reset_by_hciconfig
prepare unplug

# faults NAME: the faults of a service through the kernel.
faults() {
    lab_test "bluetoothd/$1/start" starts mgmt
    for what in "down powered-down" "reset powered-down" "cleared controller-reset" "disabled foreign-disabled" \
        "blocked rfkill" "suspended suspended" "unplugged adapter-gone" "reloaded adapter-gone"; do
        lab_test "bluetoothd/$1/${what% *}" comes_back mgmt "${what% *}" "${what#* }" hci0
    done
}

runs_on() { # runs_on MODEL
    air_ready "$1"
    bluetoothd_start
    ears_open
}

runs_no_more() {
    ears_close
    bluetoothd_stop
    air_close
}

prepare runs_on raspberry-pi
faults run
lab_test bluetoothd/run/beside run_beside_bluetoothd
lab_test bluetoothd/run/bluetoothd-again comes_back mgmt bluetoothd_again powered-down 'powered'
prepare runs_no_more

FAMILY=extended
prepare runs_on intel
faults run-intel
