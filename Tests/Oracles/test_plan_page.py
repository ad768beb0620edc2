"""The planner's page in a real Chromium: its numbers against the program's, its controls, its looks, its silence."""
import json
import os
import re
import shutil
from pathlib import Path

import pytest

import pharos
from browser import Browser

#: Where the screenshots lie after the tests, to be looked at.
SCREENSHOTS = Path(__file__).resolve().parents[2] / ".build" / "plan-page"
COLLISIONS = {"collisionFreeProbability": 1e-6, "arrivalsPerSecondPerBeacon": 1e-6, "airtimeMicroseconds": 1e-9,
              "channelLoad": 1e-9, "lossAfterLossProbability": 1e-3}
#: The page and the program follow the same recursion, but not with the same starts and bins.
LATENCY = 0.015


def plan(question: str, *options, html: Path | None = None) -> dict:
    """The JSON of `pharos plan …`; with `html` the page is written as well."""
    page = ("--html", html) if html else ()
    return json.loads(pharos.checked("plan", question, *options, "--json", *page, timeout=600).out)


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        message = "chromium is not installed: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def collisions(tmp_path_factory) -> tuple[Path, dict]:
    page = tmp_path_factory.mktemp("page") / "collisions.html"
    return page, plan("collisions", "--beacons", 250, "--interval-ms", 100, html=page)


@pytest.fixture(scope="module")
def latency(tmp_path_factory) -> tuple[Path, dict]:
    page = tmp_path_factory.mktemp("page") / "latency.html"
    options = ("--beacons", 100, "--interval-ms", 100, "--scanner", "android-low-power")
    return page, plan("latency", *options, html=page)


def settled(browser: Browser):
    browser.wait("document.getElementById('controls').dataset.state === 'done'")


def opened(browser: Browser, page: Path, **options):
    browser.events.clear()
    browser.open(page, **options)
    settled(browser)


def turn(browser: Browser, **controls):
    """Sets controls as a user does: the value, then the event that typing or choosing causes."""
    for name, value in controls.items():
        browser.value(f"""(() => {{ const control = document.getElementById({json.dumps(name)});
            control.value = {json.dumps(str(value))};
            control.dispatchEvent(new Event('input', {{ bubbles: true }}));
            control.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()""")
    settled(browser)


def number(browser: Browser, name: str) -> float | None:
    text = browser.value(f"document.getElementById({json.dumps(name)}).dataset.value")
    return None if text is None else float(text)


def assert_collisions(browser: Browser, expected: dict):
    for name, tolerance in COLLISIONS.items():
        if expected[name] is None:
            assert number(browser, name) is None, name
        else:
            assert number(browser, name) == pytest.approx(expected[name], rel=tolerance), name


def assert_latency(browser: Browser, expected: dict):
    for percentile in ("p50", "p90", "p95", "p99"):
        seconds = expected["latencyS"][percentile]
        shown = number(browser, "latency" + percentile.upper())
        if seconds is None:
            assert shown is None, percentile
        else:
            assert shown == pytest.approx(seconds, rel=LATENCY), percentile


def test_the_numbers_are_the_programs(browser, collisions):
    page, expected = collisions
    opened(browser, page)
    assert_collisions(browser, expected)


@pytest.mark.parametrize("beacons, interval, payload", [(100, 500, 10), (1, 20, 31), (2, 10240, 0), (1000, 1000, 31)])
def test_controls_lead_to_what_another_run_says(browser, collisions, beacons, interval, payload):
    opened(browser, collisions[0])
    curve = browser.value("document.getElementById('clearCurve').getAttribute('d')")
    turn(browser, beacons=beacons, intervalMs=interval, payloadOctets=payload)
    assert_collisions(browser, plan(
        "collisions", "--beacons", beacons, "--interval-ms", interval, "--payload-octets", payload))
    assert browser.value("document.getElementById('clearCurve').getAttribute('d')") != curve
    browser.value("document.getElementById('reset').click()")
    settled(browser)
    assert_collisions(browser, collisions[1])


