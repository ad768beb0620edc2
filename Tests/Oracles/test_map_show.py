"""`map show` and `map fit --from-site`: the page in a real Chromium, its numbers against the survey's, its silence."""
import json
import math
import os
import random
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import pharos
from browser import Browser

SCREENSHOTS = Path(__file__).resolve().parents[2] / ".build" / "map-page"
BEACONS = [(1.2, 2.4), (4.3, 0.6), (3.1, 5.5), (8, 0.4), (10, 5.6), (9, 3), (13, 1), (16.5, 4.8), (14.9, 4.2)]
HOSTILE = "<script>alert(1)</script>\"'&"
FIT = ("map", "fit", "--algorithm", "field", "--output")


def site(path: Path, **more) -> Path:
    beacons = [{"name": f"beacon-{number + 1}", "position": spot} for number, spot in enumerate(BEACONS)]
    path.write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [18, 0], [18, 6], [0, 6]],
        "walls": [{"from": [6, 0], "to": [6, 5], "attenuationDb": 6}],
        "beacons": beacons, "target": {"detectWithinS": 10, "probability": 0.9}, **more}))
    return path


@pytest.fixture(scope="module")
def survey() -> list[dict]:
    """Readings at 27 places on two days, one place with a name that means no good."""
    chance, rows = random.Random(4), []
    for session in ("may", "june"):
        for place in range(27):
            x, y = place % 9 * 2 + 1, place // 9 * 2 + 1
            shadows = [chance.gauss(0, 3) for _ in BEACONS]
            for second in range(6):
                for number, (east, north) in enumerate(BEACONS):
                    distance = max(0.5, math.hypot(x - east, y - north))
                    level = -59 - 20 * math.log10(distance) + shadows[number] + chance.gauss(0, 4)
                    if level > -84:
                        rows.append({"session": session, "place": HOSTILE if place == 4 else f"P{place + 1}", "x": x,
                                     "y": y, "floor": "", "heading": "", "time": second,
                                     "beacon": f"beacon-{number + 1}", "rssi": round(level)})
    return rows


@pytest.fixture(scope="module")
def made(tmp_path_factory, survey) -> dict:
    """The survey's map with its page, its drawing and its numbers."""
    folder = tmp_path_factory.mktemp("map")
    quoted = [",".join('"' + str(cell).replace('"', '""') + '"' for cell in row.values()) for row in survey]
    (folder / "survey.csv").write_text("\n".join([",".join(survey[0]), *quoted]) + "\n")
    pharos.checked(*FIT, folder / "map.json", folder / "survey.csv", "--beacon-positions", site(folder / "site.json"),
                   timeout=600)
    pharos.checked("map", "show", folder / "map.json", "--site", folder / "site.json", "--html", folder / "map.html",
                   "--svg", folder / "map.svg", timeout=600)
    told = json.loads(pharos.checked("map", "show", folder / "map.json", "--json", timeout=600).out)
    return {"folder": folder, "page": folder / "map.html", "json": told}


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        message = "chromium is not installed: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    browser = Browser(program)
    yield browser
    browser.close()


def opened(browser: Browser, page: Path, **options):
    browser.events.clear()
    browser.open(page, **options)
    browser.wait("document.getElementById('controls').dataset.state === 'done'")


def choose(browser: Browser, **controls):
    for name, value in controls.items():
        browser.value(f"""(() => {{ const control = document.getElementById({json.dumps(name)});
            control.value = {json.dumps(str(value))};
            control.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()""")


def text(browser: Browser, name: str) -> str:
    return browser.value(f"document.getElementById({json.dumps(name)}).textContent")


def test_numbers_are_those_of_the_survey(made, survey):
    told = made["json"]
    assert told["source"] == "survey" and told["stepM"] == 0.5 and len(told["places"]) == 27
    for number, beacon in enumerate(told["beacons"]):
        heard = [row for row in survey if row["beacon"] == beacon["key"]]
        assert beacon["seconds"] == len(heard)
        assert beacon["places"] == len({row["place"] for row in heard})
        means = []
        for place in {row["place"] for row in heard}:
            levels = [row["rssi"] for row in heard if row["place"] == place]
            means.append(sum(levels) / len(levels))
        assert beacon["strongestDbm"] == pytest.approx(max(means), abs=0.002)
        assert beacon["position"] == pytest.approx(BEACONS[number], abs=0.001)
        assert 0 < beacon["residualRmsDb"] < 6
    honest = {place["place"]: place["meanErrorM"] for place in told["evaluation"]["byPlace"]}
    for place in told["places"]:
        # Not every visit is left out where there are many.
        assert place["errorM"] == honest.get(place["name"], place["errorM"]) and place["errorM"] > 0
        assert sum(other["share"] for other in place["takenFor"]) < 1
        assert all(other["place"] != place["name"] for other in place["takenFor"])
    assert any(sentence.startswith("One more beacon near (") for sentence in told["advice"])
    assert any(sentence.startswith("One more stay at ") for sentence in told["advice"])


