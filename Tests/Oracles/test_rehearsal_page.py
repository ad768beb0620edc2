"""The page of a rehearsal in a real Chromium: it says what the report says, plays at every speed, and fits desks,
phones and paper. Its reports are invented, so that they have every case (Tests/RehearsalProgram)."""
import json
import os
import re
import shutil
from pathlib import Path

import pytest

import pharos
import test_rehearse
from browser import Browser
from test_page_looks import BROKEN_NUMBERS, invented_rehearsal

NAMES = ["sample", "museum", "large", "good", "hostile"]
#: Where the screenshots lie after the tests, to be looked at.
SCREENSHOTS = pharos.ROOT / ".build" / "rehearsal-page"
#: 10:00, when a beacon of the invented museum stops.
STOP = 36_000_000
CODES = {" ": 32, "n": 78, "p": 80, "+": 187, "-": 189, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39,
         "Home": 36, "End": 35}
SHIFT = 8


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsals")
    for name in NAMES:
        (folder / f"{name}.html").write_text(invented_rehearsal(name))
    return folder


@pytest.fixture(scope="module")
def reports() -> dict:
    return {name: json.loads(invented_rehearsal(name, "json")) for name in NAMES}


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        message = "chromium is not installed: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    browser = Browser(program)
    yield browser
    browser.close()


class Page:
    """A page of a rehearsal, and what is drawn on it."""

    def __init__(self, browser: Browser, file: Path, at: int | None = None, is_calm: bool = False, **options):
        self.browser = browser
        browser.events.clear()
        browser.open(file, **options)
        if is_calm:
            scheme = {"name": "prefers-color-scheme", "value": "light"}
            calm = {"name": "prefers-reduced-motion", "value": "reduce"}
            browser.call("Emulation.setEmulatedMedia", features=[scheme, calm])
        self.settle()
        if at is not None:
            self.seek(at)

    def value(self, expression: str):
        return self.browser.value(expression)

    def settle(self):
        self.browser.wait("document.getElementById('controls')?.dataset.state === 'done'")

    def text(self, name: str) -> str:
        return self.value(f"document.getElementById('{name}').textContent").replace("\u00a0", " ")

    def moment(self) -> int:
        return int(self.value("document.getElementById('time').value"))

    def seek(self, milliseconds: int):
        self.value(f"""(() => {{ const slider = document.getElementById('time'); slider.value = {milliseconds};
            slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
            slider.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()""")
        self.settle()

    def click(self, name: str):
        before = self.text("play")
        self.value(f"document.getElementById('{name}').click()")
        if name == "play" and before == "Pause":
            # The next frame writes the label.
            self.browser.wait("document.getElementById('play').textContent === 'Play'")
        if self.text("play") == "Play":
            self.settle()

    def choose(self, name: str, value: str):
        self.value(f"""(() => {{ const list = document.getElementById('{name}'); list.value = '{value}';
            list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()""")

    def key(self, name: str, modifiers: int = 0):
        text = {"text": name} if len(name) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=CODES[name],
                              modifiers=modifiers, **(text if kind == "keyDown" else {}))
        self.value("1")

    def ink(self, name: str, colour: str, around: tuple[float, float] | None = None, reach: float = 30) -> int:
        """The number of pixels of a canvas that have nearly a colour of the page, all or those around a place of the
        drawing."""
        return self.value(f"""(() => {{
            const canvas = document.getElementById('{name}'), context = canvas.getContext('2d');
            const pen = document.createElement('canvas').getContext('2d');
            pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--{colour}').trim();
            pen.fillRect(0, 0, 1, 1);
            const wanted = pen.getImageData(0, 0, 1, 1).data, around = {json.dumps(around)};
            const box = canvas.getBoundingClientRect();
            let area = [0, 0, canvas.width, canvas.height];
            if (around) {{
                const at = new DOMPoint(...around).matrixTransform(document.getElementById('drawing').getScreenCTM());
                area = [at.x - box.left - {reach}, at.y - box.top - {reach}, {2 * reach}, {2 * reach}].map(Math.round);
            }}
            const {{ data }} = context.getImageData(...area);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {{
                if (data[i + 3] > 60 && [0, 1, 2].every(k => Math.abs(data[i + k] - wanted[k]) < 40)) count++;
            }}
            return count; }})()""")

    def shows_summary(self) -> bool:
        """True if the drawing has the discovered shares and the ways of the phones. (Chromium always calls groups of a
        drawing visible.)"""
        return self.value("getComputedStyle(document.getElementById('summary')).display !== 'none'")

    def spot(self, number: int) -> tuple[float, float]:
        """The place of a beacon in units of the drawing."""
        return tuple(self.value(f"""(() => {{ const disc = document.getElementById('beacon{number}');
            return [disc.cx.baseVal.value, disc.cy.baseVal.value]; }})()"""))


