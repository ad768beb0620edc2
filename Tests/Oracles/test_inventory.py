"""`pharos inventory`: items, counts of recordings with known walks, reports read by other programs, hostile input."""
import base64
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from email import message_from_bytes
from email.header import decode_header, make_header
from pathlib import Path

import pytest
from PIL import Image

import pharos
from browser import Browser
from test_scan import UUID, address, ibeacon, recording, report, tlm

ROOT = Path(__file__).resolve().parents[2]


def needs(program):
    if shutil.which(program) is None:
        message = f"{program} is not installed"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    return program


def identity(number):
    return f"ibeacon:{UUID}-1-{number}"


def inventory(folder, numbers=(1, 2, 3), name="tools", **more):
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "name": name, "items": [
        {"id": f"item-{n}", "name": f"Thing {n}", "beacon": identity(n)} for n in numbers]} | more))
    return path


def heard(number, seconds, rssi=-50, power=-59, interval=0.2, sender=None):
    """The reports of a beacon in some seconds; a level for all, or one for each second."""
    packets = []
    for place, second in enumerate(seconds):
        level = rssi if isinstance(rssi, int) else rssi[place]
        at = second + 0.05
        while at < second + 1:
            packets.append((int(at * 1e6), report(sender or address(number), ibeacon(1, number, power), level)))
            at += interval
    return packets


def tape(folder, *parts, name="walk.btsnoop"):
    # The first packet begins the first round.
    packets = [(0, report(address(999), b"\2\1\6", -90))] + [packet for part in parts for packet in part]
    return recording(folder / name, sorted(packets, key=lambda packet: packet[0]))


def do(command, path, *words, code=0, **options):
    result = pharos.run("inventory", command, path, *words, timeout=120, **options)
    assert result.code == code, (result.code, result.out, result.err)
    return result


def start(path, *words, **options):
    return do("start", path, *words, "--json", **options).lines()


def states(path):
    return {each["id"]: each["states"] for each in json.loads(do("list", path, "--json").out)["items"]}


# ---- items
def test_items_are_added_edited_and_removed(tmp_path):
    path = tmp_path / "tools.json"
    do("new", path, "--title", "Werkzeug")
    assert do("new", path, code=64).err.endswith("it was left as it is\n")
    do("add", path, "drill", "--name", "Cordless drill", "--beacon", identity(1), "--position", "2.5,-1")
    added = json.loads(do("add", path, "--name", "Säge", "--beacon", identity(2), "--place", "shelf", "--json").out)
    assert added["id"] == "saege" and added["beacon"] == identity(2)
    for words, code in (
            (["drill", "--name", "x", "--beacon", identity(3)], 64),
            (["x", "--name", "x", "--beacon", identity(1)], 64),
            (["x", "--beacon", "ibeacon:1"], 64), (["x"], 64), (["--beacon", identity(4)], 64),
            (["x", "--beacon", "eid:0011223344556677"], 64), (["x", "--beacon", identity(4), "--position", "1"], 64),
            (["x", "--name", "a\x1b[31m", "--beacon", identity(4)], 64),
            (["a/b", "--beacon", identity(4)], 64), (["x", "--beacon", identity(4), "--nearest"], 64)):
        assert do("add", path, *words, code=code).err.startswith("pharos: ")
    do("edit", path, "drill", "--name", "Drill", "--note", "two batteries")
    do("edit", path, "drill", "--id", "drill-7")
    shown = json.loads(do("show", path, "drill-7", "--json").out)
    assert (shown["name"], shown["note"], shown["position"]) == ("Drill", "two batteries", [2.5, -1])
    text = do("show", path, "drill-7").out
    assert "position  2.5, -1\n" in text and "states" not in text
    assert "did you mean \"drill-7\"?" in do("show", path, "dril-7", code=64).err
    assert do("edit", path, "drill-7", code=64).err
    do("remove", path, "saege")
    do("remove", path, "saege", code=64)
    whole = json.loads(path.read_text())
    assert [each["id"] for each in whole["items"]] == ["drill-7"] and whole["title"] == "Werkzeug"
    listed = json.loads(pharos.checked("inventory", "list", tmp_path, "--json").out)["inventories"]
    assert [(each["name"], each["items"], each["lastCount"]) for each in listed] == [("tools", 1, None)]


