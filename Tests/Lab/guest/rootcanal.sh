# Guest 2: two controllers of rootcanal behind /dev/vhci. They keep the specification's rules and its time, and they
# have extended advertising, so the kernel has chosen that family before pharos comes.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/frames.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"

FAMILY=extended

listens() { netstat -ltn | grep -q ":$1 "; }

plug_in() { # each connection to rootcanal is a controller of its own, all on one air
    rootcanal -hci_port 6402 -test_port 6401 -link_port 6403 -link_ble_port 6404 >/tmp/rootcanal.log 2>&1 &
    eventually 15 listens 6402
    for adapter in hci0 hci1; do
        vhci_bridge 6402 &
        eventually 15 adapter_exists "$adapter"
    done
    adapters_ready
}

prepare plug_in
lab_test rootcanal/hcitool hcitool_keeps_interval 100 5
for form in raw user; do
    lab_test "rootcanal/interval/$form/100-ms" keeps_interval $form 100 0
    lab_test "rootcanal/interval/$form/152.5-ms" keeps_interval $form 152.5 0
    lab_test "rootcanal/telemetry-changes/$form" telemetry_changes $form
    lab_test "rootcanal/granted-power/$form" grants_power $form
    lab_test "rootcanal/silent-afterwards/$form" silent_afterwards $form
done
lab_test rootcanal/second-run-replaces-the-first second_run_replaces_first