def drawn(page: Page) -> int:
    """The number of pixels of the canvas over the floor with anything on them."""
    return page.value("""(() => { const canvas = document.getElementById('air');
        return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
            .filter((value, i) => i % 4 === 3 && value > 0).length; })()""")


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_at_any_width(browser, pages, name, width, is_dark):
    page = Page(browser, pages / f"{name}.html", width=width, is_dark=is_dark)
    wide = """[...document.querySelectorAll('body *')].filter(each => !each.closest('.scroll, svg, .spoken')
        && each.checkVisibility() && each.getBoundingClientRect().right > innerWidth + 0.5)
        .map(each => each.outerHTML.slice(0, 90))"""
    for at in (None, STOP if name != "sample" else 12_000):
        if at is not None:
            page.seek(at)
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.value(wide) == []
        assert page.value(BROKEN_NUMBERS) == []
        if width == 400:
            small = """[...document.querySelectorAll('.transport :is(button, select)')].filter(each =>
                each.checkVisibility() && each.getBoundingClientRect().height < 30).length"""
            assert page.value(small) == 0
        look = "dark" if is_dark else "light"
        picture = browser.screenshot(shot(f"{name}-{width}-{look}{'' if at is None else '-moment'}"))
        assert len(picture.getcolors()) > 20
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith(("file:", "data:"))] == []


def shot(name: str) -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS / f"{name}.png"


@pytest.mark.parametrize("name", ["sample", "museum", "good", "large"])
def test_the_page_has_the_numbers_of_the_report(browser, pages, reports, name):
    page, report = Page(browser, pages / f"{name}.html"), reports[name]
    verdicts = [promise["verdict"] for promise in report["promises"]]
    counts = {"holding": verdicts.count("holds"), "broken": verdicts.count("broken"),
              "unjudged": verdicts.count("unjudged"), "beaconCount": len(report["beacons"]),
              "phoneCount": report["phones"]}
    for tile, count in counts.items():
        assert page.text(tile) == str(count), tile
    answer = page.value("document.querySelector('.answer').textContent")
    judged = counts["holding"] + counts["broken"]
    part = f"{counts['broken']} of" if counts["broken"] else "All"
    assert answer.startswith(f"{part} {judged} promises")
    rows = page.value("""[...document.querySelectorAll('.promises tbody tr')].map(row =>
        [...row.cells].map(cell => cell.textContent.replaceAll('\\u00a0', ' ')))""")
    assert len(rows) == min(len(verdicts), sum(min(1000, verdicts.count(each)) for each in set(verdicts)))
    assert [row[1] for row in rows if row[1] == "does not hold"] == ["does not hold"] * counts["broken"]
    subjects = [promise["subject"] for promise in report["promises"] if promise["verdict"] == "broken"]
    assert [row[0] for row in rows][:counts["broken"]] == subjects
    for row, promise in zip(rows, report["promises"], strict=False):
        if promise["measured"] is not None and len(rows) == len(verdicts):
            number = float(re.match(r"-?[\d.]+", row[4])[0])
            assert number == pytest.approx(promise["measured"], rel=5e-4), row
            assert row[4].endswith(promise["unit"]), row
    kinds = page.value("[...document.querySelectorAll('.kinds tbody tr')].map(row => Number(row.cells[2].textContent))")
    assert sum(kinds) == len(verdicts)


