# Guest 8: other programs use the adapter on which `pharos run` sends: a scan, an advertisement or both through bluetoothd,
# and the kernel's own advertisement. Each test lets the second adapter receive the beacon and judges the longest silence.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"
. "$LAB/timing.sh"
. "$LAB/managed.sh"
. "$LAB/keeping.sh"
. "$LAB/beside.sh"

for air in raspberry-pi intel; do
    case $air in
    intel) FAMILY=extended ;;
    *) FAMILY=legacy ;;
    esac
    prepare sharing_opens "$air"
    lab_test sharing/$air/raw/scan sends_beside raw scan 12
    lab_test sharing/$air/raw/long-scan sends_beside raw scan 90
    lab_test sharing/$air/raw/advertise sends_beside raw advertise 8
    lab_test sharing/$air/raw/both sends_beside raw both 12
    lab_test sharing/$air/mgmt/scan sends_beside mgmt scan 12
    lab_test sharing/$air/mgmt/long-scan sends_beside mgmt scan 90
    lab_test sharing/$air/mgmt/advertise sends_beside mgmt advertise 8
    lab_test sharing/$air/mgmt/both reports_beside mgmt both 12
    lab_test sharing/$air/mgmt/advertising-on reports_advertising_on
    lab_test sharing/$air/user/again user_again
    lab_test sharing/$air/user/scan sends_beside user scan 12
    lab_test sharing/$air/user/advertise sends_beside user advertise 8
    lab_test sharing/$air/user/both sends_beside user both 12
    prepare sharing_closes
done
