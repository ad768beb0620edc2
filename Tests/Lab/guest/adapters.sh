# shellcheck shell=sh
# Adapters and what is heard through them: BlueZ's own programs only, so that the judge is not the accused.

adapter_exists() { [ -e "/sys/class/bluetooth/$1" ]; }

adapters_gone() { ! adapter_exists hci0 && ! adapter_exists hci1; }

# adapter_flags hciN: "UP RUNNING", "DOWN", …
adapter_flags() { hciconfig "$1" | sed -n 3p | sed 's/^[[:space:]]*//; s/[[:space:]]*$//'; }

# adapter_ready hciN: registered and done with the kernel's set-up; the set-up itself leaves it up for two seconds. The
# kernel shows an adapter just before the set-up begins, and never finishes it if the adapter is raised in between.
adapter_ready() { adapter_exists "$1" && sleep 0.2 && hciconfig "$1" up && hciconfig "$1" down; }

adapters_ready() {
    eventually 15 adapter_ready hci0 2>/dev/null && eventually 15 adapter_ready hci1 2>/dev/null
}

# adapter_starts_down hciN / adapter_starts_up hciN
adapter_starts_up() { hciconfig "$1" up || fail "cannot bring $1 up"; }
adapter_starts_down() { hciconfig "$1" down || fail "cannot put $1 down"; }

# capture_start / capture_stop: btmon's own file capture.btsnoop, and the same as text in capture.txt.
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

# listen_start / listen_stop: hci1 scans, by the commands of the family that FAMILY names. Controllers whose kernel has
# chosen the extended family refuse those of lescan, so there the commands are written out: own address public, no
# filter, LE 1M, passive, window = interval.
listen_start() {
    # Up anew, because a test that failed may have left it scanning.
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
# digits), in a legacy or an extended advertising report with one report in it, octet by octet as the Core
# Specification, Vol 4 Part E 7.7.65.2 and 7.7.65.13, lays them out.
reports() {
    length=$(printf '%02x' $((${#1} / 2)))
    grep -E "hci1 event 3e..(0201[0-9a-f]{16}$length$1..|0d01[0-9a-f]{46}$length$1)\$" capture.txt
}

# heard OCTETS: hci1 reported them at least once.
heard() {
    reports "$1" >heard.txt || {
        grep 'hci1 event 3e' capture.txt | tail -n 5
        fail "hci1 never reported the octets $1"
    }
    head -n 2 heard.txt
}

# sent hciN COMMAND: the commands to that adapter that begin with these hex digits (opcode least significant first).
sent() { grep -E "$1 command $2" capture.txt; }

# on_air FILE: pharos says that advertising is enabled.
on_air() {
    eventually 15 grep -q '"event":"on-air"' "$1" || {
        cat "$1"
        fail "pharos never said that it is on the air"
    }
}