def test_the_heat_map_fits_a_terminal(made):
    shown = pharos.checked("map", "show", made["folder"] / "map.json", timeout=300).out
    assert "located by field" in shown and "Expected error (m)" in shown and "o place" in shown
    assert max(map(len, shown.splitlines()[2:12])) <= 80
    field = pharos.checked("map", "show", made["folder"] / "map.json", "--beacon", "beacon-3", timeout=300).out
    assert "beacon-3 (dBm)" in field
    heard = pharos.checked("map", "show", made["folder"] / "map.json", "--layer", "heard", timeout=300).out
    assert "Beacons received (beacons)" in heard


def test_the_page_asks_nothing_and_complains_of_nothing(browser, made):
    opened(browser, made["page"])
    for layer in range(browser.value("document.getElementById('layer').options.length")):
        choose(browser, layer=layer)
    assert set(browser.requests()) == {made["page"].resolve().as_uri()}
    assert browser.complaints() == []
    assert made["page"].stat().st_size < 500_000
    assert browser.value("document.querySelectorAll('script').length") == 2


def test_a_layer_has_its_levels_and_residuals(browser, made, survey):
    opened(browser, made["page"])
    layers = browser.value("[...document.getElementById('layer').options].map(option => option.textContent)")
    assert layers[:2] == ["Expected error", "Beacons received"] and len(layers) == 11
    choose(browser, layer=layers.index("beacon-6"))
    assert text(browser, "layerName") == "beacon-6"
    levels = [row["rssi"] for row in survey if row["place"] == "P15" and row["beacon"] == "beacon-6"]
    assert int(text(browser, "place14Text")) == pytest.approx(sum(levels) / len(levels), abs=0.51)
    shades = "[...document.querySelectorAll('#floor0 path')].filter(path => /shade/.test(path.id) && " \
        "path.getAttribute('d')).length"
    assert browser.value(shades) >= 3
    choose(browser, beside="residual")
    assert abs(int(text(browser, "place14Text"))) < 15
    choose(browser, beside="name")
    assert text(browser, "place14Text") == "P15"
    choose(browser, layer=1, beside="value")
    heard = {place["name"]: place["heard"] for place in made["json"]["places"]}
    assert int(text(browser, "place14Text")) == heard["P15"]


def test_a_click_tells_what_a_place_is_taken_for(browser, made):
    opened(browser, made["page"])
    browser.value("document.getElementById('place14').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    taken = made["json"]["places"][14]["takenFor"]
    sentence = text(browser, "sentence")
    assert sentence.startswith("P15 is mistaken for ") and taken[0]["place"] in sentence
    assert browser.value("document.getElementById('floor0mistakes').getAttribute('d')").count("M") == len(taken)
    assert browser.value("document.getElementById('place').value") == "14"
    choose(browser, place="4")
    assert text(browser, "sentence").startswith(HOSTILE)
    choose(browser, place="")
    assert text(browser, "sentence") == ""
    assert browser.complaints() == []


def test_without_scripts_the_tables_are_there(browser, made):
    browser.open(made["page"], has_scripts=False)
    rows = browser.value("[...document.querySelectorAll('caption')].map(caption => caption.textContent)")
    assert rows[:3] == ["The numbers", "Places", "Beacons"]
    assert browser.value("document.getElementById('floor0shade0').getTotalLength()") > 10
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("look, width, is_dark", [
    ("light", 1200, False), ("dark", 1200, True), ("phone", 360, False), ("phone-dark", 360, True)])
def test_it_can_be_looked_at(browser, made, look, width, is_dark):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    opened(browser, made["page"], width=width, is_dark=is_dark)
    assert browser.value("document.documentElement.scrollWidth") <= width
    shades = browser.screenshot(SCREENSHOTS / f"{look}.png").histogram()
    brightness = sum(shade * count for shade, count in enumerate(shades)) / sum(shades)
    assert (brightness < 90) if is_dark else (brightness > 165), brightness


def test_everything_has_a_name_for_screen_readers(browser, made):
    opened(browser, made["page"])
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
             if not node["ignored"] and node["role"]["value"] in {"combobox", "img", "image", "heading"}]
    assert len([role for role, _ in named if role == "combobox"]) == 3
    assert [role for role, name in named if not name] == []


