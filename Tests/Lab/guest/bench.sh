# The time from the start of a process to advertising enabled on hci0: pharos compared with the three hcitool calls that
# do the same, in turns, from btmon's capture of the controller's answers. An emulated processor is slow, so only the
# ratio counts.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/advertising.sh"

ROUNDS=12

with_pharos() {
    # shellcheck disable=SC2086 # the arguments are words
    started_at start.txt pharos advertise $IBEACON --interval-ms 100 --adapter hci0 --duration-s 0.1
}

with_hcitool() {
    started_at start.txt hcitool -i hci0 cmd 0x08 0x0006 A0 00 A0 00 03 00 00 00 00 00 00 00 00 07 00
    # shellcheck disable=SC2046 # octets are words
    hcitool -i hci0 cmd 0x08 0x0008 1E $(spaced "${IBEACON_OCTETS}00")
    hcitool -i hci0 cmd 0x08 0x000a 01
}

# times_of STARTS: the milliseconds from each start to the next successful enable.
times_of() {
    grep -E 'hci0 command (0a2001|3920..)01' capture.txt >enables.txt
    grep -E 'hci0 event 0e04..(0a20|3920)00' capture.txt |
        awk -v starts="$1" -v enables=enables.txt '
            BEGIN { while ((getline line < enables) > 0) { split(line, word, " "); enable[++count] = word[1] } }
            { answer[++answers] = $1 }
            END {
                while ((getline start < starts) > 0) {
                    for (i = 1; i <= count && enable[i] < start; i++);
                    for (j = 1; j <= answers && answer[j] < enable[i]; j++);
                    if (i <= count && j <= answers) printf "%.2f\n", (answer[j] - start) / 1000
                }
            }'
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print NR ? (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 : "-" }'; }

compare() { # compare WHAT
    hciconfig hci0 up
    capture_start
    : >pharos.starts
    : >hcitool.starts
    for _ in $(seq "$ROUNDS"); do
        for program in pharos hcitool; do
            "with_$program" >"$program.out" 2>&1
            cat start.txt >>"$program.starts"
            sleep 0.1
            hcitool -i hci0 cmd 0x08 0x000a 00 >/dev/null 2>&1
        done
    done
    capture_stop >/dev/null
    for program in pharos hcitool; do times_of $program.starts >$program.times; done
    pharos=$(median pharos.times) hcitool=$(median hcitool.times)
    ratio=$(awk "BEGIN { if ($hcitool > 0) printf \"%.2f\", $pharos / $hcitool; else print \"-\" }" 2>/dev/null)
    say "note time to air, $1: pharos $pharos ms ($(wc -l <pharos.times) rounds)," \
        "three hcitool calls $hcitool ms ($(wc -l <hcitool.times) rounds), medians; ratio ${ratio:--}"
}

with_adapters() { # with_adapters WHAT OPTION…
    what=$1
    shift
    btvirt "$@" -l2 >/tmp/btvirt.log 2>&1 &
    btvirt_pid=$!
    adapters_ready
    compare "$what"
    kill "$btvirt_pid"
    eventually 10 adapters_gone
}

with_adapters "controller without extended advertising" -L
with_adapters "controller with extended advertising"
