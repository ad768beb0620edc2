# shellcheck shell=sh
# Adapters and the packets that they receive. Only BlueZ's own programs are used here, so that pharos is not checked by
# itself.

adapter_exists() { [ -e "/sys/class/bluetooth/$1" ]; }

adapters_gone() { ! adapter_exists hci0 && ! adapter_exists hci1; }

# adapter_flags hciN: "UP RUNNING", "DOWN", …
adapter_flags() { hciconfig "$1" | sed -n 3p | sed 's/^[[:space:]]*//; s/[[:space:]]*$//'; }

# adapter_ready hciN: waits until the adapter is registered and the kernel has finished its set-up, which leaves it up
# for two seconds. The kernel shows an adapter just before the set-up begins, and never finishes it if the adapter is
# raised in between.
adapter_ready() { adapter_exists "$1" && sleep 0.2 && hciconfig "$1" up && hciconfig "$1" down; }

adapters_ready() {
    eventually 15 adapter_ready hci0 2>/dev/null && eventually 15 adapter_ready hci1 2>/dev/null
}

# adapter_starts_down hciN / adapter_starts_up hciN
adapter_starts_up() { hciconfig "$1" up || fail "cannot bring $1 up"; }
adapter_starts_down() { hciconfig "$1" down || fail "cannot put $1 down"; }

# capture_start / capture_stop: btmon's capture in capture.btsnoop, and the same as text in capture.txt.
capture_start() {
    background btmon.log btmon -w capture.btsnoop
    capture_pid=$started
    eventually 10 test -s capture.btsnoop || fail "btmon does not start"
    sleep 0.3
}

capture_stop() {
    sleep 0.3
    stop "$capture_pid" || true
    btsnoop_lines capture.btsnoop >capture.txt || fail "btmon wrote no capture"
    echo "capture: $(wc -l <capture.txt) packets"
}

# listen_start / listen_stop: hci1 scans with the commands of the family that FAMILY names. If the kernel has chosen the
# extended family, the controller refuses the commands of lescan, so the extended ones are sent: own address public, no
# filter, LE 1M, passive, window = interval.
listen_start() {
    # The adapter is restarted, because a failed test may have left it scanning.
    adapter_starts_down hci1
    adapter_starts_up hci1
    if [ "$FAMILY" = legacy ]; then
        background lescan.txt hcitool -i hci1 lescan --passive --duplicates
        listen_pid=$started
        sleep 0.3
    else
        hcitool -i hci1 cmd 0x08 0x0041 00 00 01 00 A0 00 A0 00 >/dev/null
        hcitool -i hci1 cmd 0x08 0x0042 01 00 00 00 00 00 >listen.txt
        grep -q '^  01 42 20 00' listen.txt || fail "hci1 does not scan: $(cat listen.txt)"
    fi
}

listen_stop() {
    if [ "$FAMILY" = legacy ]; then
        stop "$listen_pid" || true
        cat lescan.txt
    else
        hcitool -i hci1 cmd 0x08 0x0042 00 00 00 00 00 00 >/dev/null
    fi
}

# reports OCTETS: the lines of capture.txt in which hci1 reports this advertising data (a regular expression of hex
# digits), in a legacy or an extended advertising report with one report in it, in the layout of the Core Specification,
# Vol 4 Part E 7.7.65.2 and 7.7.65.13.
reports() {
    length=$(printf '%02x' $((${#1} / 2)))
    grep -E "hci1 event 3e..(0201[0-9a-f]{16}$length$1..|0d01[0-9a-f]{46}$length$1)\$" capture.txt
}

# heard OCTETS: succeeds if hci1 reported them at least once.
heard() {
    reports "$1" >heard.txt || {
        grep 'hci1 event 3e' capture.txt | tail -n 5
        fail "hci1 never reported the octets $1"
    }
    head -n 2 heard.txt
}

# sent hciN COMMAND: the commands to that adapter that begin with these hex digits (opcode least significant first).
sent() { grep -E "$1 command $2" capture.txt; }

# on_air FILE: succeeds if pharos reports that advertising is enabled.
on_air() {
    eventually 15 grep -q '"event":"on-air"' "$1" || {
        cat "$1"
        fail "pharos never said that it is on the air"
    }
}