def test_the_floor_is_the_result_before_it_plays(browser, pages, reports):
    page, report = Page(browser, pages / "museum.html"), reports["museum"]
    assert drawn(page) == 0 and page.shows_summary()
    discs = page.value("[...document.querySelectorAll('circle.disc')].map(disc => disc.classList[1])")
    broken = {promise["beacon"] for promise in report["promises"] if promise["verdict"] == "broken"}
    assert {i for i, style in enumerate(discs) if style == "broken"} == broken == {3, 17}
    colours = page.value("[...document.querySelectorAll('circle.disc')].map(disc => getComputedStyle(disc).fill)")
    assert len(set(colours)) == 3
    assert page.value("document.querySelectorAll('rect.receiver').length") == 2
    assert page.value("document.querySelectorAll('path.way').length") == 2
    assert page.value("document.querySelectorAll('path.phoneWay').length") == 40
    label = page.value("document.getElementById('drawing').getAttribute('aria-label')")
    assert "2 beacons with a promise that does not hold" in label
    # The colour is not the only sign.
    assert page.value("document.querySelector('.brokenMark').getAttribute('d').match(/M/g).length") == 4


def test_a_moment_is_drawn_where_it_happens(browser, pages, reports):
    page, columns = Page(browser, pages / "museum.html"), reports["museum"]["play"]["sends"]
    sends = list(zip(*(columns[name] for name in ("ms", "beacon", "received", "collided")), strict=True))
    # At ×0.1 only what has just been sent can be seen.
    page.choose("speed", "0.1")
    late = [send for send in sends if send[0] > STOP - 9000]
    time, beacon = next((ms, each) for ms, each, received, collided in late if received and not collided)
    page.seek(round(time))
    assert page.ink("air", "gold", page.spot(beacon)) > 60
    recent = {each for ms, each, *_ in sends if time - 60 < ms <= time + 1}
    quiet = next(number for number in range(24) if number not in recent)
    assert page.ink("air", "gold", page.spot(quiet)) == 0
    assert not page.shows_summary()
    time, beacon = next((ms, each) for ms, each, _, collided in late if collided)
    page.seek(round(time))
    assert page.ink("air", "rose", page.spot(beacon), reach=40) > 8
    sent = [each for each in sends if round(each[0]) <= page.moment()]
    assert page.text("sendsNow") == str(len(sent))
    share = 100 * sum(1 for each in sent if each[3]) / len(sent)
    assert float(page.text("collidedNow").split()[0]) == pytest.approx(share, abs=0.06)


def test_phones_walk_and_draw_lines_to_what_they_discover(browser, pages, reports):
    page, phones = Page(browser, pages / "museum.html"), reports["museum"]["play"]["phones"]
    found = sorted((at, number, beacon) for number, phone in enumerate(phones) for at, beacon in phone["discoveries"])
    page.seek(page.value("Number(document.getElementById('time').min)"))
    before = page.ink("air", "blue")
    page.click("next")
    page.choose("kindOfEvent", "discovery")
    page.seek(page.value("Number(document.getElementById('time').min)"))
    page.click("next")
    assert page.moment() == pytest.approx(1000 * found[0][0], abs=1)
    assert page.ink("air", "blue") > before + 100
    assert page.text("phonesNow") == "1 of 40"
    discovered = reports["museum"]["beacons"][found[0][2]]["name"]
    assert f"phone {found[0][1] + 1} discovers {discovered}" in page.text("log")
    page.seek(STOP + 20_000)
    known = {number for at, number, _ in found if 1000 * at <= STOP + 20_000}
    assert page.text("phonesNow") == f"{len(known)} of 40"


def test_the_slider_and_the_address_are_the_moment(browser, pages):
    page = Page(browser, pages / "museum.html")
    page.seek(STOP - 1234)
    assert page.text("clock") == "09:59:58.766"
    assert page.value("location.hash") == f"#at={STOP - 1234}"
    assert page.value("document.getElementById('time').getAttribute('aria-valuetext')") == "09:59:58.766"
    assert page.text("sentence").startswith("At 09:59:58.766: ")
    browser.call("Page.navigate", url=(pages / "museum.html").resolve().as_uri() + "?again#at=36000500")
    browser.wait("location.search === '?again' && document.readyState === 'complete'")
    page.settle()
    assert page.moment() == STOP + 500 and "box-4 stops" in page.text("sentence")
    page.click("result")
    assert drawn(page) == 0 and page.value("location.hash") == ""
    assert page.value("document.getElementById('result').disabled")


