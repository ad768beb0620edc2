# The second boot: what the box does by itself, and what can happen to a beacon that runs.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/box.sh"

# An instance that waits for its adapter holds up nothing but itself.
boot_goes_on() {
    systemctl list-jobs
    states="$(systemctl is-active multi-user.target pharos.target | tr '\n' ' ')$(property annex ActiveState)"
    words=$(property annex StatusText)
    systemctl disable --now pharos@annex
    rm /etc/pharos/annex.json /run/pharos/annex.*
    equal "multi-user.target, pharos.target, pharos@annex" "active active activating" "$states"
    echo "$words" | grep -F hci7 || fail "pharos@annex does not say what it waits for"
    equal "the box without it" running "$(systemctl is-system-running --wait)"
}

on_the_air_after_the_boot() {
    comes_back 0 "$(lobby 2)"
    booted=$(($(now) - $(uptime_in_tenths) * 100000))
    note "from the kernel's start to the first report on hci1: $(milliseconds "$booted" "$back") ms"
    eventually 20 is_active lobby || fail "the instance is not active"
    status_is lobby on-air || fail "pharos status does not say that it is on the air"
    expect_exit 0 status.txt pharos status
}

steady() {
    from=$(now)
    sleep 10
    # An emulated machine stands still now and then, on a busy host.
    at_most "longest silence in 10 s" "$(longest_silence "$from" "$(now)" "$LOBBY")" 2000
}

rights() {
    pid=$(property lobby MainPID)
    cat "/proc/$pid/status"
    equal "its user" pharos "$(stat -c %U "/proc/$pid")"
    equal "its capabilities" 0000000000003000 "$(sed -n 's/^CapEff:.//p' "/proc/$pid/status")"
    equal "its bounding set" 0000000000003000 "$(sed -n 's/^CapBnd:.//p' "/proc/$pid/status")"
    equal "new privileges" 1 "$(sed -n 's/^NoNewPrivs:.//p' "/proc/$pid/status")"
    equal "system call filter" 2 "$(sed -n 's/^Seccomp:.//p' "/proc/$pid/status")"
    expect_exit 0 security.txt systemd-analyze security --threshold=18 --no-pager pharos@lobby
    note "systemd-analyze security: $(sed -n 's/.*exposure level for [^ ]* //p' security.txt)"
}

# What anybody on the box may read.
others_may_read() {
    expect_exit 0 status.txt su nobody -s /bin/sh -c 'pharos status'
    expect_exit 0 metrics.txt su nobody -s /bin/sh -c 'cat /run/pharos/lobby.prom'
    shows metrics.txt 'pharos_on_air{profile="lobby"} 1'
}

killed() {
    pid=$(property lobby MainPID)
    from=$(now)
    kill -9 "$pid"
    eventually 30 restarted lobby "$pid" || { explain lobby; fail "it is not on the air again"; }
    note "READY again after SIGKILL: $(milliseconds "$from" "$(now)") ms"
    comes_back "$(now)" "$LOBBY"
    at_most "longest silence around SIGKILL" "$(longest_silence "$from" "$back" "$LOBBY")" 2000
}

# The unit's watchdog waits a minute; here it waits for six seconds, so that the test need not.
hung() {
    mkdir -p /run/systemd/system/pharos@lobby.service.d
    printf '[Service]\nWatchdogSec=6\n' >/run/systemd/system/pharos@lobby.service.d/watchdog.conf
    systemctl daemon-reload
    systemctl restart pharos@lobby
    pid=$(property lobby MainPID)
    # A beacon that goes on is left alone.
    sleep 8
    equal "the process after more than the watchdog's time" "$pid" "$(property lobby MainPID)"
    from=$(now)
    kill -STOP "$pid"
    eventually 30 restarted lobby "$pid" || { explain lobby; fail "the watchdog does not act"; }
    note "READY again after SIGSTOP, with a watchdog of 6 s: $(milliseconds "$from" "$(now)") ms"
    journalctl -q -u pharos@lobby --no-pager -n 20 >journal.txt
    shows journal.txt 'Watchdog timeout'
    comes_back "$(now)" "$LOBBY"
    at_most "longest silence around SIGSTOP" "$(longest_silence "$from" "$back" "$LOBBY")" 2000
    rm -r /run/systemd/system/pharos@lobby.service.d
    systemctl daemon-reload
}