def test_what_cannot_be_read_has_its_exit_code(tmp_path):
    assert do("show", tmp_path / "nowhere.json", code=66).err
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert do("show", broken, code=65).err and do("start", broken, code=65).err
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"version":1,"name":"a","items":[{"id":1}]}')
    assert "wrong.json:1:" in do("list", wrong, code=78).err
    assert do("check", wrong, code=1).out and do("check", broken, code=1).out
    assert do("check", tmp_path / "nowhere.json", code=66).err
    for command in ("report", "finish"):
        assert "start" in do(command, inventory(tmp_path), code=66).err
    assert do("list", inventory(tmp_path), "--missing", code=66).err
    assert do("start", inventory(tmp_path, []), code=78).err
    assert pharos.run("inventory", "strat").code == 64 and pharos.run("inventory").code == 0


def test_ten_people_who_add_at_once_lose_nothing(tmp_path):
    path = tmp_path / "tools.json"
    do("new", path)
    runs = [subprocess.Popen([pharos.PROGRAM, "inventory", "add", path, "--name", "Thing", "--beacon", identity(n)],
                             stdout=subprocess.DEVNULL) for n in range(10)]
    assert [run.wait() for run in runs] == [0] * 10
    items = json.loads(path.read_text())["items"]
    assert len({each["id"] for each in items}) == 10 and len({each["beacon"] for each in items}) == 10
    assert sorted(each.name for each in tmp_path.iterdir()) == ["tools.json"]


def test_the_check_says_what_cannot_be_found_in_time(tmp_path):
    path = inventory(tmp_path, beacons=[{"identity": identity(1), "intervalMs": 300},
                                        {"identity": identity(2), "intervalMs": 1000}],
                     rule="shared-queue", capacity=8)
    answer = json.loads(do("check", path, "--json").out)
    assert answer["good"] and [each["fastEnough"] for each in answer["beacons"]] == [True, False, None]
    assert [each for each in answer["warnings"] if each.startswith("item-2: the interval of 1000 ms is too long")]
    assert [each for each in answer["warnings"] if "one queue of 8" in each]
    do("check", inventory(tmp_path, site="nowhere.json", name="nowhere"), code=1)
    sample = json.loads(pharos.checked("inventory", "check", ROOT / "profiles/inventories/museum-tools.json",
                                       "--json").out)
    assert sample["good"] and len(sample["beacons"]) == 3


# ---- rule 4.6
def test_the_nearest_beacon_is_taken_after_more_than_three_rounds(tmp_path):
    path = tmp_path / "tools.json"
    do("new", path)
    walk = tape(tmp_path, heard(1, range(6), -52), heard(2, range(6), -70))
    answer = do("add", path, "drill", "--nearest", "--replay", walk)
    assert "beacon found after 4 s" in answer.err and identity(1) in answer.out
    # Three rounds, half a metre exceeded, and at -75 dBm are not enough.
    for number, part in enumerate((heard(3, range(3), -52), heard(3, range(8), -54), heard(3, range(8), -75, -85),
                                   heard(3, range(8), 127))):
        short = tape(tmp_path, part, name=f"{number}.btsnoop")
        assert "half a metre" in do("add", path, "--name", "x", "--nearest", "--replay", short, code=75).err
    assert "already belongs to drill" in do("add", path, "--name", "x", "--nearest", "--replay", walk, code=64).err
    assert len(json.loads(path.read_text())["items"]) == 1


# ---- rules 4.7 and 4.8
def test_a_count_finds_what_was_near_in_four_of_six_rounds(tmp_path):
    path = inventory(tmp_path, range(1, 8))
    walk = tape(
        tmp_path, heard(1, range(4)), heard(2, range(3)), heard(3, [0, 2, 3, 5]), heard(4, [0, 4, 5, 6]),
        heard(5, range(9), -60), heard(6, range(9), 127))
    lines = start(path, "--replay", walk, "--by", "ana")
    found = [(each["id"], each["afterS"]) for each in lines if each["event"] == "found"]
    assert found == [("item-1", 4), ("item-3", 6)]
    assert lines[-1]["event"] == "summary" and lines[-1]["found"] == 2 and lines[-1]["heard"] == 4
    assert states(path) == {"item-1": ["found"], "item-2": ["heard"], "item-3": ["found"], "item-4": ["heard"],
                            "item-5": ["heard"], "item-6": ["heard"], "item-7": ["missing"]}
    missing = json.loads(do("list", path, "--missing", "--json").out)["items"]
    assert [each["id"] for each in missing] == ["item-2", "item-4", "item-5", "item-6", "item-7"]
    # With --within-m, a larger distance is near enough.
    other = inventory(tmp_path, range(1, 8), name="far")
    assert [each["id"] for each in start(other, "--replay", walk, "--within-m", "1.2") if each["event"] == "found"] \
        == ["item-1", "item-5", "item-3"]


