# Guest 7: receptions of other programs compared with those of pharos: aioblescan on raw HCI, bleak through bluetoothd.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/frames.sh"
. "$LAB/advertising.sh"
. "$LAB/managed.sh"
. "$LAB/listening.sh"

export PYTHONDONTWRITEBYTECODE=1

plug_in() { # plug_in LIKE: hci0 and hci1 of pharos' own on one air
    pharos controller --listen vhci --listen vhci --like "$1" >/tmp/controller.log 2>&1 &
    controllers_pid=$!
    adapters_ready
}

unplug() {
    kill "$controllers_pid"
    eventually 10 adapters_gone
}

# beacons_begin: three frames from hci0, each in a separate set if there are sets.
IBEACON_DATA=4c000215fb0b57a2822844cd913a94a122ba120600010002c5
UID_DATA=00ee8b0ca750095477cb3e770000000000020000
beacons_begin() {
    cat >three.json <<END
{"version": 1, "name": "three", "advertisements": [
    {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2, "intervalMs": 300,
     "measuredPowerDbm": -59},
    {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000002", "intervalMs": 400,
     "measuredPowerDbm": -18},
    {"type": "altbeacon", "companyId": "0x0118", "id": "0102030405060708090a0b0c0d0e0f1011121314", "intervalMs": 500,
     "measuredPowerDbm": -60}]}
END
    background beacon.txt pharos advertise three.json --json --adapter hci0
    beacon_pid=$started
    on_air beacon.txt
}

# heard_by_pharos DATA: the reports whose data ends with DATA.
heard_by_pharos() { grep -c "\"data\":\"[0-9a-f]*$1\"" scan.txt; }

# hears_what_aioblescan_hears: both programs receive on hci1 at the same time, and each gets every report.
hears_what_aioblescan_hears() {
    adapter_starts_up hci0
    adapter_starts_up hci1
    scan_begins scan.txt hci1
    background ears.txt python3 "$LAB/aioblescan_lines.py" 1
    ears_pid=$started
    eventually 30 grep -q scanning ears.txt || {
        cat ears.txt
        fail "aioblescan does not scan"
    }
    sleep 2
    beacons_begin
    sleep 15
    stop "$beacon_pid"
    sleep 2
    stop "$ears_pid" || true
    scan_ends scan.txt
    total=$(grep -c '"event":"report"' scan.txt)
    equal "reports of aioblescan" "$total" "$(grep -c '^[0-9A-F]' ears.txt)"
    [ "$total" -ge 80 ] || fail "$total reports in 15 s"
    for data in "$IBEACON_DATA" "$UID_DATA"; do
        equal "aioblescan's reports of $data" "$(heard_by_pharos "$data")" "$(grep -c "$data" ears.txt)"
    done
    # Address and level, in order.
    sed -n 's/.*"address":"\([0-9A-F:]*\)".*"rssiDbm":\(-\{0,1\}[0-9]*\),.*/\1 \2/p' scan.txt >pharos.lines
    grep '^[0-9A-F]' ears.txt | cut -d ' ' -f 1,2 >ears.lines
    cmp pharos.lines ears.lines || fail "addresses or levels differ"
    say "note $air: pharos and aioblescan heard the same $total reports"
}

# hears_what_bleak_hears active|passive: bluetoothd leaves duplicates out, and ends our scan to start its own. Pharos
# receives everything that bleak receives, and all reports afterwards.
hears_what_bleak_hears() {
    managed_starts_up
    beacons_begin
    scan_begins scan.txt hci1
    eventually 15 says_report scan.txt || fail "nothing is heard"
    python3 "$LAB/bleak_lines.py" 1 "$1" 8 >bleak.txt 2>&1 || {
        tail -n 30 bleak.txt
        fail "bleak does not scan"
    }
    ended_at=$(wc -l <scan.txt)
    end=$(cut -d ' ' -f 1 /proc/uptime)
    sleep 3
    scan_ends scan.txt
    stop "$beacon_pid"
    grep '"event":"state"' scan.txt || true
    tail -n 3 bleak.txt
    address=$(sed -n 's/.*"address":"\([0-9A-F:]*\)".*/\1/p' scan.txt | sort -u)
    equal "bleak's addresses" "$address" "$(sed -n 's/.*"address": "\([0-9A-F:]*\)".*/\1/p' bleak.txt | sort -u)"
    # Of three frames from one address the filter may let one through.
    payloads=$(sed -n 's/.*"service"//p' bleak.txt | grep -o '": "[0-9a-f]*"' | tr -cd '0-9a-f\n' | sort -u)
    [ -n "$payloads" ] || fail "bleak tells of no payload"
    for data in $payloads $IBEACON_DATA $UID_DATA; do
        heard_by_pharos "$data" >/dev/null || fail "pharos does not hear $data"
    done
    after=$(($(wc -l <scan.txt) - ended_at))
    first=$(tail -n "+$((ended_at + 1))" scan.txt | sed -n 's/.*"bootNs":\([0-9]*\).*/\1/p' | head -n 1)
    gap=$(awk "BEGIN { printf \"%.2f\", ${first:-0} ? ${first:-0} / 1e9 - $end : 999 }")
    say "note $air: bleak, $1: $(grep -c '"address"' bleak.txt) times told; $gap s lost at its end, then $after reports in 3 s"
    at_most "$gap" 2 || fail "nothing was heard for $gap s"
    [ "$after" -ge 10 ] || fail "the scan is not back"
}

bluetoothd_starts() {
    # Passive scanning is experimental in BlueZ 5.66.
    bluetoothd -n -E >/tmp/bluetoothd.log 2>&1 &
    echo $! >/tmp/bluetoothd.pid
    eventually 5 bluetoothd_manages hci0 && eventually 5 bluetoothd_manages hci1
}

FAMILY=legacy air=raspberry-pi
prepare plug_in $air
lab_test ears/$air/aioblescan hears_what_aioblescan_hears
prepare unplug

FAMILY=extended air=intel
prepare plug_in $air
lab_test ears/$air/aioblescan hears_what_aioblescan_hears
prepare bus_start
prepare bluetoothd_starts
lab_test ears/$air/bleak-active hears_what_bleak_hears active
lab_test ears/$air/bleak-passive hears_what_bleak_hears passive
