# shellcheck shell=sh
# All frames: name, octets by the specification, the result of pharos decode (type, and one member in JSON), and the
# arguments of pharos. The octets were composed by hand from the layouts; the EID is a published vector. A dot is any
# digit: encrypted telemetry has a new salt each time, so its contents can be checked only with the key.

# shellcheck disable=SC2034 # used by the scripts that read this one
ETLM_KEY="--identity-key 589417B0324B1B71D7A6751852867AE8 --rotation-exponent 10 --time-s 65536"

each_frame() { # each_frame FUNCTION [ARGUMENT…]: calls it with name, octets, type, member and arguments at the end
    while IFS='|' read -r frame octets type member arguments; do
        # shellcheck disable=SC2086 # the arguments are words
        "$@" $frame $octets $type $member $arguments
    done <<END
ibeacon|0201061aff4c000215fb0b57a2822844cd913a94a122ba120601020304c5|ibeacon|"minor":772|ibeacon --uuid fb0b57a2-8228-44cd-913a-94a122ba1206 --major 258 --minor 772 --measured-power-dbm -59
altbeacon|0201061bff1801beac000102030405060708090a0b0c0d0e0f10111213c407|altbeacon|"measuredPowerDbm":-60|altbeacon --company-id 0x0118 --id 000102030405060708090a0b0c0d0e0f10111213 --measured-power-dbm -60 --reserved 7
uid|0201060303aafe1716aafe00f48b0ca750095477cb3e770000000000020000|eddystone-uid|"instance":"000000000002"|uid --namespace 8b0ca750095477cb3e77 --instance 000000000002 --measured-power-dbm -12
url|0201060303aafe1316aafe10f8036769746875620063697472757a|eddystone-url|"url":"https://github.com/citruz"|url --url https://github.com/citruz --measured-power-dbm -8
tlm|0201060303aafe1116aafe20000bb8fb80010203040000007b|eddystone-tlm|"temperatureC":-4.5|tlm --battery-mv 3000 --temperature-c -4.5 --advertisements 16909060 --uptime-s 12.3
eid|0201060303aafe0d16aafe30f4a9b76a71c5f89290|eddystone-eid|"id":"a9b76a71c5f89290"|eid --identity-key 0102030405060708090A111213141516 --rotation-exponent 10 --time-s 0 --measured-power-dbm -12
etlm|0201060303aafe1516aafe2001................................|eddystone-etlm|"temperatureC":28.25,"advertisements":72,|tlm --battery-mv 0 --temperature-c 28.25 --advertisements 72 --uptime-s 11.5 $ETLM_KEY
thesis-node|020106020a0306094e64654d311107669a0c200008fdbce2113345d05da467|9|"data":"4e64654d31"|raw --structure 01:06 --structure 0a:03 --structure 09:4e64654d31 --structure 07:669a0c200008fdbce2113345d05da467
END
}
