# shellcheck shell=sh
# A sequence of faults that a seed chooses, and the judgement: no silence of more than two seconds goes unreported, and the
# beacon is back at the end.

FAULTS=20
# The longest silence, in seconds, while the log says that the beacon is on the air. Through the kernel, advertisements that
# share a single set take turns of two seconds, which comes on top.
UNREPORTED_LIMIT=2
# Seconds after the last fault within which the beacon is back: the longest pause between two attempts, and the attempt.
FORGOTTEN_LIMIT=32

# sequence_of FORM SEED: lines of FAULT, SECONDS that it lasts, and SECONDS until the next one.
sequence_of() {
    kinds="unplugged down reset cleared blocked disabled changed suspended scan advertise both again reload"
    if [ "$1" = mgmt ]; then kinds="$kinds advertising_on"; fi
    awk -v seed="$2" -v count=$FAULTS -v kinds="$kinds" '
        # Park and Miller, whose numbers are the same in every awk.
        function random(below) { state = state * 16807 % 2147483647; return state % below }
        BEGIN {
            state = seed * 7919 + 1
            for (i = 0; i < 10; i++) random(2)
            n = split(kinds, kind, " ")
            for (i = 0; i < count; i++)
                print kind[random(n) + 1], (2 + random(40)) / 10, random(3) ? random(40) / 10 : 0
        }'
}

# survives FORM SEED
survives() {
    managed_starts_up
    profile lobby 258
    mkdir -p state runtime
    mkfifo log.pipe
    background lobby.log with_times log.pipe
    adapter=$(adapter_form "$1")
    pharos run lobby.json --adapter "$adapter" --state-dir state --runtime-dir runtime >log.pipe 2>&1 &
    service_pid=$!
    echo "$service_pid" >>.background
    eventually 15 grep -q ' on the air' lobby.log || fail "the service never said that it is on the air"
    : >deaf.txt
    sleep 1
    since=$(now)
    sequence_of "$1" "$2" >sequence.txt
    while read -r fault lasts pause <&3; do
        echo "$(now) $fault $lasts $pause" >>done.txt
        "sequence_$fault" "$lasts" >>faults.log 2>&1 3<&-
        sleep "$pause"
    done 3<sequence.txt
    last=$(now)
    is_back=yes
    eventually $FORGOTTEN_LIMIT tells_on_air || is_back=no
    sleep 3
    end=$(now)
    stop "$service_pid" TERM
    equal "exit status" 0 $?
    judge_sequence
}

# with_times PIPE: its lines behind the time in microseconds.
with_times() {
    while read -r line; do
        started_at line.txt true
        echo "$(cat line.txt) $line"
    done <"$1"
}

# judge_sequence: compares what hci1 received with what the log says.
judge_sequence() {
    heard_since "$since" "$IBEACON_OCTETS"
    {
        awk '{ print $1, "received" }' times.txt
        # Every line but those of a start, of a return and of a reload says that the beacon is off the air.
        awk '!/reloaded/ {
            is_on = /: on the air|back on the air/
            print $1, is_on ? "on" : "off" }' lobby.log
        awk '{ print $1, "deaf"; print $2, "hears" }' deaf.txt
        echo "$end end"
    } | sort -n | awk -v since="$since" '
        # The silence that counts is that since the last reception, and since the log said that the beacon is on the air.
        function look(until) {
            if ($1 <= since) return
            gap = last ? (until - last) / 1e6 : 0
            if (gap > longest) longest = gap
            if (!is_on || is_deaf) return
            gap = (until - (heard > on ? heard : on)) / 1e6
            if (gap > unreported) { unreported = gap; at = (until - since) / 1e6 }
        }
        $2 == "received" { look($1); last = heard = $1 }
        $2 == "on" && !is_on { is_on = 1; on = $1 }
        $2 == "off" { look($1); is_on = 0; offs++ }
        $2 == "deaf" { look($1); is_deaf = 1 }
        $2 == "hears" { is_deaf = 0; heard = last = $1 }
        $2 == "end" { look($1); exit }
        END { printf "%.2f %.2f %.2f\n", longest, unreported, at }' >judgement.txt
    read -r longest unreported at <judgement.txt
    heard_since "$last" "$IBEACON_OCTETS"
    say "note seed $LAB_SEED, $air_model, $adapter: longest silence $longest s, unreported $unreported s;" \
        "back $(seconds_between "$last" "$(head -n 1 times.txt)") s after the last fault"
    limit=$UNREPORTED_LIMIT
    if [ "$adapter" = hci0:mgmt ] && [ "$FAMILY" = legacy ]; then limit=$((limit + 2)); fi
    at_most "$unreported" "$limit" || {
        tell_sequence
        fail "seed $LAB_SEED: silent for $unreported s until second $at, and the log says that the beacon is on the air"
    }
    received=$(awk -v end="$end" '$1 > end - 2e6' times.txt | wc -l)
    if [ "$is_back" = no ] || [ "$received" -lt 5 ]; then
        tell_sequence
        fail "seed $LAB_SEED: the beacon is not back $FORGOTTEN_LIMIT s after the last fault"
    fi
}

# tell_sequence: the faults and the log in the order of time, in seconds since the beginning.
tell_sequence() {
    {
        awk '{ printf "%.0f fault: %s for %s s, then %s s\n", $1, $2, $3, $4 }' done.txt
        cat lobby.log
    } | sort -n | awk -v since="$since" '{ at = ($1 - since) / 1e6; $1 = ""; printf "%7.2f%s\n", at, $0 }'
}

sequence_unplugged() {
    bridge 0 USR1
    eventually 5 no_adapter hci0
    sleep "$1"
    bridge 0 USR2
    eventually 10 adapter_exists hci0
}

sequence_down() { hciconfig hci0 down; }

sequence_reset() { hciconfig hci0 reset; }

sequence_cleared() { fault_cleared; }

sequence_disabled() { fault_disabled; }

sequence_changed() { fault_changed; }

sequence_blocked() {
    switch=$(echo /sys/class/bluetooth/hci0/rfkill*/soft)
    echo 1 >"$switch"
    sleep "$1"
    echo 0 >"$switch"
}

sequence_suspended() {
    mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
    echo Y >/sys/kernel/debug/bluetooth/hci0/force_suspend
    sleep "$1"
    echo N >/sys/kernel/debug/bluetooth/hci0/force_suspend
}

sequence_scan() { sequence_shares scan "$1"; }

sequence_advertise() { sequence_shares advertise "$1"; }

sequence_both() { sequence_shares both "$1"; }

# sequence_shares WHAT SECONDS: through bluetoothd, if it has taken up the adapter by then.
sequence_shares() {
    eventually 3 bluetoothd_manages hci0 || return 0
    control_begins
    foreign_begins "$1"
    sleep "$2"
    foreign_ends "$1"
    control_ends
}

sequence_advertising_on() {
    management advertising on
    sleep "$1"
    management advertising off
}

# bluetoothd powers both adapters down when it ends.
sequence_again() {
    from=$(now)
    bluetoothd_stop
    sleep "$1"
    setsid sh -c 'bluetoothd -n >/tmp/bluetoothd.log 2>&1 & echo $! >/tmp/bluetoothd.pid'
    eventually 3 bluetoothd_manages hci1
    ears_again
    echo "$from $(now)" >>deaf.txt
}

sequence_reload() { kill -HUP "$service_pid"; }
