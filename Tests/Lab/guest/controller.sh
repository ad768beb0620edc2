# Guest 3: pharos' own virtual controller behind /dev/vhci, driven by the kernel and by BlueZ's programs.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/frames.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"

plug_in() { # plug_in OPTION…: two adapters on one air
    pharos controller --listen vhci --listen vhci "$@" >/tmp/controller.log 2>&1 &
    controller_pid=$!
    adapters_ready
}

unplug() {
    kill "$controller_pid"
    eventually 10 adapters_gone
}

both_registered() {
    cat /tmp/controller.log
    hciconfig -a
    shows /tmp/controller.log listening
    adapter_starts_up hci0
    adapter_starts_up hci1
    equal hci0 "UP RUNNING" "$(adapter_flags hci0)"
    equal hci1 "UP RUNNING" "$(adapter_flags hci1)"
}

# When a controller ends, its adapters go away.
goes_away() {
    kill -TERM "$controller_pid"
    eventually 10 adapters_gone || fail "the adapters stay after SIGTERM"
}

FAMILY=legacy
prepare plug_in --like raspberry-pi
lab_test controller/raspberry-pi/registered both_registered
lab_test controller/raspberry-pi/hcitool hcitool_keeps_interval 105 6
lab_test controller/raspberry-pi/raw keeps_interval raw 152.5 5
lab_test controller/raspberry-pi/user keeps_interval user 100 5
prepare unplug

FAMILY=extended
prepare plug_in --like intel
lab_test controller/intel/registered both_registered
lab_test controller/intel/hcitool hcitool_keeps_interval 105 6
lab_test controller/intel/raw keeps_interval raw 152.5 5
lab_test controller/intel/user keeps_interval user 100 5
prepare unplug

prepare plug_in --like zephyr
lab_test controller/zephyr/registered both_registered
lab_test controller/zephyr/goes-away goes_away
