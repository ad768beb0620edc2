# Guest 1: two adapters of btvirt, BlueZ's own controller in software, for the packets on the air and for all faults of
# an adapter. btvirt reports an advertisement once per enable, so no times are measured here.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/frames.sh"
. "$LAB/failures.sh"
. "$LAB/listening.sh"

# shellcheck disable=SC2120 # called through prepare
plug_in() { # plug_in OPTION…: two new adapters, hci0 and hci1
    btvirt_options=$*
    btvirt "$@" -l2 >/tmp/btvirt.log 2>&1 &
    btvirt_pid=$!
    adapters_ready
}

unplug() {
    kill "$btvirt_pid"
    eventually 10 adapters_gone
}

# before_test: the btvirt of BlueZ 5.82 and 5.87 sometimes crashes when an advertising set is removed. Starts it again.
before_test() {
    if adapter_exists hci0; then return; fi
    say "note btvirt had crashed: $(dmesg | grep 'btvirt\[' | tail -n 1)"
    # shellcheck disable=SC2086 # options are words
    plug_in $btvirt_options
}

# frame_by PREFIX FORM FRAMES NAME OCTETS TYPE ARGUMENT…: a test, if the frame is among those in FRAMES or all are
# wanted.
frame_by() {
    prefix=$1 form=$2
    case " $3 " in *" $4 "* | " all ") ;; *) return ;; esac
    shift 3
    lab_test "$prefix/$form/$1" hears "$form" "$@"
}

FAMILY=extended
prepare plug_in
lab_test btvirt/hcitool hcitool_is_heard
lab_test btvirt/adapters adapters_lists_both
each_frame frame_by btvirt raw all
each_frame frame_by btvirt user all
lab_test btvirt/scan/raw scans raw
lab_test btvirt/scan/user scans user
failures
prepare unplug

# Controllers without extended advertising, as in every Raspberry Pi.
FAMILY=legacy
prepare plug_in -L
lab_test btvirt/legacy/hcitool hcitool_is_heard
each_frame frame_by btvirt/legacy raw "ibeacon etlm"
each_frame frame_by btvirt/legacy user "url thesis-node"
lab_test btvirt/legacy/scan/raw scans raw