def test_it_plays_until_the_end(browser, pages):
    page = Page(browser, pages / "museum.html", width=1280)
    page.click("play")
    assert page.text("play") == "Pause"
    browser.wait("Number(document.getElementById('time').value) > Number(document.getElementById('time').min) + 300")
    page.click("play")
    stopped = page.moment()
    assert page.text("play") == "Play" and page.value("location.hash") == f"#at={stopped}"
    page.choose("speed", "100")
    page.click("play")
    browser.wait("document.getElementById('play').textContent === 'Play'")
    assert page.moment() == STOP + 30_000
    # From the end it begins again.
    page.choose("speed", "1")
    page.click("play")
    browser.wait("Number(document.getElementById('time').value) < 35_980_000")
    page.click("play")


def test_speed_is_the_ratio_of_times(browser, pages):
    page = Page(browser, pages / "museum.html", at=STOP - 30_000)
    page.choose("speed", "10")
    page.settle()
    # The test is the clock, so that the speed of the machine does not matter.
    page.value("""(() => { window.queue = []; window.requestAnimationFrame = frame => window.queue.push(frame);
        performance.now = () => 1000; document.getElementById('play').click(); })()""")

    def frame(time: int) -> int:
        page.value(f"(() => {{ const due = window.queue; window.queue = [];"
                   f"for (const each of due) each({time}); }})()")
        return page.moment() - (STOP - 30_000)

    # A frame may have begun before the button was pressed, and a page in the background does not jump.
    for time, played in ((990, 0), (1006, 160), (1106, 1160), (9106, 3660), (9122, 3820)):
        assert frame(time) == played


def test_events_follow_each_other(browser, pages, reports):
    page = Page(browser, pages / "museum.html")
    page.choose("kindOfEvent", "change")
    page.click("next")
    assert page.moment() == STOP and "box-4 stops" in page.text("log")
    assert page.ink("air", "amber") > 200
    page.click("next")
    assert page.text("sentence") == "No such event after this time." and page.moment() == STOP
    page.choose("kindOfEvent", "collision")
    page.click("previous")
    sends = reports["museum"]["play"]["sends"]
    collisions = [round(ms) for ms, collided in zip(sends["ms"], sends["collided"], strict=True) if collided]
    assert page.moment() == max(ms for ms in collisions if ms < STOP)


def test_the_keyboard_plays(browser, pages):
    page = Page(browser, pages / "museum.html")
    page.value("document.getElementById('stage').focus()")
    page.key("Home")
    page.settle()
    start = page.moment()
    for key, modifiers, moment in (("ArrowRight", 0, start + 100), ("ArrowRight", SHIFT, start + 1100),
                                   ("ArrowLeft", 0, start + 1000), ("End", 0, start + 60_000)):
        page.key(key, modifiers)
        page.settle()
        assert page.moment() == moment, key
    page.key("Home")
    page.key("+")
    assert page.value("document.getElementById('speed').value") == "2"
    page.key("-")
    page.key("-")
    assert page.value("document.getElementById('speed').value") == "0.5"
    page.choose("kindOfEvent", "change")
    page.key("n")
    page.settle()
    assert page.moment() == STOP
    page.key("p")
    page.settle()
    assert page.text("sentence") == "No such event before this time."
    page.key(" ")
    browser.wait(f"Number(document.getElementById('time').value) > {STOP}")
    page.key(" ")
    page.settle()
    assert page.text("play") == "Play"
    page.key("Escape")
    page.settle()
    assert drawn(page) == 0
    # A list keeps its keys.
    page.value("document.getElementById('kind').focus()")
    page.key("n")
    assert drawn(page) == 0


def test_calm_pages_do_not_move(browser, pages):
    page = Page(browser, pages / "museum.html", is_calm=True, at=STOP - 5000)
    page.choose("speed", "1")

    def picture() -> str:
        page.settle()
        return page.value("document.getElementById('air').toDataURL()")

    # What was sent stays as it is until it disappears.
    first = page.ink("air", "gold")
    page.seek(STOP - 4999)
    assert page.ink("air", "gold") == pytest.approx(first, rel=0.35) and first > 100
    assert picture()
    Page(browser, pages / "museum.html")