def test_strangers_of_another_length_are_in_the_numbers(browser, tmp_path):
    page = tmp_path / "page.html"
    expected = plan("collisions", "--beacons", 100, "--interval-ms", 200, "--background-load", 0.25,
                    "--background-payload-octets", 12, html=page)
    opened(browser, page)
    assert_collisions(browser, expected)


def test_sliders_and_fields_move_together(browser, collisions):
    opened(browser, collisions[0])
    browser.value("""(() => { const slider = document.getElementById('beaconsSlider'); slider.value = 0;
        slider.dispatchEvent(new Event('input', { bubbles: true })); })()""")
    settled(browser)
    assert browser.value("document.getElementById('beacons').value") == "1"
    assert number(browser, "collisionFreeProbability") == 1


def test_latencies_are_the_programs(browser, latency):
    page, expected = latency
    opened(browser, page)
    assert_latency(browser, expected)


@pytest.mark.parametrize("scanner, beacons, interval", [
    ("android-low-power", 250, 271.25), ("android-balanced", 250, 100), ("android-low-latency", 100, 100),
    ("ios-find-my", 1, 1022.5), ("harmony", 50, 1000), ("android-low-power", 1, 760)])
def test_other_scanners_lead_to_what_another_run_says(browser, latency, scanner, beacons, interval):
    opened(browser, latency[0])
    turn(browser, scanner=scanner, beacons=beacons, intervalMs=interval)
    assert_latency(browser, plan(
        "latency", "--beacons", beacons, "--interval-ms", interval, "--scanner", scanner))


@pytest.mark.parametrize("value", ["", "0", "-5", "1e9", "x"])
def test_senseless_values_are_named_and_change_nothing(browser, collisions, value):
    page, expected = collisions
    opened(browser, page)
    browser.value(f"""(() => {{ const field = document.getElementById('beacons'); field.value = {json.dumps(value)};
        field.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()""")
    browser.wait("document.getElementById('beacons').getAttribute('aria-invalid') === 'true'")
    assert_collisions(browser, expected)


@pytest.mark.parametrize("threshold", [6, 12, 21])
def test_capture_is_the_programs_band(browser, collisions, threshold):
    opened(browser, collisions[0])
    assert number(browser, "captureLow") is None
    turn(browser, captureDecibels=f"{threshold}.0")
    band = plan("collisions", "--beacons", 250, "--interval-ms", 100, "--capture-db", threshold)["capture"]
    assert number(browser, "captureLow") == pytest.approx(band["stayingWithFirst"], rel=1e-4)
    assert number(browser, "captureHigh") == pytest.approx(band["fullCapture"], rel=1e-4)
    assert number(browser, "collisionFreeProbability") < band["stayingWithFirst"] < band["fullCapture"] < 1
    assert browser.value("document.getElementById('captureBand').getAttribute('d')").startswith("M")


ENERGY = {"--beacons": 50, "--interval-ms": 500, "--chip": "nrf52832", "--battery": "cr2477"}
WALK = {"--speed-mps": 1.4, "--distance-m": 3, "--range-m": 10, "--interval-ms": 760, "--scanner": "android-low-power"}
DENSITY = {"--interval-ms": 500, "--detect-within-s": 10, "--probability": 0.95, "--scanner": "android-low-power"}


def made(question: str, options: dict, folder: Path) -> tuple[Path, dict]:
    page = folder / f"{question}.html"
    return page, plan(question, *[word for option in options.items() for word in option], html=page)


def assert_battery(browser: Browser, expected: dict):
    for name in ("lifeDays", "microjoulePerReceived", "meanCurrentMicroamperes", "collisionFreeProbability"):
        assert number(browser, name) == pytest.approx(expected[name], rel=1e-6), name


