# shellcheck shell=sh
# Listens with hci1 for as long as the box runs. bluetoothd sets its adapters up when it starts, and ends a scan with
# that: until that is over, the scan is begun anew every other second.
mkdir -p /var/lib/lab
rm -f /var/lib/lab/air.btsnoop
btmon -w /var/lib/lab/air.btsnoop >/dev/null &
until [ -s /var/lib/lab/air.btsnoop ]; do sleep 0.05; done
settled=0
while [ "$settled" -lt 4 ]; do
    hciconfig hci1 up
    timeout -s INT 2 hcitool -i hci1 lescan --passive --duplicates >/dev/null
    if systemctl -q is-active bluetooth; then settled=$((settled + 1)); fi
done
while :; do
    hciconfig hci1 up && hcitool -i hci1 lescan --passive --duplicates >/dev/null
    sleep 0.2
done
