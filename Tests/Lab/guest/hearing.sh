# Guest 6: receptions of pharos through the kernel, while other programs scan, send and flood.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/frames.sh"
. "$LAB/advertising.sh"
. "$LAB/managed.sh"
. "$LAB/listening.sh"
. "$LAB/qualifying.sh"

plug_in() { # plug_in OPTION…: hci0 and hci1 of pharos' own on one air
    pharos controller --listen vhci --listen vhci "$@" >/tmp/controller.log 2>&1 &
    controllers_pid=$!
    adapters_ready
}

unplug() {
    kill "$controllers_pid"
    eventually 10 adapters_gone
}

# both_ways: the tests for any two adapters.
both_ways() {
    lab_test "hearing/$air/frames" hears_frames "ibeacon altbeacon uid url"
    lab_test "hearing/$air/more-frames" hears_frames "tlm eid etlm thesis-node"
    lab_test "hearing/$air/foreign" outlives_a_foreign_scan
    lab_test "hearing/$air/lescan" outlives_lescan
    lab_test "hearing/$air/qualify" qualifies_both
    lab_test "hearing/$air/shared" shares_with_a_beacon
    lab_test "hearing/$air/gone" hears_again_after down
    for how in ioctl command cycle; do
        lab_test "hearing/$air/reset-$how" outlives_a_reset $how
    done
}

FAMILY=legacy air=raspberry-pi
prepare plug_in --like $air
both_ways
lab_test hearing/user-channel has_an_adapter_for_itself
lab_test hearing/no-permission says_that_nothing_is_heard
lab_test hearing/qualify-refused qualifies_nothing_that_is_taken
lab_test hearing/qualify-interrupted is_quiet_after_a_signal
lab_test hearing/managed hears_presence
lab_test hearing/raised puts_down_what_it_raised
lab_test hearing/clock outlives_a_clock
prepare unplug

FAMILY=extended air=intel
prepare plug_in --like $air
both_ways
lab_test hearing/$air/long hears_long_data 200 250 400
prepare bus_start
prepare bluetoothd_start
lab_test hearing/$air/bluetoothctl outlives_a_discovery
prepare bluetoothd_stop
prepare unplug

lab_test hearing/flood counts_what_a_flood_loses