def test_the_shared_queue_of_the_seed_fails_with_many_beacons(tmp_path):
    parts = [heard(number, range(20)) for number in range(1, 8)]
    walk = tape(tmp_path, *parts)
    path = inventory(tmp_path, range(1, 8))
    result = do("start", path, "--replay", walk, "--rule", "shared-queue", "--capacity", "20", "--json")
    assert result.lines()[-1]["found"] == 0 and "share one queue of 20" in result.err
    assert start(path, "--replay", walk)[-1]["found"] == 7
    few = inventory(tmp_path, range(1, 6), name="few", rule="shared-queue", capacity=20)
    assert start(few, "--replay", walk)[-1]["found"] == 5


@pytest.mark.parametrize("interval", [0.1, 0.2, 0.3])
def test_nearly_all_are_found_within_six_seconds(tmp_path, interval):
    """One who walks stops for six seconds at each thing; each round is lost with one in ten."""
    chance = random.Random(interval)
    path = inventory(tmp_path, range(1, 61))
    parts = []
    for place in range(60):
        rounds = [second for second in range(place * 6, place * 6 + 6) if chance.random() > 0.1]
        parts.append(heard(place + 1, rounds, [round(chance.gauss(-53, 2)) for _ in rounds], interval=interval))
    found = [each for each in start(path, "--replay", tape(tmp_path, *parts)) if each["event"] == "found"]
    assert all(each["afterS"] <= (int(each["id"][5:])) * 6 for each in found)
    # 98.4 % are expected, with a standard deviation of 1.6 %.
    assert len(found) >= 57


# ---- people, receivers, counts
def test_several_people_and_receivers_are_one_count(tmp_path):
    path = inventory(tmp_path)
    first, second = tape(tmp_path, heard(1, range(5))), tape(tmp_path, heard(2, range(5)), name="other.btsnoop")
    start(path, "--replay", first, "--by", "ana")
    lines = start(path, "--replay", second, "--replay", first, "--by", "ben")
    assert [each["id"] for each in lines if each["event"] == "found"] == ["item-2"], "what ana found is not told again"
    answer = json.loads(do("report", path, "--json").out)
    assert answer["by"] == ["ana", "ben"] and len(answer["receivers"]) == 3 and not answer["finished"]
    assert {each["id"]: each["foundBy"] for each in answer["items"]} == {
        "item-1": "ana", "item-2": "ben", "item-3": None}
    ended = json.loads(do("finish", path, "--by", "cleo", "--json").out)
    assert ended["finished"] and ended["by"] == ["ana", "ben", "cleo"]
    do("finish", path, code=66)
    # The report of a finished count does not change; the next report contains the changes.
    do("remove", path, "item-3")
    do("add", path, "new", "--beacon", identity(9))
    start(path, "--replay", second, "--by", "ana")
    old, new = (json.loads(do("report", path, "--json", *words).out) for words in (["--count", ended["count"]], []))
    assert [each["id"] for each in old["items"]] == ["item-1", "item-2", "item-3"]
    assert new["previous"] == old["count"] and new["count"] == old["count"] + "-2"
    assert [(each["id"], each["change"]) for each in new["changes"]] == [
        ("item-1", "lost"), ("new", "added"), ("item-3", "removed")]
    assert "there is no such count" in do("report", path, "--count", "x", code=64).err