def test_a_battery_follows_the_controls(browser, tmp_path):
    page, expected = made("energy", ENERGY, tmp_path)
    opened(browser, page)
    assert_battery(browser, expected)
    line = browser.value("document.getElementById('lifeLine').getAttribute('d')")
    turn(browser, intervalMs=100, beacons=250, battery="cr2032", chip="da14580")
    assert_battery(browser, made("energy", {
        "--beacons": 250, "--interval-ms": 100, "--chip": "da14580", "--battery": "cr2032"}, tmp_path)[1])
    assert browser.value("document.getElementById('lifeLine').getAttribute('d')") != line
    assert browser.complaints() == []


def test_a_battery_has_a_shelf_life_and_no_line_along_the_edge(browser, tmp_path):
    page, _ = made("energy", {"--beacons": 250, "--interval-ms": 10240, "--chip": "nrf52832",
                              "--battery": "2xaa-lithium"}, tmp_path)
    opened(browser, page)
    assert text(browser, "lifeDays") == "about ten years"
    assert "as long as a battery is usable" in text(browser, "sentence") and "twice" not in text(browser, "sentence")
    for line, top in (("lifeLine", 40), ("costLine", 40)):
        path = browser.value(f"document.getElementById('{line}').getAttribute('d')")
        heights = [float(y) for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)", path)]
        # A value outside the axis is left out, so no two neighbors lie on the edge.
        assert heights and all(one > top or other > top for one, other in zip(heights, heights[1:], strict=False))
    turn(browser, intervalMs=100, battery="cr2032")
    assert text(browser, "lifeDays").endswith("days") and "at twice that interval" in text(browser, "sentence")


def test_a_share_may_be_typed_as_percent(browser, tmp_path):
    opened(browser, made("density", DENSITY, tmp_path)[0])
    turn(browser, probability=0.9)
    shown = [text(browser, name) for name in ("beaconsInRange", "gridSpacingM", "sentence")]
    turn(browser, probability=90)
    assert [text(browser, name) for name in ("beaconsInRange", "gridSpacingM", "sentence")] == shown
    browser.value("""(() => { const field = document.getElementById('probability'); field.value = '2';
        field.dispatchEvent(new Event('input', { bubbles: true })); })()""")
    browser.wait("document.getElementById('probabilityProblem').checkVisibility()")
    assert text(browser, "probabilityProblem") \
        == "In this share of cases: enter a number from 0.01 to 0.9999, or percent from 10 to 99.99."
    assert browser.complaints() == []


def test_a_missed_target_is_not_marked_as_advice(browser, tmp_path):
    page = tmp_path / "missed.html"
    pharos.run("plan", "interval", "--beacons", 300, "--detect-within-s", 5, "--probability", 0.95, "--scanner",
               "android-low-power", "--html", page, timeout=600)
    opened(browser, page)
    names = browser.value("[...document.querySelectorAll('#deciding text.m0')].map(name => name.textContent)")
    assert names and set(names) == {"closest"}
    rows = browser.value("[...document.querySelectorAll('table.figures th')].map(row => row.textContent)")
    assert any(row.startswith("closest interval") for row in rows) and not any("to set" in row for row in rows)


def test_the_page_of_a_latency_compares_the_known_scanners(browser, latency):
    opened(browser, latency[0])
    names = browser.value(
        "[...document.querySelectorAll('#latencies svg.wide text.strong')].map(name => name.textContent)")
    assert names[0] == "android-low-power" and {"android-14-low-power", "ios-find-my", "linux"} <= set(names)
    assert len(names) == len(set(names)) > 12


def assert_walk(browser: Browser, expected: dict):
    assert number(browser, "dwellS") == pytest.approx(expected["dwellS"], rel=1e-6)
    assert number(browser, "probabilitySeen") == pytest.approx(expected["probabilitySeen"], abs=LATENCY)
    assert_latency(browser, expected)


