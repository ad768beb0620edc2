"""Controllers that do not answer, answer wrongly or vanish: a clear end within the time limit, or carrying on.

Stock Bumble answers no vendor command at all; its faults with other commands are those of faulty_controller.py.
"""
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

import frames
import peers
import pharos

NO_ANSWER, REFUSED, GONE = 75, 76, 69
RESET, READ_VERSION, READ_FEATURES = 0x0C03, 0x1001, 0x2003
SET_PARAMETERS, SET_DATA, ENABLE = 0x2036, 0x2037, 0x2039
BROADCOM, ZEPHYR = 15, 0x05F1
#: Seconds until the end: 2 s for an answer, three resets at most, and room for a loaded machine.
LIMIT = 15


class Row(NamedTuple):
    fault: str
    opcode: int
    code: int
    #: What the message must say.
    words: tuple[str, ...] = ()
    #: Of a legacy controller.
    manufacturer: int | None = None

    def __str__(self):
        return f"{self.fault}-{self.opcode:04X}" + (f"-of-{self.manufacturer}" if self.manufacturer else "")

    @property
    def json(self) -> str:
        row = {"fault": self.fault, "opcode": self.opcode}
        return json.dumps(row | ({"manufacturer": self.manufacturer, "legacy": True} if self.manufacturer else {}))


ROWS = [
    Row("silent", RESET, NO_ANSWER, ("0x0C03", "2 s")),
    Row("silent", READ_VERSION, NO_ANSWER, ("0x1001", "2 s")),
    Row("silent", READ_FEATURES, NO_ANSWER, ("0x2003", "2 s")),
    Row("silent", SET_PARAMETERS, NO_ANSWER, ("0x2036", "2 s")),
    Row("silent", ENABLE, NO_ANSWER, ("0x2039", "2 s")),
    Row("wrong-opcode", SET_DATA, NO_ANSWER, ("0x2037",)),
    Row("cut-short", SET_DATA, NO_ANSWER, ("0x2037",)),
    Row("zero-credits", RESET, NO_ANSWER),
    Row("zero-credits", SET_DATA, NO_ANSWER),
    Row("hardware-error", SET_DATA, NO_ANSWER, ("0x2037",)),
    Row("refused", RESET, REFUSED, ("0x0C03", "0x0C", "Command Disallowed")),
    Row("refused", SET_DATA, REFUSED, ("0x2037", "0x0C", "Command Disallowed")),
    Row("status-refused", SET_DATA, REFUSED, ("0x2037", "0x0C", "Command Disallowed")),
    Row("refused", ENABLE, REFUSED, ("0x2039", "0x0C", "Command Disallowed")),
    Row("short-return", READ_VERSION, REFUSED, ("0x1001", "too few")),
    Row("garbage", SET_DATA, REFUSED, ("0x77",)),
    Row("vanish", READ_VERSION, GONE),
    Row("vanish", SET_DATA, GONE),
    Row("none", RESET, 0),
    Row("late", RESET, 0),
    Row("late", SET_DATA, 0),
    Row("strange-event", SET_DATA, 0),
    Row("long-return", SET_DATA, 0),
    # Vendor commands are optional: their silence costs time and power control, not the beacon.
    Row("none", RESET, 0, manufacturer=BROADCOM),
    Row("none", RESET, 0, manufacturer=ZEPHYR),
]


class Outcome(NamedTuple):
    result: pharos.Result
    seconds: float
    #: Opcode and parameters of every command that came.
    commands: list[tuple[int, bytes]]


@pytest.fixture(scope="module")
def outcomes(start_shared, tmp_path_factory):
    """Every row run once, some at a time: most of it is waiting."""
    folder = tmp_path_factory.mktemp("faulty")
    controllers = start_shared(sys.executable, "-u", peers.HERE / "faulty_controller.py", folder,
                               *[row.json for row in ROWS])
    controllers.wait(lambda line: line.get("text") == "ready", 30)

    def play(row: Row) -> tuple[pharos.Result, float]:
        began = time.monotonic()
        result = pharos.run("advertise", *frames.UID.options, "--radio-power-dbm", "-8", "--interval-ms", "100",
                            "--adapter", f"unix:{folder / str(ROWS.index(row))}", "--duration-s", "0.3", "--json",
                            timeout=60)
        return result, time.monotonic() - began

    with ThreadPoolExecutor(6) as pool:
        played = list(pool.map(play, ROWS))
    controllers.during(0.2)
    commands = [[(line["opcode"], bytes.fromhex(line["parameters"])) for line in controllers.lines
                 if line.get("row") == number] for number in range(len(ROWS))]
    return {row: Outcome(*played, sent) for row, played, sent in zip(ROWS, played, commands, strict=True)}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_faulty_controller_ends_in_a_clear_error_or_in_a_beacon(row, outcomes):
    result, seconds, _ = outcomes[row]
    assert result.code == row.code, result
    assert seconds < LIMIT
    if row.code == 0:
        assert [line["event"] for line in result.lines()] == ["on-air", "off-air"]
    else:
        assert result.out == "" and result.err.startswith("pharos: ") and result.err.count("\n") == 1
        assert all(word in result.err for word in row.words), result.err


@pytest.mark.parametrize("row", [row for row in ROWS if row.opcode == SET_DATA and row.code], ids=str)
def test_where_data_could_not_be_set_nothing_is_switched_on(row, outcomes):
    opcodes = [opcode for opcode, _ in outcomes[row].commands]
    assert SET_DATA in opcodes
    assert not [sent for opcode, sent in outcomes[row].commands if opcode == ENABLE and sent[0] == 1]


@pytest.mark.parametrize("manufacturer, opcode", [(BROADCOM, 0xFC26), (ZEPHYR, 0xFC01)])
def test_a_vendor_command_is_tried_and_its_silence_is_reported(manufacturer, opcode, outcomes):
    result, _, commands = outcomes[Row("none", RESET, 0, manufacturer=manufacturer)]
    assert opcode in [sent for sent, _ in commands]
    on_air = result.lines()[0]
    assert on_air["radioPowerDbm"] == -8 and on_air["grantedRadioPowerDbm"] != -8
    assert on_air["radioPowerNote"]


def test_no_vendor_command_is_sent_blindly(outcomes):
    for row, outcome in outcomes.items():
        if row.manufacturer is None:
            assert not [opcode for opcode, _ in outcome.commands if opcode >= 0xFC00]


# ---- listening
SCAN_PARAMETERS = 0x2041


@pytest.mark.parametrize("fault, opcode, code, words", [
    ("silent", READ_VERSION, NO_ANSWER, ("0x1001", "2 s")),
    ("vanish", READ_VERSION, GONE, ()),
    # A controller that refuses parameters says that it scans; one that goes on doing so for ever is of no use.
    ("refused", SCAN_PARAMETERS, GONE, ("does not stop",)),
])
def test_a_controller_that_cannot_be_listened_to_ends_the_scan(fault, opcode, code, words, start_shared, tmp_path):
    controller = start_shared(sys.executable, "-u", peers.HERE / "faulty_controller.py", tmp_path,
                              json.dumps({"fault": fault, "opcode": opcode}))
    controller.wait(lambda line: line.get("text") == "ready", 30)
    result = pharos.run("scan", "--adapter", f"unix:{tmp_path / '0'}", "--duration-s", "5", "--json", timeout=60)
    assert result.code == code, result
    assert result.out == "" and result.err.startswith("pharos: ") and result.err.count("\n") == 1, result.err
    assert all(word in result.err for word in words), result.err