def test_the_drawing_is_whole_and_without_scripts(made):
    root = ElementTree.parse(made["folder"] / "map.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg" and not list(root.iter(f"{space}script"))
    assert len(list(root.iter(f"{space}circle"))) == 27 + 9
    assert "var(" not in (made["folder"] / "map.svg").read_text()


def test_a_site_alone_is_a_map(tmp_path):
    told = json.loads(pharos.checked(
        "map", "fit", "--from-site", site(tmp_path / "site.json"), "--output", tmp_path / "map.json", "--json").out)
    assert told["beacons"] == 9 and told["algorithm"]["name"] == "field" and told["evaluation"] is None
    again = tmp_path / "again.json"
    pharos.checked("map", "fit", "--from-site", tmp_path / "site.json", "--output", again)
    assert again.read_bytes() == (tmp_path / "map.json").read_bytes()
    shown = json.loads(pharos.checked("map", "show", again, "--json").out)
    assert shown["source"] == "site" and 0.5 < shown["expectedErrorM"] < 5
    assert {place["name"] for place in shown["places"]} == {f"beacon-{number + 1}" for number in range(9)}
    pharos.checked("map", "show", again, "--html", tmp_path / "site.html")
    assert "No survey has confirmed it" in (tmp_path / "site.html").read_text()


def test_a_fleets_beacons_have_their_identities(tmp_path):
    sites = Path(__file__).resolve().parents[2] / "profiles" / "sites"
    fleets = tmp_path / "fleets"
    shutil.copytree(sites.parent / "fleets", fleets)
    (tmp_path / "sites").mkdir()
    shutil.copy(sites / "museum-from-fleet.json", tmp_path / "sites")
    pharos.checked("fleet", "generate", fleets / "museum.json", "--output", tmp_path / "out", timeout=300)
    pharos.checked("map", "fit", "--from-site", tmp_path / "sites" / "museum-from-fleet.json", "--output",
                   tmp_path / "map.json", timeout=300)
    beacons = json.loads((tmp_path / "map.json").read_text())["beacons"]
    assert beacons and all(":" in beacon["key"] for beacon in beacons)


@pytest.mark.parametrize("options, status, words", [
    (("map", "fit", "--from-site", "{site}", "survey.csv", "--output", "m.json"), 64, "no survey"),
    (("map", "fit", "--output", "m.json"), 64, "--from-site"),
    (("map", "fit", "--from-site", "nowhere.json", "--output", "m.json"), 66, "nowhere.json"),
    (("map", "fit", "--from-site", "{empty}", "--output", "m.json"), 78, "no beacons"),
    (("map", "fit", "--from-site", "{site}", "--algorithm", "gauss", "--output", "m.json"), 64, "survey"),
    (("map", "show", "nowhere.json"), 66, "nowhere.json"),
    (("map", "show", "{site}"), 65, "site.json"),
    (("map", "show", "{map}", "--beacon", "nobody"), 64, "nobody"),
    (("map", "show", "{map}", "--beacon", "beacon-1", "--layer", "heard"), 64, "not both"),
    (("map", "show", "{map}", "--html", "-", "--json"), 64, "standard output"),
])
def test_mistakes_are_sentences(tmp_path, made, options, status, words):
    files = {"site": site(tmp_path / "site.json"), "map": made["folder"] / "map.json"}
    files["empty"] = tmp_path / "empty.json"
    files["empty"].write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [18, 0], [18, 6]],
        "target": {"detectWithinS": 10, "probability": 0.9}}))
    done = pharos.run(*[str(option).format(**files) for option in options], cwd=tmp_path)
    assert done.code == status, done
    assert words in done.err and "Fatal" not in done.err
