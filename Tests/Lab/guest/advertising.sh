# shellcheck shell=sh
# Rules for an advertiser on any adapter, which several guests check.

# shellcheck disable=SC2034 # used by the scripts that read this one
IBEACON_OCTETS=0201061aff4c000215fb0b57a2822844cd913a94a122ba120601020304c5
IBEACON="ibeacon --uuid fb0b57a2-8228-44cd-913a-94a122ba1206 --major 258 --minor 772 --measured-power-dbm -59"

# adapter_for raw|user: puts hci0 into the state that this form of adapter needs, and writes the form's name to
# $adapter.
adapter_for() {
    case $1 in
    raw) adapter=hci0 && adapter_starts_up hci0 ;;
    user) adapter=hci0:user && adapter_starts_down hci0 ;;
    esac
}

# advertised_then_off: hci0's last advertising command turned it off, after it was on.
advertised_then_off() {
    sent hci0 '(0a2001|3920..)0[01]' >enables.txt
    grep -qE 'command (0a2001|3920..)01' enables.txt || fail "advertising was never enabled"
    tail -n 1 enables.txt | grep -qE 'command (0a2001|3920..)00' || fail "advertising was not disabled at the end"
}

# data_before_enable: hci0's first commands are parameters, then data, then enable.
data_before_enable() {
    sent hci0 '(06200f|082020|0a200101|362019|3720..|3920..01)' | cut -d' ' -f4 | cut -c1-4 | awk '!seen[$0]++' >order.txt
    order=$(tr '\n' ' ' <order.txt)
    case $order in
    "0620 0820 0a20 " | "3620 3720 3920 ") echo "order of commands: $order" ;;
    *) fail "commands in the order $order" ;;
    esac
}

# only_one_family: all advertising and scanning commands to hci0 were of the family that FAMILY names.
only_one_family() {
    sent hci0 '(3620|0620)' >/dev/null || fail "no advertising parameters were sent"
    case $FAMILY in
    legacy) wrong='(3[5-9a-d]|4[12])20' ;;
    extended) wrong='(06|07|08|09|0a|0b|0c)20' ;;
    esac
    if sent hci0 "$wrong"; then fail "commands of the other family than $FAMILY"; fi
}

# nonconnectable OCTETS: all reports of them were ADV_NONCONN_IND (event type 3, or 0x0010 in extended reports) from one
# static random address (address type 1, and the last octet on the wire starts with two ones).
nonconnectable() {
    reports "$1" | cut -d' ' -f4 | grep -oE '^3e..(020103|0d011000)[0-9a-f]{14}' | cut -c9- | sort -u >pdu.txt
    equal "kinds of reports" "1" "$(wc -l <pdu.txt)"
    equal "reports of ADV_NONCONN_IND" "$(reports "$1" | wc -l)" \
        "$(reports "$1" | grep -cE 'event 3e..(020103|0d011000)01.{10}[cdef]')"
}

# pharos_decodes OCTETS TYPE MEMBER: pharos decodes the same frame from btmon's capture.
pharos_decodes() {
    # shellcheck disable=SC2086 # the arguments are words
    expect_exit 0 decoded.json pharos decode capture.btsnoop --json $ETLM_KEY >/dev/null
    grep -E "\"octets\":\"$1\"" decoded.json >same.json || {
        tail -n 5 decoded.json
        fail "pharos decode does not show the octets $1"
    }
    shows same.json "\"type\":$(quoted "$2")" "$3"
}

# quoted TEXT: the text as a JSON string; numbers stay as they are.
quoted() { case $1 in *[!0-9]*) echo "\"$1\"" ;; *) echo "$1" ;; esac; }

# hears FORM NAME OCTETS TYPE MEMBER ARGUMENT…: pharos sends one frame on hci0, and hci1 receives exactly its octets.
hears() {
    form=$1 octets=$3 type=$4 member=$5
    shift 5
    adapter_for "$form"
    before=$(adapter_flags hci0)
    listen_start
    capture_start
    expect_exit 0 out.json pharos advertise "$@" --interval-ms 100 --adapter "$adapter" --duration-s 0.5 --json
    capture_stop
    listen_stop
    shows out.json '"event":"on-air"'
    heard "$octets"
    nonconnectable "$octets"
    only_one_family
    data_before_enable
    advertised_then_off
    pharos_decodes "$octets" "$type" "$member"
    equal "hci0 afterwards" "$before" "$(adapter_flags hci0)"
}

# hcitool_is_heard: hci1 receives BlueZ's own commands on hci0, so that a failure of other tests is not the lab's.
hcitool_is_heard() {
    adapter_starts_up hci0
    listen_start
    capture_start
    "hcitool_$FAMILY" 2
    capture_stop
    listen_stop
    heard "$IBEACON_OCTETS"
    advertised_then_off
}

# hcitool_legacy SECONDS: interval 160 * 0.625 ms, ADV_NONCONN_IND, own address public, all three channels.
hcitool_legacy() {
    hcitool -i hci0 cmd 0x08 0x0006 A0 00 A0 00 03 00 00 00 00 00 00 00 00 07 00
    # shellcheck disable=SC2046 # octets are words
    hcitool -i hci0 cmd 0x08 0x0008 1E $(spaced "${IBEACON_OCTETS}00")
    hcitool -i hci0 cmd 0x08 0x000a 01
    sleep "$1"
    hcitool -i hci0 cmd 0x08 0x000a 00
}

# hcitool_extended SECONDS: the same with set 0xEF, without a requested power, on LE 1M.
hcitool_extended() {
    hcitool -i hci0 cmd 0x08 0x0036 EF 10 00 A0 00 00 A0 00 00 07 00 00 00 00 00 00 00 00 00 7F 01 00 01 00 00
    # shellcheck disable=SC2046 # octets are words
    hcitool -i hci0 cmd 0x08 0x0037 EF 03 01 1E $(spaced "$IBEACON_OCTETS")
    hcitool -i hci0 cmd 0x08 0x0039 01 01 EF 00 00 00
    sleep "$1"
    hcitool -i hci0 cmd 0x08 0x0039 00 01 EF 00 00 00
    hcitool -i hci0 cmd 0x08 0x003c EF
}

# spaced HEX: the octets, separated by spaces.
spaced() { echo "$1" | sed 's/../& /g'; }
