# Guest 10: one sequence of twenty faults, which the seed chooses, next to a service on hci0 or hci0:mgmt and a bluetoothd.
# The remainder of the seed by four chooses the form of the adapter and the controller.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/managed.sh"
. "$LAB/keeping.sh"
. "$LAB/beside.sh"
. "$LAB/sequence.sh"

LAB_LIMIT=900
LAB_EVIDENCE=400
case $((LAB_SEED % 4)) in
0) form=raw air=raspberry-pi FAMILY=legacy ;;
1) form=mgmt air=raspberry-pi FAMILY=legacy ;;
2) form=raw air=intel FAMILY=extended ;;
3) form=mgmt air=intel FAMILY=extended ;;
esac
prepare sharing_opens "$air"
lab_test "sequences/$LAB_SEED/$form/$air" survives "$form" "$LAB_SEED"