reloaded_good() {
    pid=$(property lobby MainPID)
    from=$(now)
    write_lobby 3
    expect_exit 0 reload.txt systemctl reload pharos@lobby
    comes_back "$from" "$(lobby 3)"
    note "systemctl reload to the new octets on hci1: $(milliseconds "$from" "$back") ms"
    sleep 1
    at_most "longest silence around a reload" "$(longest_silence "$from" "$(now)" "$LOBBY")" 1000
    equal "the process" "$pid" "$(property lobby MainPID)"
    if heard_after "$((back + 100000))" "$(lobby 2)"; then fail "the old octets are still on the air"; fi
    status_is lobby on-air || fail "pharos status does not say that it is on the air"
}

reloaded_bad() {
    pid=$(property lobby MainPID)
    from=$(now)
    write_lobby 70000
    expect_exit 1 reload.txt systemctl reload pharos@lobby
    systemctl status --no-pager -l pharos@lobby >status.txt
    shows status.txt 70000 'active (running)' lobby.json
    sleep 2
    at_most "longest silence around a bad reload" "$(longest_silence "$from" "$(now)" "$(lobby 3)")" 1000
    equal "the process" "$pid" "$(property lobby MainPID)"
    # The process itself, asked without that check, says in its status line why it refuses.
    kill -HUP "$pid"
    refusal=$(eventually 10 says lobby 70000)
    write_lobby 3
    [ -n "$refusal" ] || { explain lobby; fail "the status line does not say why"; }
    comes_back "$(now)" "$(lobby 3)"
    expect_exit 0 reload.txt systemctl reload pharos@lobby
}

unplugged() {
    pid=$(property lobby MainPID)
    unplug
    eventually 10 status_is lobby recovering || { explain lobby; fail "it does not notice"; }
    equal "the unit" active "$(property lobby ActiveState)"
    property lobby StatusText
    sleep 3
    from=$(now)
    plug_in
    comes_back "$from" "$LOBBY"
    # The kernel's first command to the adapter.
    from=$(awk -v since="$from" '$1 > since && $2 == "hci0" && $3 == "command" { print $1; exit }' capture.txt)
    at_most "from the adapter's arrival to the first report on hci1" "$(milliseconds "$from" "$back")" 2000
    equal "the process" "$pid" "$(property lobby MainPID)"
    eventually 5 status_is lobby on-air || fail "pharos status does not say that it is on the air"
}

