# Guest 2: two controllers of rootcanal behind /dev/vhci. They keep the specification's rules and its time, and they
# have extended advertising, so the kernel has chosen that family before pharos comes.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/frames.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/keeping.sh"
. "$LAB/listening.sh"

FAMILY=extended

prepare air_ready rootcanal
lab_test rootcanal/hcitool hcitool_keeps_interval 100 5
for form in raw user; do
    lab_test "rootcanal/interval/$form/100-ms" keeps_interval $form 100 0
    lab_test "rootcanal/interval/$form/152.5-ms" keeps_interval $form 152.5 0
    lab_test "rootcanal/telemetry-changes/$form" telemetry_changes $form
    lab_test "rootcanal/granted-power/$form" grants_power $form
    lab_test "rootcanal/silent-afterwards/$form" silent_afterwards $form
done
lab_test rootcanal/second-run-replaces-the-first second_run_replaces_first
lab_test rootcanal/long hears_long_data 254 400

# Each packet of rootcanal's leaves in two writes, so the kernel takes seconds to raise an adapter: what needs that is
# measured on the other controller.
prepare ears_open
lab_test rootcanal/run/unplugged comes_back raw unplugged adapter-gone 'unplugged'
lab_test rootcanal/run/disabled comes_back raw disabled foreign-disabled 'hcitool turned advertising off'
lab_test rootcanal/run/suspended comes_back raw suspended suspended 'sleep'
lab_test rootcanal/run/killed comes_back raw killed adapter-gone 'unplugged'