def test_states_of_copies_batteries_and_strangers(tmp_path):
    own, other = inventory(tmp_path), inventory(tmp_path, (3, 7), name="other")
    walk = tape(
        tmp_path, heard(1, range(5)), heard(1, range(5), sender="C0:00:00:00:99:99"), heard(2, range(5)),
        [(2_000_000, report(address(2), tlm(2100), -50))], heard(7, range(5)), heard(8, range(5)))
    assert start(own, "--replay", walk, "--foreign", other)[-1]["foreign"] == 1
    assert states(own) == {"item-1": ["found", "duplicate"], "item-2": ["found", "low-battery"], "item-3": ["missing"]}
    answer = json.loads(do("report", own, "--json").out)
    assert [(each["inventory"], each["id"], each["near"]) for each in answer["foreign"]] == [("other", "item-7", True)]
    assert answer["totals"] == {"items": 3, "found": 2, "heard": 0, "missing": 1, "foreign": 1, "duplicate": 1,
                                "lowBattery": 1}


def test_a_killed_count_keeps_what_was_counted_and_goes_on(tmp_path):
    path = inventory(tmp_path, (2,))
    run = subprocess.Popen(
        [pharos.PROGRAM, "inventory", "start", path, "--adapter", "virtual", "--json", "--by", "ana"],
        stdout=subprocess.PIPE, text=True)
    assert json.loads(run.stdout.readline())["event"] == "found"
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert states(path) == {"item-2": ["found"]}
    # What a power failure has left of the last line.
    log = next(each for each in (tmp_path / "tools.counts").glob("*/*.jsonl") if each.name != "count.jsonl")
    with log.open("a") as file:
        file.write('{"event":"found","item":"it')
    answer = json.loads(do("report", path, "--json").out)
    assert answer["receivers"][0]["end"] is None and answer["warnings"] == [] and answer["totals"]["found"] == 1
    assert start(path, "--adapter", "virtual", "--duration-s", "1")[-1]["found"] == 1