def test_a_walk_follows_the_controls(browser, tmp_path):
    page, expected = made("walk", WALK, tmp_path)
    opened(browser, page)
    assert_walk(browser, expected)
    turn(browser, speedMps=0.7, distanceM=5, rangeM=20, intervalMs=100, scanner="android-balanced", beacons=250)
    assert_walk(browser, made("walk", {
        "--speed-mps": 0.7, "--distance-m": 5, "--range-m": 20, "--interval-ms": 100, "--beacons": 250,
        "--scanner": "android-balanced"}, tmp_path)[1])
    turn(browser, distanceM=30)
    assert number(browser, "probabilitySeen") == 0 and number(browser, "dwellS") == 0
    assert browser.complaints() == []


def text(browser: Browser, name: str) -> str:
    """The text of an element; a number and its unit are joined by a space that does not break."""
    return browser.value(f"document.getElementById({json.dumps(name)}).textContent").replace("\xa0", " ")


@pytest.mark.parametrize("options", [
    WALK, {"--beacons": 100, "--interval-ms": 500, "--range-m": 15, "--speed-mps": 4, "--distance-m": 3}])
def test_a_page_states_each_number_once(browser, tmp_path, options):
    page, expected = made("walk", options, tmp_path)
    headline = pharos.checked("plan", "walk", *[word for option in options.items() for word in option]).out
    seen = headline.split(" of the walks")[0]
    opened(browser, page)
    assert text(browser, "probabilitySeen") == seen and f"is found in {seen} of the cases" in text(browser, "sentence")
    assert number(browser, "probabilitySeen") == pytest.approx(expected["probabilitySeen"], abs=1e-4)
    turn(browser, distanceM=5)
    turn(browser, distanceM=options["--distance-m"])
    assert text(browser, "probabilitySeen") == seen


def test_the_address_keeps_the_settings(browser, tmp_path):
    page, _ = made("walk", WALK, tmp_path)
    opened(browser, page)
    assert browser.value("location.hash") == ""
    turn(browser, distanceM=5, scanner="linux")
    assert browser.value("location.hash") == "#distanceM=5&scanner=linux"
    shown = text(browser, "sentence")
    browser.call("Page.navigate", url="about:blank")
    browser.wait("location.href === 'about:blank'")
    browser.call("Page.navigate", url=page.resolve().as_uri() + "#distanceM=5&scanner=linux&speedMps=x&nothing=1")
    browser.wait("document.getElementById('controls')?.dataset.state === 'done'")
    assert text(browser, "sentence") == shown and browser.value("location.hash") == "#distanceM=5&scanner=linux"
    browser.value("document.querySelector('#controls [type=reset]').click()")
    browser.wait("location.hash === ''")
    settled(browser)
    assert browser.complaints() == []


def assert_density(browser: Browser, expected: dict):
    assert number(browser, "beaconsInRange") == pytest.approx(expected["beaconsInRange"], rel=0.05)
    assert number(browser, "gridSpacingM") == pytest.approx(expected["gridSpacingM"], rel=0.05)


def test_a_density_follows_the_controls(browser, tmp_path):
    page, expected = made("density", DENSITY, tmp_path)
    opened(browser, page)
    assert_density(browser, expected)
    assert browser.value("document.getElementById('gridDots').getAttribute('d').length") > 100
    turn(browser, intervalMs=300, detectWithinS=8, probability=0.9, scanner="android-balanced")
    assert_density(browser, made("density", {
        "--interval-ms": 300, "--detect-within-s": 8, "--probability": 0.9, "--scanner": "android-balanced"},
        tmp_path)[1])
    assert browser.complaints() == []