# /dev/rfkill is the one device that the unit lets through.
switched_off() {
    switch=$(grep -l hci0 /sys/class/rfkill/*/name) && switch=${switch%/name}/soft
    echo 1 >"$switch"
    eventually 10 says lobby rfkill || { explain lobby; fail "it does not say that rfkill is in the way"; }
    from=$(now)
    echo 0 >"$switch"
    comes_back "$from" "$LOBBY"
    at_most "from rfkill's end to the first report on hci1" "$(milliseconds "$from" "$back")" 2000
}

# refused NAME STATUS WORDS: an instance that cannot be sent fails, and is not tried again.
refused() {
    expect_exit 1 start.txt systemctl start "pharos@$1"
    sleep 3
    explain "$1" >status.txt
    equal "the unit" failed "$(property "$1" ActiveState)"
    equal "its exit status" "$2" "$(property "$1" ExecMainStatus)"
    equal "restarts" 0 "$(property "$1" NRestarts)"
    shows status.txt "$3"
    systemctl reset-failed "pharos@$1"
}

refused_impossible() {
    cat >/etc/pharos/hall.json <<END
{ "version": 1, "name": "hall", "advertisements": [
    { "type": "eddystone-tlm", "temperature": "no-such-sensor", "intervalMs": 100 } ] }
END
    refused hall 78 no-such-sensor
    rm /etc/pharos/hall.json
}

refused_malformed() {
    echo '{ "version": 1,' >/etc/pharos/hall.json
    refused hall 65 hall.json
    rm /etc/pharos/hall.json
}

refused_missing() { refused nobody-wrote-it 66 nobody-wrote-it.json; }

# A second instance on the adapter of the first one is refused with its name.
refused_busy() {
    sed 's/"name": "lobby"/"name": "hall"/' /etc/pharos/lobby.json >/etc/pharos/hall.json
    systemctl start --no-block pharos@hall
    eventually 10 mentioned_by hall lobby || { explain hall; fail "it does not say who has the adapter"; }
    explain hall
    systemctl stop pharos@hall
    systemctl reset-failed pharos@hall
    rm /etc/pharos/hall.json
    comes_back "$(now)" "$LOBBY"
}
mentioned_by() { systemctl status --no-pager -l "pharos@$1" | grep -F "instance \"$2\""; }

# without_rights NAME FORM ADAPTER: with the drop-in for this form, an instance on the air without any capability.
without_rights() {
    name=$1
    sed "s|\"name\": \"lobby\"|\"name\": \"$name\", \"adapter\": \"$3\"|; s/\"minor\": 3/\"minor\": 7/" \
        /etc/pharos/lobby.json >"/etc/pharos/$name.json"
    mkdir -p "/etc/systemd/system/pharos@$name.service.d"
    cp "/usr/share/pharos/systemd/$2.conf" "/etc/systemd/system/pharos@$name.service.d/adapter.conf"
    systemctl daemon-reload
    expect_exit 0 start.txt timeout 20 systemctl start "pharos@$name"
    status_is "$name" on-air || { explain "$name"; fail "it is not on the air"; }
    pid=$(property "$name" MainPID)
    equal "its capabilities" 0000000000000000 "$(sed -n 's/^CapEff:.//p' "/proc/$pid/status")"
    equal "its bounding set" 0000000000000000 "$(sed -n 's/^CapBnd:.//p' "/proc/$pid/status")"
    if [ "$(readlink "/proc/$pid/ns/user")" = "$(readlink /proc/self/ns/user)" ]; then fail "no user namespace"; fi
    expect_exit 0 security.txt systemd-analyze security --threshold=18 --no-pager "pharos@$name"
    note "systemd-analyze security, $2: $(sed -n 's/.*exposure level for [^ ]* //p' security.txt)"
    systemctl stop "pharos@$name"
    rm -r "/etc/pharos/$name.json" "/etc/systemd/system/pharos@$name.service.d"
    systemctl daemon-reload
}

# on_the_same_air FORM ADAPTER: hci1 hears this one too.
on_the_same_air() {
    from=$(now)
    without_rights hall "$@"
    comes_back "$from" "$(lobby 7)"
}

# An identity key that only the user pharos may read, and the state that an ephemeral id needs.
keeps_keys_and_state() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >lobby-eid.key
    install -o pharos -m 600 lobby-eid.key /etc/pharos/keys
    sed 's/"version": 1,/"version": 1, "adapter": "virtual",/' /usr/share/pharos/profiles/eddystone-eid.json \
        >/etc/pharos/eddystone-eid.json
    expect_exit 0 start.txt timeout 20 systemctl start pharos@eddystone-eid
    status_is eddystone-eid on-air || { explain eddystone-eid; fail "it is not on the air"; }
    systemctl stop pharos@eddystone-eid
    equal "its state" "600 pharos" "$(stat -c '%a %U' /var/lib/pharos/eddystone-eid.state.json)"
    rm /etc/pharos/eddystone-eid.json /etc/pharos/keys/lobby-eid.key
}

# The listener of the other package on hci0, whose beacon rests meanwhile: another controller on the air sends.
LISTENER=pharos-listen@hall
listens() {
    systemctl stop pharos@lobby
    write_hall hci0 9
    background beacon.txt pharos advertise ibeacon --uuid fb0b57a2-8228-44cd-913a-94a122ba1206 --major 1 --minor 9 \
        --measured-power-dbm -59 --adapter unix:/run/lab-air.socket
    # shellcheck disable=SC2154 # background sets it
    beacon_pid=$started
    # Its packets prove that the receiver works while the beacon is silent.
    background other.txt pharos advertise ibeacon --uuid fb0b57a2-8228-44cd-913a-94a122ba1206 --major 2 --minor 1 \
        --measured-power-dbm -59 --adapter unix:/run/lab-air.socket
    other_pid=$started
    expect_exit 0 start.txt timeout 30 systemctl start $LISTENER
    scan_is 01 || fail "it is started, and does not scan"
    eventually 10 happened enter || { systemctl status --no-pager -l $LISTENER; fail "nobody enters"; }
    listener_rights
    # Killed and back: nobody enters again, and nobody has left.
    pid=$(property_of $LISTENER MainPID)
    kill -9 "$pid"
    eventually 30 listener_is_back "$pid" || fail "it is not started again"
    sleep 4
    equal "events" enter "$(events)"
    # Away for longer than the silence of the zone: nobody has left.
    unplug
    eventually 20 happened unknown || fail "it does not say that nobody knows"
    plug_in
    eventually 30 happened known || fail "it does not hear again"
    sleep 4
    equal "events" "enter unknown known" "$(events)"
    stop "$beacon_pid"
    eventually 20 happened exit || fail "nobody leaves"
    stop "$other_pid"
    listener_is_reloaded_and_stopped
    # The file lies where the beacon's state does, and others may not read it.
    equal "its store" "600 pharos" "$(stat -c '%a %U' /var/lib/pharos/hall.db)"
    rm /etc/pharos/hall.json
    expect_exit 0 start.txt systemctl start pharos@lobby
}
listener_rights() {
    pid=$(property_of $LISTENER MainPID)
    equal "its user" pharos "$(stat -c %U "/proc/$pid")"
    equal "its capabilities" 0000000000003000 "$(sed -n 's/^CapEff:.//p' "/proc/$pid/status")"
    equal "system call filter" 2 "$(sed -n 's/^Seccomp:.//p' "/proc/$pid/status")"
    expect_exit 0 security.txt systemd-analyze security --threshold=18 --no-pager $LISTENER
    note "systemd-analyze security, listen: $(sed -n 's/.*exposure level for [^ ]* //p' security.txt)"
    expect_exit 0 metrics.txt su nobody -s /bin/sh -c 'cat /run/pharos/hall.listener.prom'
    shows metrics.txt 'pharos_listening{listener="hall"} 1'
}
listener_is_reloaded_and_stopped() {
    pid=$(property_of $LISTENER MainPID)
    echo '{' >/etc/pharos/hall.json
    systemctl reload $LISTENER
    eventually 10 listener_says 'reload refused' || fail "the status line does not say that the file is refused"
    write_hall hci0 9
    expect_exit 0 reload.txt systemctl reload $LISTENER
    equal "the process" "$pid" "$(property_of $LISTENER MainPID)"
    from=$(now)
    systemctl stop $LISTENER
    at_most "systemctl stop of a listener" "$(milliseconds "$from" "$(now)")" 3000
    equal "its result" success "$(property_of $LISTENER Result)"
    scan_is 00 || fail "the scan is left on"
    equal "what the hook was told" "$(events)" \
        "$(sed -n 's/^{"event":"\([a-z]*\)".*/\1/p' /var/lib/pharos/hooks.txt | tr '\n' ' ' | sed 's/ $//')"
}
listener_says() { property_of $LISTENER StatusText | grep -F -e "$1"; }
listener_is_back() { systemctl -q is-active $LISTENER && [ "$(property_of $LISTENER MainPID)" != "$1" ]; }
# events: what has happened in the zone, in a word each.
events() { pharos history near --json | sed -n 's/^{"event":"\([a-z]*\)".*/\1/p' | tr '\n' ' ' | sed 's/ $//'; }
happened() { events | grep -w "$1"; }
# scan_is 00|01: how hci0 was told last to scan.
scan_is() {
    listen
    grep -oE 'hci0 command (4220|0c20)...*' capture.txt | tail -n 1 | grep -E "command (4220|0c20)..$1"
}

# The target stops and starts what is enabled, and an adapter that arrives starts the target.
target() {
    expect_exit 0 stop.txt systemctl stop pharos.target
    eventually 5 is_stopped lobby || fail "it is not stopped with the target"
    equal "its result" success "$(property lobby Result)"
    sleep 0.5
    from=$(now)
    sleep 1
    if heard_after "$from" "$LOBBY"; then fail "it is still on the air"; fi
    expect_exit 0 start.txt systemctl start pharos.target
    comes_back "$from" "$LOBBY"
    systemctl stop pharos.target
    unplug
    sleep 1
    from=$(now)
    plug_in
    comes_back "$from" "$LOBBY"
    eventually 10 is_active lobby || fail "it is not active"
}
is_stopped() { [ "$(property "$1" ActiveState)" = inactive ]; }

stops_at_once() {
    from=$(now)
    systemctl stop pharos@lobby
    at_most "systemctl stop" "$(milliseconds "$from" "$(now)")" 3000
    equal "its exit status" 0 "$(property lobby ExecMainStatus)"
    expect_exit 0 start.txt systemctl start pharos@lobby
    at_most "systemctl start to READY" "$(start_time lobby)" 10000
}

upgrades() {
    pid=$(property lobby MainPID)
    from=$(now)
    expect_exit 0 dpkg.txt dpkg -i /lab/pharos_*.deb
    eventually 20 restarted lobby "$pid" || { explain lobby; fail "it does not run the new program"; }
    comes_back "$(now)" "$LOBBY"
    at_most "longest silence around an upgrade" "$(longest_silence "$from" "$back" "$LOBBY")" 10000
}

removes() {
    expect_exit 0 remove.txt apt-get remove -y pharos
    from=$(now)
    sleep 1
    if heard_after "$from" "$LOBBY"; then fail "it is still on the air"; fi
    equal "processes" "" "$(pgrep -f 'pharos run')"
    [ ! -e /run/pharos ] || fail "/run/pharos is left"
    [ -e /etc/pharos/lobby.json ] || fail "the profile is gone"
    # What people have written, they take away themselves.
    rm /etc/pharos/lobby.json
    expect_exit 0 purge.txt apt-get purge -y pharos
    files | diff "$BOX/before.txt" - >left.txt
    cat left.txt
    grep '^[<>]' left.txt | grep -vE '/(etc/(passwd|group|shadow|gshadow)-|var/lib/(dpkg|systemd|apt)|var/backups)' \
        >more.txt
    equal "files that are left" "" "$(cat more.txt)"
}

prepare eventually 30 adapter_exists hci1
lab_test package/boot-goes-on boot_goes_on
lab_test package/on-the-air-after-the-boot on_the_air_after_the_boot
lab_test package/steady steady
lab_test package/rights rights
lab_test package/others-may-read others_may_read
lab_test package/killed killed
lab_test package/hung hung
lab_test package/reloaded reloaded_good
lab_test package/reloaded-with-a-bad-profile reloaded_bad
lab_test package/unplugged unplugged
lab_test package/rfkill switched_off
lab_test package/refused/impossible refused_impossible
lab_test package/refused/malformed refused_malformed
lab_test package/refused/missing refused_missing
lab_test package/refused/adapter-in-use refused_busy
lab_test package/drop-in/tcp on_the_same_air tcp tcp:127.0.0.1:6402
lab_test package/drop-in/unix on_the_same_air unix unix:/run/lab-air.socket
lab_test package/drop-in/serial without_rights board serial serial:/dev/ttyS2@115200
lab_test package/keys-and-state keeps_keys_and_state
lab_test package/listens listens
lab_test package/target target
lab_test package/stops-at-once stops_at_once
lab_test package/upgrades upgrades
lab_test package/removes removes
