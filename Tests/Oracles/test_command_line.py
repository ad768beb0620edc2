"""The command line as people and scripts meet it: exit codes, messages, formats."""
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import termios
import time
from typing import NamedTuple

import pytest

import frames
import pharos

USAGE, DATA, NO_INPUT, UNAVAILABLE, REFUSED_PROFILE = 64, 65, 66, 69, 78
UUID = "fb0b57a2-8228-44cd-913a-94a122ba1206"
KEY = "0102030405060708090a111213141516"


class Bad(NamedTuple):
    code: int
    #: What the message must say: the place, what is allowed, what to do.
    words: tuple[str, ...]
    arguments: tuple[str, ...]
    stdin: str = ""

    def __str__(self):
        return " ".join(word if len(word) <= 30 else word[:27] + "..." for word in self.arguments)


def bad(code: int, words, *arguments: str, stdin: str = "") -> Bad:
    return Bad(code, (words,) if isinstance(words, str) else words, arguments, stdin)


def url(text: str) -> tuple[str, ...]:
    return "encode", "url", "--url", text, "--measured-power-dbm", "-5"


def ibeacon(uuid=UUID, major="1", minor="2", power="-59") -> tuple[str, ...]:
    return "encode", "ibeacon", "--uuid", uuid, "--major", major, "--minor", minor, "--measured-power-dbm", power


def uid(namespace="8b0ca750095477cb3e77", instance="000000000002", power="-12") -> tuple[str, ...]:
    return "encode", "uid", "--namespace", namespace, "--instance", instance, "--measured-power-dbm", power


def altbeacon(company="0x0118", beacon="00" * 20, power="-59", reserved="0") -> tuple[str, ...]:
    return ("encode", "altbeacon", "--company-id", company, "--id", beacon, "--measured-power-dbm", power, "--reserved",
            reserved)


def eid(key=KEY, exponent="10", seconds="65280", power="-12") -> tuple[str, ...]:
    return ("encode", "eid", "--identity-key", key, "--rotation-exponent", exponent, "--time-s", seconds,
            "--measured-power-dbm", power)


def air(*options: str, adapter="virtual") -> tuple[str, ...]:
    return "advertise", *frames.UID.options, "--duration-s", "0.2", "--adapter", adapter, *options