def test_finishing_ends_who_still_counts(tmp_path):
    path = inventory(tmp_path, (2, 3))
    run = subprocess.Popen([pharos.PROGRAM, "inventory", "start", path, "--adapter", "virtual", "--json"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.stdout.readline()
    do("finish", path)
    _, errors = run.communicate(timeout=15)
    assert run.returncode == 0 and "is finished" in errors
    assert json.loads(do("report", path, "--json").out)["receivers"][0]["end"] is not None


def test_a_count_on_the_virtual_air_from_start_to_report(tmp_path):
    path = tmp_path / "museum-tools.json"
    shutil.copy(ROOT / "profiles/inventories/museum-tools.json", path)
    site = ["--site", ROOT / "profiles/sites/museum-ground-floor.json"]
    begun = time.monotonic()
    lines = start(path, "--adapter", "virtual", "--known", ROOT / "profiles/lobby-north.json", "--duration-s", "8")
    assert time.monotonic() - begun < 20
    found = {each["id"] for each in lines if each["event"] == "found" and each["afterS"] <= 6}
    assert found == {"drill", "saw", "projector"}
    do("finish", path)
    page = tmp_path / "map.html"
    do("map", path, *site, "--html", page, "--svg", tmp_path / "map.svg")
    assert page.read_text().count("<circle") >= 3 and "Projector" in page.read_text()


def test_signals_and_a_reader_that_leaves_end_it_well(tmp_path):
    path = inventory(tmp_path, (2,))
    run = subprocess.Popen([pharos.PROGRAM, "inventory", "start", path, "--adapter", "virtual"],
                           stdout=subprocess.PIPE, text=True)
    run.stdout.readline()
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=15)
    assert run.returncode == 0 and "1 of 1 found" in out
    assert json.loads(do("report", path, "--json").out)["receivers"][0]["end"] is not None


@pytest.mark.parametrize("words", [
    ["--within-m", "0"], ["--within-m", "x"], ["--rounds", "3"], ["--rounds", "61"], ["--capacity", "20"],
    ["--rule", "shared-queue"], ["--rule", "queue"], ["--receivers", "all", "--replay", "x"], ["--by", ""],
    ["--by", "a\nb"], ["--count", "../x"], ["--count", ".."], ["--adapter", "hci0:mgmt"], ["--receivers", "hci0:mgmt"],
    ["--receivers", "virtual", "virtual"], ["--replay", "x", "--duration-s", "1"]])
def test_values_that_cannot_be_are_refused(tmp_path, words):
    path = inventory(tmp_path)
    assert do("start", path, *words, code=64).err.startswith("pharos: ")
    assert not (tmp_path / "tools.counts").exists()


def test_what_cannot_be_heard_leaves_a_clear_error(tmp_path):
    path = inventory(tmp_path)
    assert do("start", path, "--replay", tmp_path / "nothing", code=66).err
    noise = tmp_path / "noise"
    noise.write_bytes(random.Random(1).randbytes(5000))
    assert do("start", path, "--replay", noise, code=65).err


# ---- reports
@pytest.fixture
def counted(tmp_path):
    names = ["=cmd|'/C calc'!A0", "<script>alert(1)</script>", "Säge Пила Πριόνι 日本語 🛠 עברית", "x" * 200]
    path = inventory(tmp_path, range(1, 5), title="Werkzeug <b>&amp; mehr</b>")
    whole = json.loads(path.read_text())
    for item, name in zip(whole["items"], names, strict=True):
        item |= {"name": name, "place": "@SUM(A1)"}
    path.write_text(json.dumps(whole))
    start(path, "--replay", tape(tmp_path, heard(1, range(5)), heard(3, range(5), -80)), "--by", "Ana =1+1")
    do("finish", path, "--by", "ben")
    return path, names


def test_spreadsheets_get_text_and_no_formulas(tmp_path, counted):
    path, names = counted
    do("report", path, "--csv", tmp_path / "r.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text(), newline="")))
    assert [each["state"] for each in rows] == ["found", "missing", "heard", "missing"]
    assert all(not cell.startswith(("=", "+", "-5 ", "@", "\t", "\r")) for row in rows for cell in row.values())
    assert rows[2]["name"] == names[2] and rows[0]["name"].lstrip("'").startswith("=cmd")
    assert rows[0]["best_rssi_dbm"] == "-50"


def test_the_document_is_read_back(tmp_path, counted):
    needs("rsvg-convert")
    path, names = counted
    do("report", path, "--pdf", tmp_path / "r.pdf")
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    text = subprocess.run([needs("pdftotext"), "-layout", tmp_path / "r.pdf", "-"], check=True, capture_output=True,
                          text=True).stdout
    whole = "".join(text.split())
    for words in ("Werkzeug <b>&amp; mehr</b>", "1 of 4 found, 1 heard, not near, 2 missing",
                  "<script>alert(1)</script>", "Säge Пила Πριόνι", "item-4", "Ana =1+1", "signature", "walk.btsnoop"):
        assert "".join(words.split()) in whole, (words, text)
    environment = os.environ | {"PATH": "/nonexistent"}
    done = subprocess.run([pharos.PROGRAM, "inventory", "report", path, "--pdf", tmp_path / "no.pdf"],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 69 and "apt-get install librsvg2-bin" in done.stderr
    assert not (tmp_path / "no.pdf").exists()


def test_pages_show_names_as_text_and_ask_for_nothing(tmp_path, counted):
    path, names = counted
    page, plan = tmp_path / "r.html", tmp_path / "m.html"
    do("report", path, "--html", page)
    do("map", path, "--html", plan)
    browser = Browser(needs("chromium"))
    try:
        for file in (page, plan):
            browser.open(file)
            text = browser.value("document.body.innerText")
            assert all(name in text for name in names) and browser.value("document.scripts.length") == 0
            assert browser.value("document.querySelector('h1').textContent") == "Werkzeug <b>&amp; mehr</b>"
        assert browser.complaints() == []
        assert {each.split(":")[0] for each in browser.requests()} == {"file"}
    finally:
        browser.close()


def test_no_output_replaces_a_file_that_is_read(tmp_path, counted):
    path, _ = counted
    listed = json.loads(path.read_text())
    photo, site, page = tmp_path / "drill.pdf", tmp_path / "ground.svg", tmp_path / "page.html"
    photo.write_bytes(bytes.fromhex("89504e470d0a1a0a") + b"dots")
    shutil.copy(ROOT / "profiles/sites/museum-ground-floor.json", site)
    page.symlink_to(path)
    listed["site"], listed["items"][0]["photo"] = site.name, photo.name
    path.write_text(json.dumps(listed))
    before = {file: file.read_bytes() for file in (path, photo, site)}
    for words in (["report", path, "--html", page], ["report", path, "--csv", path], ["report", path, "--pdf", photo],
                  ["report", path, "--csv", site], ["map", path, "--html", page], ["map", path, "--svg", site],
                  ["map", path, "--site", site, "--svg", site]):
        refused = pharos.run("inventory", *words)
        assert refused.code == 64 and f"{words[-1]}: the command reads this file: give another file." in refused.err
    assert {file: file.read_bytes() for file in before} == before


def test_photos_are_in_the_page_and_wrong_ones_are_named(tmp_path, counted):
    path, _ = counted
    image = bytes.fromhex("89504e470d0a1a0a") + b"dots"
    (tmp_path / "drill.png").write_bytes(image)
    (tmp_path / "page.jpg").write_text("<script>alert(1)</script>")
    listed = json.loads(path.read_text())
    first, second = listed["items"][0]["id"], listed["items"][1]["id"]
    do("edit", path, first, "--photo", "drill.png")
    refused = pharos.run("inventory", "edit", path, second, "--photo", "page.jpg")
    assert refused.code == 78 and refused.err == (
        f"pharos: {tmp_path / 'page.jpg'}: this is not a picture: use JPEG, PNG, GIF or WebP\n")
    later = pharos.run("inventory", "edit", path, second, "--photo", "later.jpg")
    assert later.code == 0 and "later.jpg: reports show no photo until it exists" in later.err, later.err
    told = do("report", path, "--html", tmp_path / "r.html")
    assert f"pharos: warning: {tmp_path / 'later.jpg'}: this picture does not exist\n" in told.err
    page = (tmp_path / "r.html").read_text()
    sources = re.findall(r'<img src="data:image/png;base64,([^"]*)" alt="Photo of ([^"]*)">', page)
    assert [base64.b64decode(text) for text, _ in sources] == [image] and page.count("<img") == 1
    check = do("check", path, "--json").lines()[0]
    assert any("later.jpg: this picture does not exist" in each for each in check["warnings"])


def test_the_document_contains_the_photos(tmp_path, counted):
    needs("rsvg-convert")
    path, _ = counted
    Image.new("RGB", (60, 40), (200, 30, 30)).save(tmp_path / "drill.jpg")
    (tmp_path / "saw.webp").write_bytes(b"RIFF\x04\0\0\0WEBPVP8 ")
    first, second = [item["id"] for item in json.loads(path.read_text())["items"][:2]]
    do("edit", path, first, "--photo", "drill.jpg")
    do("edit", path, second, "--photo", "saw.webp")
    told = do("report", path, "--pdf", tmp_path / "r.pdf")
    assert "the PDF leaves out the photos of 1 item, which are WebP: use JPEG, PNG or GIF\n" in told.err
    images = subprocess.run([needs("pdfimages"), "-list", tmp_path / "r.pdf"], check=True, capture_output=True,
                            text=True)
    assert [line.split()[3:5] for line in images.stdout.splitlines()[2:]] == [["60", "40"]], images.stdout


def test_mail_goes_by_sendmail_without_a_shell(tmp_path, counted):
    path, _ = counted
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sendmail").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/words\nexec /bin/cat >{tmp_path}/mail\n')
    (programs / "sendmail").chmod(0o755)
    environment = os.environ | {"PATH": str(programs)}

    def mail(*words):
        return subprocess.run([pharos.PROGRAM, "inventory", "report", path, *words], env=environment,
                              capture_output=True, text=True)

    done = mail("--mail-to", "store@example.org", "--mail-to", "ana+x@example.org")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words").read_text().split() == ["-i", "--", "store@example.org", "ana+x@example.org"]
    message = message_from_bytes((tmp_path / "mail").read_bytes())
    assert message["To"].split(",\n ") == ["store@example.org", "ana+x@example.org"]
    assert str(make_header(decode_header(message["Subject"]))).startswith("Werkzeug <b>&amp; mehr</b>: count ")
    assert sorted(message.keys()) == ["Content-Type", "MIME-Version", "Subject", "To"]
    text, page = message.get_payload()
    assert "1 of 4 found" in text.get_payload(decode=True).decode()
    assert page.get_content_type() == "text/html" and b"<!doctype html>" in page.get_payload(decode=True)
    for bad in ("-oQ/tmp@x", "a@b\nBcc: c@d", "a b@c", "a", "", "a@b,c@d", "$(id)@x y"):
        (tmp_path / "mail").unlink(missing_ok=True)
        assert mail("--mail-to", bad).returncode == 64 and not (tmp_path / "mail").exists()
    (programs / "sendmail").write_text("#!/bin/sh\necho no queue >&2\nexit 75\n")
    failed = mail("--mail-to", "a@b")
    assert failed.returncode == 70 and "no queue" in failed.stderr


def test_ten_thousand_items_are_counted_and_reported(tmp_path):
    path = inventory(tmp_path, range(10_000))
    walk = tape(tmp_path, *(heard(number, range(5), interval=1) for number in range(0, 10_000, 100)))
    assert start(path, "--replay", walk)[-1]["found"] == 100
    do("finish", path)
    do("report", path, "--html", tmp_path / "r.html", "--csv", tmp_path / "r.csv")
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 10_001


def test_clocks_that_go_back_and_logs_that_are_none(tmp_path):
    path = inventory(tmp_path)
    walk = tape(tmp_path, heard(1, range(5)))
    start(path, "--replay", walk)
    folder = next((tmp_path / "tools.counts").iterdir())
    (folder / "zz.jsonl").write_text("nonsense\n")
    log = next(each for each in folder.glob("2*.jsonl"))
    with log.open("a") as file:
        file.write("garbage\n" + json.dumps({"event": "seen", "beacon": identity(2), "first": "2030-01-01T00:00:00Z",
                                             "last": "2001-01-01T00:00:00Z", "reports": 1}) + "\n")
    answer = json.loads(do("report", path, "--json").out)
    assert len(answer["warnings"]) == 2
    item = next(each for each in answer["items"] if each["id"] == "item-2")
    assert (item["firstHeard"], item["lastHeard"]) == ("2001-01-01T00:00:00Z", "2030-01-01T00:00:00Z")


def test_the_last_count_is_that_which_began_last(tmp_path):
    path = inventory(tmp_path)
    walk = tape(tmp_path, heard(1, range(8)))
    start(path, "--replay", walk, "--count", "spring")
    do("finish", path)
    time.sleep(1.1)
    start(path, "--replay", walk)
    start(path, "--replay", walk)
    counts = sorted(each.parent.name for each in tmp_path.rglob("count.jsonl"))
    assert len(counts) == 2, counts
    assert json.loads(do("report", path, "--json").out)["count"] != "spring"


def test_one_signal_ends_all_receivers_of_a_count(tmp_path):
    path = inventory(tmp_path)
    airs = [f"unix:{tmp_path / 'air'}-{number}" for number in range(2)]
    servers = [
        subprocess.Popen([pharos.PROGRAM, "controller", "--listen", air], stdout=subprocess.PIPE) for air in airs]
    try:
        for server in servers:
            assert b"listening" in server.stdout.readline()
        for how in [signal.SIGINT, signal.SIGTERM] * 3:
            run = subprocess.Popen(
                [pharos.PROGRAM, "inventory", "start", path, "--receivers", *airs, "--json"], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            time.sleep(1.5)
            run.send_signal(how)
            assert run.wait(10) == 0, run.stderr.read()
    finally:
        for server in servers:
            server.kill()
            server.wait()


def test_a_failed_start_leaves_no_open_count(tmp_path):
    path = inventory(tmp_path)
    failed = pharos.run("inventory", "start", path, "--adapter", f"unix:{tmp_path}/nothing")
    assert failed.code != 0
    assert pharos.run("inventory", "finish", path).err.count("no count is open") == 1
    assert "there are no counts yet" in pharos.run("inventory", "report", path).err


def test_a_broken_file_is_named_in_a_list_of_inventories(tmp_path):
    path = inventory(tmp_path)
    path.write_text(path.read_text()[:-3])
    (tmp_path / "site.json").write_text('{"version": 1, "name": "site"}')
    broken = pharos.checked("inventory", "list", tmp_path)
    assert broken.err.startswith(f"pharos: warning: {path}:") and broken.err.count("\n") == 1
    assert broken.out == f"No inventory in {tmp_path} can be read.\n"
    inventory(tmp_path, (), "other", items=[{"id": "a"}])
    both = pharos.checked("inventory", "list", tmp_path)
    assert "other.json" in both.err and "tools.json" in both.err and "site.json" not in both.err