def test_a_large_rehearsal_plays_smoothly(browser, pages):
    page = Page(browser, pages / "large.html", width=1280, at=STOP)
    assert page.value("replay.read(JSON.parse(document.getElementById('data').textContent).play).times.length") > 70_000
    page.choose("speed", "100")
    # The time that the page itself needs for a moment, the best of many: a busy machine is no fault of the page.
    best = page.value("""(() => { const run = replay.read(JSON.parse(document.getElementById('data').textContent).play);
        let best = Infinity;
        for (let i = 0; i < 60; i++) {
            const begin = performance.now();
            replay.flashes(run, run.to, 38_000); replay.counts(run, run.to); replay.discovered(run, run.to);
            best = Math.min(best, performance.now() - begin);
        }
        return best; })()""")
    print(f"the moment with most sends takes {best:.2f} ms")
    assert best < 16
    page.click("play")
    browser.wait(f"Number(document.getElementById('time').value) > {STOP}")
    assert (pages / "large.html").stat().st_size < 4_000_000


def test_the_table_shows_what_is_asked_for(browser, pages, reports):
    page, report = Page(browser, pages / "museum.html"), reports["museum"]
    shown = """[...document.querySelectorAll('.promises tbody tr')].filter(row => row.checkVisibility())
        .map(row => row.cells[0].textContent)"""
    broken = [promise["subject"] for promise in report["promises"] if promise["verdict"] == "broken"]
    # Good promises are folded.
    assert page.value(shown) == broken
    page.choose("kind", "detection on a path")
    assert page.value(shown) == ["tour", "through to the shop"]
    assert page.text("shown") == f"2 of {len(report['promises'])} promises are shown."
    page.choose("kind", "")
    page.value("""document.getElementById('beacon17').dispatchEvent(new MouseEvent('click', { bubbles: true }))""")
    own = [promise["subject"] for promise in report["promises"] if "box-18" in promise["subject"]]
    assert sorted(page.value(shown)) == sorted(own) and len(own) == 3


def test_hostile_names_are_only_names(browser, pages, reports):
    page = Page(browser, pages / "hostile.html", at=STOP)
    assert browser.complaints() == []
    assert page.value("document.querySelectorAll('img').length") == 0
    names = page.value("[...document.querySelectorAll('circle.disc title')].map(each => each.textContent)")
    assert all(name.startswith("</script><img src=x onerror=alert(1)>") for name in names) and len(names) == 9
    assert "</script><img" in page.text("log")


@pytest.mark.parametrize("name", ["museum", "large", "good"])
def test_paper_has_the_result_on_two_sheets(browser, pages, name):
    page = Page(browser, pages / f"{name}.html", width=1280, is_dark=True, at=STOP)
    page.value("dispatchEvent(new Event('beforeprint'))")
    document = browser.printed()
    (SCREENSHOTS / f"{name}.pdf").write_bytes(document)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) <= 2
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        hidden = ["air", "controls", "filters", "now", "moving"]
        assert page.value(f"{json.dumps(hidden)}.filter(id => document.getElementById(id).checkVisibility())") == []
        assert page.shows_summary() and page.value("document.getElementById('still').checkVisibility()")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_without_scripts_the_result_is_there(browser, pages):
    browser.events.clear()
    browser.open(pages / "museum.html", has_scripts=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.value("document.getElementById('drawing').checkVisibility()")
    assert not browser.value("document.getElementById('controls').checkVisibility()")
    assert browser.value("document.querySelectorAll('.promises tbody tr').length") > 60


def test_everything_has_a_name_for_screen_readers(browser, pages):
    Page(browser, pages / "museum.html", at=STOP)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    unnamed = [node for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") in (
        "button", "combobox", "slider", "searchbox", "image", "img") and not node.get("name", {}).get("value")]
    assert unnamed == []


def test_the_command_writes_the_page_of_its_report(browser, tmp_path):
    fleet, site = test_rehearse.world(tmp_path)
    faults = test_rehearse.plant(tmp_path, {"kind": "stops", "beacon": "box-2", "atS": 180})
    words = (fleet, "--site", site, "--hours", "0.1", "--phones", "5", "--faults", faults, "--html",
             tmp_path / "r.html")
    report = test_rehearse.report(*words)
    page = Page(browser, tmp_path / "r.html")
    verdicts = [promise["verdict"] for promise in report["promises"]]
    assert page.text("broken") == str(verdicts.count("broken")) and page.text("beaconCount") == "6"
    # It plays a minute around the fault.
    assert page.value("[Number(document.getElementById('time').min), Number(document.getElementById('time').max)]") == [
        150_000, 210_000]
    assert browser.complaints() == []
    refused = pharos.run("rehearse", fleet, "--html", tmp_path / "r.pdf")
    assert refused.code == 64 and "web page" in refused.err and not (tmp_path / "r.pdf").exists()