ROWS = [
    bad(DATA, "two digits", "decode", "020"),
    bad(DATA, ("z", "5"), "decode", "0201zz"),
    bad(DATA, ("input", "1", "z"), "decode", "-", stdin="zz\n"),
    bad(NO_INPUT, "/nonexistent.btsnoop", "decode", "/nonexistent.btsnoop"),
    bad(USAGE, "input", "decode"),
    bad(USAGE, ("space", "10"), *url("https://a b.com")),
    bad(USAGE, ("0x01", "10"), *url("https://a\x01b")),
    bad(USAGE, "9", *url("https://ü.de")),
    bad(USAGE, ("28 bytes", "11 more", "17", "036578616d706c6500"), *url("https://example.com/this/is/far/too/long")),
    bad(USAGE, ("18 bytes", "1 more"), *url("https://" + "x" * 18)),
    bad(USAGE, ("http://", "https://"), *url("ftp://a")),
    bad(USAGE, "empty", *url("")),
    bad(USAGE, "empty", *url("https://")),
    bad(USAGE, ("--measured-power-dbm", "-127...0"), *ibeacon(power="1")),
    bad(USAGE, ("--measured-power-dbm", "-127...0"), *ibeacon(power="-128")),
    bad(USAGE, ("--measured-power-dbm", "-127...0"), *altbeacon(power="5")),
    bad(USAGE, ("--measured-power-dbm", "-100...20"), *uid(power="21")),
    bad(USAGE, ("--measured-power-dbm", "-100...20"), *uid(power="-101")),
    bad(USAGE, ("--measured-power-dbm", "-100...20"), *eid(power="21")),
    bad(USAGE, "--measured-power-dbm", *uid(power="9" * 20)),
    bad(USAGE, "--measured-power-dbm", *uid(power="-5.5")),
    bad(USAGE, "--measured-power-dbm", *uid(power="")),
    bad(USAGE, "not both", *uid(), "--measured-power-1m-dbm", "-53"),
    bad(USAGE, ("--major", "0...65535"), *ibeacon(major="70000")),
    bad(USAGE, ("--major", "0...65535"), *ibeacon(major="-1")),
    bad(USAGE, ("--minor", "0...65535"), *ibeacon(minor="65536")),
    bad(USAGE, ("--uuid", "32"), *ibeacon(uuid=UUID[:-1])),
    bad(USAGE, "--uuid", *ibeacon(uuid="")),
    bad(USAGE, "--major", "encode", "ibeacon", "--uuid", UUID, "--minor", "2", "--measured-power-dbm", "-5"),
    bad(USAGE, ("--namespace", "20"), *uid(namespace="8b")),
    bad(USAGE, ("--instance", "12"), *uid(instance="00" * 7)),
    bad(USAGE, ("--company-id", "0...65535"), *altbeacon(company="0x10000")),
    bad(USAGE, ("--id", "40"), *altbeacon(beacon="00" * 19)),
    bad(USAGE, ("--reserved", "0...255"), *altbeacon(reserved="256")),
    bad(USAGE, ("32 bytes", "1 more", "31", "--phy 1M"), "encode", "raw", "--structure", "ff:" + "00" * 30),
    bad(USAGE, ("32 bytes", "1 more", "--phy 1M"), "encode", "raw", "--structure", "01:06", "--structure",
        "ff:" + "00" * 27),
    bad(USAGE, "TYPE:HEX", "encode", "raw", "--structure", "01"),
    bad(USAGE, "--structure", "encode", "raw", "--structure", "101:00"),
    bad(USAGE, "--structure", "encode", "raw", "--structure", "ff:0"),
    bad(USAGE, "--structure", "encode", "raw"),
    bad(USAGE, ("--temperature-c", "-128"), "encode", "tlm", "--temperature-c", "128"),
    bad(USAGE, "--temperature-c", "encode", "tlm", "--temperature-c", "-129"),
    bad(USAGE, "--temperature-c", "encode", "tlm", "--temperature-c", "nan"),
    bad(USAGE, "--temperature-c", "encode", "tlm", "--temperature-c", "1e300"),
    bad(USAGE, ("--battery-mv", "65535"), "encode", "tlm", "--battery-mv", "65536"),
    bad(USAGE, ("--uptime-s", "429496729.5"), "encode", "tlm", "--uptime-s", "429496729.6"),
    bad(USAGE, "--uptime-s", "encode", "tlm", "--uptime-s", "-1"),
    bad(USAGE, ("--advertisements", "4294967295"), "encode", "tlm", "--advertisements", "4294967296"),
    bad(USAGE, "--rotation-exponent", "encode", "tlm", "--identity-key", KEY),
    bad(USAGE, "--identity-key", "encode", "tlm", "--salt", "0000"),
    bad(USAGE, "--value", "encode", "bthome"),
    bad(USAGE, ("--value", "NAME=VALUE"), "encode", "bthome", "--value", "temperature"),
    bad(USAGE, ("--value", "warmth"), "encode", "bthome", "--value", "warmth=3"),
    bad(USAGE, ("--value", "battery"), "encode", "bthome", "--value", "battery=256"),
    bad(USAGE, "26", "encode", "bthome", "--value", "text=" + "x" * 30),
    bad(USAGE, "31", "encode", "bthome", "--value", "text=" + "x" * 22),
    bad(USAGE, "--encryption-key-file", "encode", "bthome", "--value", "battery=1", "--counter", "1"),
    bad(USAGE, "--device-address", "encode", "bthome", "--value", "battery=1", "--encryption-key", KEY),
    bad(USAGE, "--device-address", "decode", "020106", "--encryption-key", KEY),
    bad(USAGE, "--address", "advertise", "bthome", "--value", "battery=1", "--encryption-key", KEY,
        "--device-address", "F0:01:02:03:04:05", "-a", "virtual"),
    bad(USAGE, "static random address", "advertise", "bthome", "--value", "battery=1", "--encryption-key", KEY,
        "--address", "public", "-a", "virtual", "--duration-s", "1"),
    bad(USAGE, ("--identity-key", "32"), *eid(key=KEY[2:])),
    bad(USAGE, ("--rotation-exponent", "0...15"), *eid(exponent="16")),
    bad(USAGE, ("--time-s", "4294967295"), *eid(seconds="4294967296")),
    bad(USAGE, "nosuch", "encode", "nosuch"),
    bad(USAGE, "nosuch", "nosuch"),
    bad(USAGE, ("--format", "hcitool"), *uid(), "--format", "xml"),
    bad(USAGE, "--interval-ms", *air("--interval-ms", "0")),
    bad(USAGE, ("--interval-ms", "20"), *air("--interval-ms", "19")),
    bad(USAGE, ("--interval-ms", "10485.759"), *air("--interval-ms", "10485760")),
    bad(USAGE, "--interval-ms", *air("--interval-ms", "-100")),
    bad(USAGE, "--interval-ms", *air("--interval-ms", "soon")),
    bad(USAGE, ("--radio-power-dbm", "-127...20"), *air("--radio-power-dbm", "21")),
    bad(USAGE, ("--radio-power-dbm", "-127...20"), *air("--radio-power-dbm", "-128")),
    bad(USAGE, ("--channels", "37,38,39"), *air("--channels", "40")),
    bad(USAGE, ("--channels", "37,38,39"), *air("--channels", "")),
    bad(USAGE, ("--address", "C0...FF"), *air("--address", "00:11:22:33:44:55")),
    bad(USAGE, "--address", *air("--address", "FF:FF:FF:FF:FF:FF")),
    bad(USAGE, "--pdu", *air("--pdu", "weird")),
    bad(USAGE, ("--local-name", "the name has 30 bytes, at most 29 fit"), *air("--local-name", "x" * 30)),
    bad(USAGE, "--duration-s", *air("--duration-s", "-1")),
    bad(USAGE, "--duration-s", *air("--duration-s", "nan")),
    bad(USAGE, "--like", *air("--like", "nokia")),
    bad(USAGE, ("bluetooth0", "hci0", "virtual"), *air(adapter="bluetooth0")),
    bad(USAGE, "hci0:bogus", *air(adapter="hci0:bogus")),
    bad(USAGE, "hci" + "9" * 20, *air(adapter="hci" + "9" * 20)),
    bad(USAGE, "tcp:HOST:PORT", *air(adapter="tcp:127.0.0.1")),
    bad(USAGE, "1...65535", *air(adapter="tcp:127.0.0.1:99999")),
    bad(USAGE, "unix:PATH", *air(adapter="unix:")),
    bad(USAGE, "serial:", *air(adapter="serial:/dev/null@1")),
    bad(UNAVAILABLE, "hci99", *air(adapter="hci99")),
    bad(UNAVAILABLE, "/nonexistent", *air(adapter="unix:/nonexistent")),
    bad(UNAVAILABLE, "/nonexistent", *air(adapter="serial:/nonexistent")),
    bad(UNAVAILABLE, ("127.0.0.1:1", "refused"), *air(adapter="tcp:127.0.0.1:1")),
    bad(NO_INPUT, "/nonexistent.json", "advertise", "/nonexistent.json"),
    bad(NO_INPUT, "/nonexistent.json", "profile", "check", "/nonexistent.json"),
    bad(USAGE, "--listen", "controller"),
    bad(USAGE, "unix:PATH", "controller", "--listen", "bogus"),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_bad_input_is_refused_with_its_place_and_remedy(row):
    result = pharos.run(*row.arguments, stdin=row.stdin)
    assert result.code == row.code, result
    assert result.out == ""
    assert result.err.startswith("pharos: ")
    assert [word for word in row.words if word not in result.err] == [], result.err


@pytest.mark.parametrize("interval, model, allowed", [("99.375", "core-4", "100 ms...10240 ms"),
                                                      ("20000", "raspberry-pi", "20 ms...10240 ms")])
def test_an_interval_outside_the_range_of_this_controller_is_refused(interval, model, allowed):
    result = pharos.run(*air("--interval-ms", interval, "--like", model))
    # 64 as an option out of range, or 78 as what a well-formed profile says.
    assert result.code in (USAGE, REFUSED_PROFILE) and result.out == ""
    assert f"{interval} ms" in result.err and allowed in result.err
    assert re.search(r"\b(\w+) \1\b", result.err) is None, f"a word twice: {result.err}"


@pytest.mark.parametrize("text, code", [("{", DATA), ("", DATA), ("root:x:0", DATA), ("[]", REFUSED_PROFILE),
                                        ("{}", REFUSED_PROFILE), ('{"version": 2}', REFUSED_PROFILE)])
def test_a_profile_that_is_no_json_differs_from_one_that_is_wrong(text, code, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    result = pharos.run("advertise", path, "--adapter", "virtual", "--duration-s", "0.1")
    assert (result.code, result.out) == (code, ""), result
    assert re.match(rf"pharos: {re.escape(str(path))}:\d+:\d+: ", result.err)
    assert pharos.run("profile", "check", path).code == 1


# ---- numbers and octets as people have them
@pytest.mark.parametrize("text", ["02 01 06", "02:01:06", "020106", "02 01:06"])
def test_hex_is_taken_with_and_without_separators(text):
    assert json.loads(pharos.checked("decode", text, "--json").out)["octets"] == "020106"


@pytest.mark.parametrize("octets", [frames.UID.octets.hex(), frames.UID.octets.hex().upper()])
def test_hex_is_taken_in_either_case(octets):
    assert json.loads(pharos.checked("decode", octets, "--json").out)["octets"] == frames.UID.octets.hex()


@pytest.mark.parametrize("words", [("--measured-power-dbm", "-59"), ("--measured-power-dbm=-59",)])
def test_a_negative_number_follows_its_option_either_way(words):
    assert pharos.encode(*frames.IBEACON.options[:-2], *words) == frames.IBEACON.octets


@pytest.mark.parametrize("text, milliseconds", [("100", 100), ("100ms", 100), ("1.28s", 1280), ("152.5", 152.5),
                                                ("100.3125", 100.625), ("100.3", 100)])
def test_an_interval_is_taken_as_people_have_it(text, milliseconds):
    lines = pharos.checked(*air("--interval-ms", text, "--dry-run", "--json")).lines()
    sent = bytes.fromhex(next(line["hex"] for line in lines if line["opcode"] == "0x2006"))
    assert int.from_bytes(sent[4:6], "little") * 0.625 == milliseconds


# ---- formats
def test_every_format_holds_the_same_octets():
    octets, options = frames.URL.octets, frames.URL.options
    assert json.loads(pharos.checked("encode", *options, "--format", "json").out)["octets"] == octets.hex()
    for language in ("c", "swift"):
        text = pharos.checked("encode", *options, "--format", language).out
        assert bytes(int(word, 16) for word in re.findall(r"0x([0-9a-f]{2})", text)) == octets
    # Parameters, data, enable: what puts it on the air.
    commands = [line.split() for line in pharos.checked("encode", *options, "--format", "hcitool").out.splitlines()]
    assert [words[3:6] for words in commands] == [["cmd", "0x08", opcode] for opcode in ("0x0006", "0x0008", "0x000a")]
    sent = bytes(int(word, 16) for word in commands[1][6:])
    assert sent == bytes([len(octets)]) + octets.ljust(31, b"\0")


@pytest.mark.parametrize("frame", frames.FIXED, ids=lambda frame: frame.name)
def test_every_octet_is_explained(frame):
    text = pharos.checked("encode", *frame.options, "--explain").out
    rows = re.findall(r"^ *(\d+) +([0-9a-f]{2}) +(\S.*)$", text, re.MULTILINE)
    assert [int(offset) for offset, _, _ in rows] == list(range(len(frame.octets)))
    assert bytes(int(octet, 16) for _, octet, _ in rows) == frame.octets


@pytest.mark.parametrize("octets, code", [(frames.URL.octets.hex(), 0), ("0201060303aafe0916aafe10fb030e2e62", 1),
                                          ("0201", 1), ("0201060303aafe0916aafe11fb03612e62", 1),
                                          ("02010600000001", 1)])
def test_lint_tells_by_its_exit_code_whether_every_rule_holds(octets, code):
    result = pharos.run("decode", "--lint", octets)
    assert result.code == code and result.out


def test_nothing_is_coloured_where_no_terminal_is():
    for arguments in (("encode", *frames.URL.options, "--explain"), ("decode", frames.URL.octets.hex()), air(),
                      air("--dry-run"), ("adapters",), ("--help",)):
        result = pharos.run(*arguments)
        assert "\x1b" not in result.out + result.err


# ---- advertise
def test_what_happens_is_one_json_line_each():
    on_air, off_air = pharos.checked(*air("--json", "--interval-ms", "100", "--radio-power-dbm", "0")).lines()
    assert (on_air["event"], off_air["event"]) == ("on-air", "off-air")
    assert (on_air["type"], on_air["adapter"]) == ("eddystone-uid", "virtual")
    assert on_air["octets"] == frames.UID.octets.hex()
    assert (on_air["intervalMs"], on_air["grantedIntervalMs"], on_air["radioPowerDbm"]) == (100, 100, 0)
    assert {"address", "grantedRadioPowerDbm", "family", "pdu"} <= set(on_air)
    assert {"events", "eventsCounted"} <= set(off_air)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well_and_soon(how, advertise):
    beacon = advertise(*frames.UID.options, "--adapter", "virtual")
    began = time.monotonic()
    assert beacon.interrupt(how) == 0
    assert time.monotonic() - began < 3


def test_it_ends_after_its_duration():
    began = time.monotonic()
    pharos.checked("advertise", *frames.UID.options, "--adapter", "virtual", "--duration-s", "1")
    assert 1 <= time.monotonic() - began < 4


def test_the_same_box_and_name_give_the_same_address():
    addresses = {pharos.checked(*air("--json")).lines()[0]["address"] for _ in range(3)}
    assert len(addresses) == 1 and int(addresses.pop()[:2], 16) >= 0xC0


def test_a_dry_run_needs_no_adapter_and_leaves_no_file(tmp_path):
    pharos.checked(*air("--dry-run"), cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_adapters_are_listed_as_json():
    assert isinstance(json.loads(pharos.checked("adapters", "--json").out)["adapters"], list)


@pytest.mark.parametrize("words, code, said", [
    ("encode ibeacon --version", 0, "0.2.0"),
    ("encode ibeacon --help", 0, "USAGE: pharos encode ibeacon "),
    ("fleet keys agree --nonsense", USAGE, "See 'pharos fleet keys agree --help'"),
    ("encode ibeacon help", USAGE, "See 'pharos encode ibeacon --help'"),
    ("fleet keys --generate-completion-script fish", 0, "__pharos_should_offer_completions"),
])
def test_a_command_answers_as_one_of_the_whole_program(words, code, said):
    """A command is parsed alone where it is given as it should be, and by the whole tree for all else."""
    result = pharos.run(*words.split())
    assert result.code == code
    assert said in result.out + result.err


@pytest.mark.parametrize("arguments", [("--help",), ("encode", "--help"), ("decode", "--help"), ("advertise", "--help"),
                                       ("controller", "--help"), ("adapters", "--help"), ("profile", "--help")])
def test_every_command_has_help(arguments):
    assert "USAGE: pharos" in pharos.checked(*arguments).out


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Samples, a map of a site, and a walk in it, in one directory."""
    folder = tmp_path_factory.mktemp("shelf")
    for name in "lobby-north", "fleets/museum", "sites/museum-ground-floor", "inventories/museum-tools":
        pharos.checked("sample", name, "--output", folder / f"{name.split('/')[-1]}.json")
    pharos.checked("map", "fit", "--from-site", "museum-ground-floor.json", "--output", "map.json", cwd=folder)
    pharos.checked("map", "simulate", "museum-ground-floor.json", "--path", "tour", "--output", "walk.jsonl", "--truth",
                   "truth.csv", cwd=folder)
    return folder


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8", "TERM": "dumb"}], ids=["C", "dumb"])
@pytest.mark.parametrize("words", [
    "decode 0201060303aafe1116aafe20000bb815800000000100000001 --explain",
    "encode tlm --battery-mv 3000 --temperature-c 21.5 --explain",
    "advertise lobby-north.json --dry-run", "profile check lobby-north.json", "fleet check museum.json",
    "plan interval --beacons 50 --within 15s --probability 95%", "plan collisions --beacons 50 --interval-ms 300",
    "map show map.json", "map fit --from-site museum-ground-floor.json --output other.json",
    "locate map.json --from walk.jsonl --all-algorithms --truth truth.csv", "inventory list museum-tools.json",
    "sample", "decode --help", "locate --help", "plan --help", "decode zz",
], ids=lambda words: " ".join(words.split()[:2]))
def test_text_in_plain_locales_is_ascii(shelf, words, environment):
    done = subprocess.run([pharos.PROGRAM, *words.split()], capture_output=True, timeout=60, cwd=shelf,
                          env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    assert len(done.stdout + done.stderr) > 20
    assert done.stdout.isascii() and done.stderr.isascii(), done.stdout + done.stderr


def test_help_is_ascii():
    assert json.dumps(pharos.commands(), ensure_ascii=False).isascii()


def test_plain_locales_change_neither_json_nor_files(shelf):
    name = "Büro – 1"
    (shelf / "office.json").write_text(json.dumps({"version": 1, "name": "office", "title": name, "items": []}))
    for words in ("inventory", "list", "office.json", "--json"), ("inventory", "list", "office.json"):
        done = subprocess.run([pharos.PROGRAM, *words], capture_output=True, timeout=60, cwd=shelf,
                              env={**os.environ, "LC_ALL": "C"})
        assert done.returncode == 0 and (name.encode() in done.stdout) == ("--json" in words)


def on_terminal(columns: int, *arguments) -> str:
    """Standard output of a command whose standard output is a terminal of this width."""
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([pharos.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=writer,
                               stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    os.close(writer)
    written = b""
    while True:
        try:
            piece = os.read(reader, 1 << 16)
        except OSError:  # the program has ended
            break
        if not piece:
            break
        written += piece
    os.close(reader)
    process.wait(timeout=60)
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("arguments", [
    ("doctor",), ("sample",), ("plan", "scanners"),
    ("encode", "ibeacon", "--uuid", "fb0b57a2-8228-44cd-913a-94a122ba1206", "--major", "1", "--minor", "2",
     "--measured-power-dbm", "-59", "--explain"),
    ("plan", "density", "--interval-ms", "500", "--detect-within-s", "5", "--probability", "0.95"),
    ("plan", "collisions", "--beacons", "50,100,150,200,250,300,350,400", "--interval-ms", "100")])
def test_no_word_is_broken_at_the_edge_of_a_terminal(arguments):
    whole = pharos.run(*arguments, timeout=60).out
    for columns in (80, 60):
        text = on_terminal(columns, *arguments)
        assert max(map(len, text.splitlines())) <= columns, (columns, text)
        # The same words in the same order; a wide comparison becomes several tables.
        if "50,100,150,200,250,300,350,400" not in arguments:
            assert text.split() == whole.split(), (columns, text)
