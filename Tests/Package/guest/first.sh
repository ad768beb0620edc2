# The first boot: somebody comes with the package, as the README tells it.
. "$LAB/lib.sh"
. "$LAB/adapters.sh"
. "$LAB/box.sh"

box_is_up() {
    mkdir -p "$BOX"
    systemctl is-system-running --wait >/dev/null
    eventually 30 adapter_exists hci1
    eventually 30 systemctl -q is-active bluetooth
    files >"$BOX/before.txt"
}

installs() {
    expect_exit 0 apt.txt apt-get install -y /lab/pharos_*.deb
    expect_exit 0 verify.txt dpkg --verify pharos
    equal "the package" "install ok installed" "$(dpkg-query -W -f '${Status}' pharos)"
    equal "pharos.target" enabled "$(systemctl is-enabled pharos.target)"
    equal "instances that the package starts" "" "$(systemctl list-units --all --plain --no-legend 'pharos@*')"
    id pharos || fail "there is no user pharos"
    equal "/run/pharos" "755 pharos pharos" "$(stat -c '%a %U %G' /run/pharos)"
    equal "/etc/pharos/keys" "750 root pharos" "$(stat -c '%a %U %G' /etc/pharos/keys)"
    systemd-analyze verify pharos.target 'pharos@lobby.service' >verify.txt 2>&1
    if grep -i pharos verify.txt | grep -v "'man "; then fail "systemd finds fault with the units"; fi
}

# The steps of the README for a Raspberry Pi, behind the installation; `sudo` and the editor are left out.
five_steps() {
    expect_exit 0 doctor.txt pharos doctor
    cp /usr/share/pharos/profiles/lobby-ibeacon.json /etc/pharos/lobby.json
    sed -i 's/"name": "lobby-ibeacon"/"name": "lobby"/' /etc/pharos/lobby.json
    expect_exit 0 check.txt pharos profile check /etc/pharos/lobby.json
    start=$(now)
    expect_exit 0 enable.txt systemctl enable --now pharos@lobby
    note "systemctl enable --now to on the air: $(milliseconds "$start" "$(now)") ms"
    expect_exit 0 status.txt pharos status
    shows status.txt "lobby: on the air" 00:00:5E:00:53:01 ibeacon
    comes_back "$start" "$(lobby 2)"
    note "systemctl enable --now to the first report on hci1: $(milliseconds "$start" "$back") ms"
    is_active lobby || fail "the instance is not active"
}

# The second package: without it the first says what is missing, with it the same command hears the beacon.
hears_with_the_hub() {
    listens="pharos listen /usr/share/pharos/listeners/hall.json --print --adapter hci1 --duration-s 4 --json"
    # shellcheck disable=SC2086 # the words of a command
    expect_exit 69 without.txt $listens
    shows without.txt 'needs the package pharos-hub'
    expect_exit 0 apt.txt apt-get install -y /lab/pharos-hub_*.deb
    expect_exit 0 verify.txt dpkg --verify pharos-hub
    # shellcheck disable=SC2086 # the words of a command
    expect_exit 0 with.txt $listens
    # The guest itself scans with hci1, so what is not heard is not gone: its repeats may have been left out.
    shows with.txt '"event":"beacons"' '"state":"foreign"'
}

# With the rights of the service, doctor says about the clock what timedated says.
asks_the_kernel_about_the_clock() {
    # Starts timedated, which takes its time here.
    told=$(timedatectl show --value -p NTPSynchronized)
    words='it is not synchronised'
    [ "$told" != yes ] || words='it is synchronised'
    eventually 20 doctor_says "$words" || fail "timedated says $told, and doctor: $(grep clock doctor.txt)"
}
doctor_says() {
    systemd-run -q --wait --pipe -p User=pharos -p SystemCallFilter=@system-service \
        -p 'SystemCallFilter=~@privileged @resources' -p SystemCallFilter=adjtimex -p SystemCallErrorNumber=EPERM \
        pharos doctor >doctor.txt
    grep -F "$1" doctor.txt
}

# A beacon whose adapter is not there must not hold up the boot.
waits_for_an_adapter() {
    sed 's/"name": "lobby"/"name": "annex", "adapter": "hci7"/' /etc/pharos/lobby.json >/etc/pharos/annex.json
    expect_exit 0 enable.txt systemctl enable pharos@annex
    expect_exit 0 start.txt systemctl start --no-block pharos@annex
    eventually 10 says annex hci7 || fail "it does not say what it waits for"
    equal "the unit" activating "$(property annex ActiveState)"
}

prepare box_is_up
lab_test package/installs installs
lab_test package/five-steps five_steps
lab_test package/hears-with-the-hub hears_with_the_hub
lab_test package/asks-the-kernel-about-the-clock asks_the_kernel_about_the_clock
lab_test package/waits-for-an-adapter waits_for_an_adapter