def test_the_chart_of_intervals_decides_and_never_crosses(browser, tmp_path):
    page, expected = made("interval", {
        "--beacons": 100, "--detect-within-s": 15, "--probability": 0.95, "--scanner": "android-low-power"}, tmp_path)
    opened(browser, page)
    assert browser.value("document.querySelector('main figure').id") == "deciding"
    sentence = browser.value("document.querySelector('.reconciliation').textContent").replace("\u00a0", " ")
    assert "longest interval" in sentence
    # The script marks the same two intervals as the sentence names.
    for name in ("bestLatencyIntervalMs", "bestThroughputIntervalMs"):
        assert f"{number(browser, name):g} ms" in sentence, name
    lines = browser.value(
        """[...document.querySelectorAll('#deciding svg.wide path.line')].map(path => path.getAttribute('d'))"""
    )
    heights = [{x: float(y) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", line)} for line in lines]
    wanted, half, most, nearly_all = heights
    for upper, lower in ((nearly_all, wanted), (wanted, most), (most, half)):
        shared = upper.keys() & lower.keys()
        assert len(shared) > 20 and all(upper[x] <= lower[x] for x in shared)
    # The line of the last percentile is interrupted where the percentile is not reached, and the peaks are there.
    assert lines[3].count("M") > 1
    slow = [point for point in expected["curve"] if 1010 < point["intervalMs"] < 1035]
    assert any(point["p99"] is None or point["p99"] > 60 for point in slow)


def test_the_page_asks_nothing_of_any_network_and_complains_of_nothing(browser, collisions, latency):
    for page in (collisions[0], latency[0]):
        opened(browser, page)
        turn(browser, beacons=120, captureDecibels="12.0")
        assert set(browser.requests()) == {page.resolve().as_uri()}
        assert browser.complaints() == []
        assert page.stat().st_size < 500_000


def test_without_scripts_the_programs_numbers_are_there(browser, collisions):
    page, expected = collisions
    browser.open(page, has_scripts=False)
    for name in ("collisionFreeProbability", "arrivalsPerSecondPerBeacon"):
        assert number(browser, name) == pytest.approx(expected[name], rel=1e-9)
    assert browser.value("document.getElementById('clearCurve').getTotalLength()") > 300
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_everything_has_a_name_for_screen_readers(browser, collisions):
    opened(browser, collisions[0])
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"spinbutton", "slider", "combobox", "button", "image", "img", "figure", "table", "heading", "textbox"}
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
             if not node["ignored"] and node["role"]["value"] in roles]
    assert {"spinbutton", "slider", "combobox", "button", "heading"} <= {role for role, _ in named}
    assert [role for role, name in named if not name and role not in ("table", "figure")] == []
    assert browser.value("document.querySelectorAll('h1').length") == 1


@pytest.mark.parametrize("question, options", [("energy", ENERGY), ("walk", WALK), ("density", DENSITY)])
@pytest.mark.parametrize("width", [1200, 360])
def test_the_other_pages_can_be_looked_at(browser, tmp_path, question, options, width):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    opened(browser, made(question, options, tmp_path)[0], width=width)
    assert browser.value("document.documentElement.scrollWidth") <= width
    picture = browser.screenshot(SCREENSHOTS / f"{question}-{width}.png")
    assert sum(count > 0 for count in picture.histogram()) > 50


@pytest.mark.parametrize("look, width, is_dark", [
    ("light", 1200, False), ("dark", 1200, True), ("phone", 360, False), ("phone-dark", 360, True)])
def test_it_can_be_looked_at(browser, latency, look, width, is_dark):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    opened(browser, latency[0], width=width, is_dark=is_dark)
    assert browser.value("document.documentElement.scrollWidth") <= width
    picture = browser.screenshot(SCREENSHOTS / f"{look}.png")
    shades = picture.histogram()
    brightness = sum(shade * count for shade, count in enumerate(shades)) / sum(shades)
    assert (brightness < 90) if is_dark else (brightness > 165), brightness
    # Neither blank nor a single color: lines and letters take a part of every page, and no half of it is empty.
    assert sum(count > 0 for count in shades) > 50
    for half in ((0, 0, picture.width, picture.height // 2), (0, picture.height // 2, picture.width, picture.height)):
        assert max(picture.crop(half).histogram()) < 0.97 * picture.width * picture.height / 2


# What stands on drawings beyond their edges, and names that cover each other, as the browser sets the letters.
FAULTS_OF_NAMES = """(() => {
    const faults = [], box = element => element.getBoundingClientRect();
    for (const svg of document.querySelectorAll("svg")) {
        const edge = box(svg);
        const names = [...svg.querySelectorAll("text")].map(name => [name.textContent, box(name)])
            .filter(([text, at]) => text.trim() && at.width && edge.width);
        names.forEach(([text, at], index) => {
            // A box is higher than its letters, by about a fifth.
            const slack = at.height / 10;
            if (at.left < edge.left - 1 || at.right > edge.right + 1 || at.top < edge.top - slack
                || at.bottom > edge.bottom + slack) faults.push(`${text} is cut`);
            for (const [other, by] of names.slice(0, index)) {
                const across = Math.min(at.right, by.right) - Math.max(at.left, by.left);
                const down = Math.min(at.bottom, by.bottom) - Math.max(at.top, by.top);
                if (across > 1 && down > 3 * slack) faults.push(`${text} covers ${other}`);
            }
        });
    }
    return faults;
})()"""


@pytest.fixture(scope="module")
def floor(tmp_path_factory) -> Path:
    """A page of a floor with names of beacons near its edges."""
    folder = tmp_path_factory.mktemp("floor")
    beacons = [{"name": f"{name}-north-{y}", "position": [x, y]} for y in (1, 8) for x, name in
               ((0.5, "west"), (15, "middle"), (26.5, "far"), (29.5, "east"))]
    (folder / "hall.json").write_text(json.dumps({
        "version": 1, "name": "hall", "outline": [[0, 0], [30, 0], [30, 10], [0, 10]], "beacons": beacons,
        "target": {"detectWithinS": 5, "probability": 0.9}}))
    pharos.run("plan", "site", folder / "hall.json", "--places", 60, "--html", folder / "page.html", timeout=120)
    return folder / "page.html"


@pytest.mark.parametrize("question, options", [
    ("energy", ENERGY), ("walk", WALK), ("density", {
        "--interval-ms": 5000, "--detect-within-s": 10, "--probability": 0.95, "--scanner": "continuous"}),
    ("interval", {"--beacons": 50, "--detect-within-s": 5, "--probability": 0.95}),
    ("collisions", {}), ("latency", {}), ("site", {})])
def test_no_name_on_a_drawing_is_cut_or_covered(browser, collisions, latency, floor, tmp_path, question, options):
    pages = {"collisions": collisions[0], "latency": latency[0], "site": floor}
    page = pages.get(question) or made(question, options, tmp_path)[0]
    for width, is_dark in ((1200, False), (1200, True), (600, False), (360, False)):
        opened(browser, page, width=width, is_dark=is_dark)
        assert browser.value("document.querySelectorAll('svg text').length") > 5
        assert browser.value(FAULTS_OF_NAMES) == [], (width, is_dark)


# Numbers of a coloured table that leave their cell.
NUMBERS_OUTSIDE = """[...document.querySelectorAll("table.heat td")].filter(cell => {
    const box = cell.getBoundingClientRect(), range = document.createRange();
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (text.parentElement.closest(".spoken")) continue;
        range.selectNodeContents(text);
        const at = range.getBoundingClientRect();
        if (at.left < box.left - 0.5 || at.right > box.right + 0.5) return true;
    }
    return false;
}).map(cell => cell.textContent)"""


@pytest.mark.parametrize("options", [
    {"--beacons": 50, "--detect-within-s": 5, "--probability": 0.95, "--scanner": "android-low-power"},
    {"--beacons": 250, "--detect-within-s": 120, "--probability": 0.99}])
def test_numbers_stay_in_their_cells(browser, tmp_path, options):
    page = made("interval", options, tmp_path)[0]
    for width in (1200, 900, 600, 360):
        opened(browser, page, width=width)
        assert browser.value("document.querySelectorAll('table.heat td').length") > 40
        assert browser.value(NUMBERS_OUTSIDE) == [], width
        assert browser.value("document.documentElement.scrollWidth") <= width
