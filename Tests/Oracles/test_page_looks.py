"""How the pages look in a real Chromium: one design for all, nothing cut, names next to their lines, two sheets."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import pharos
import test_audit
import test_map_show
from browser import Browser
from test_inventory import do, heard, inventory, start, tape

ROOT = Path(__file__).resolve().parents[2]
INTERVAL = ("interval", "--beacons", 100, "--detect-within-s", 15, "--probability", 0.95)
PLAN = {
    "interval": INTERVAL, "phone": (*INTERVAL, "--scanner", "android-low-power"),
    "latency": ("latency", "--beacons", 100, "--interval-ms", 100, "--scanner", "android-low-power"),
    "collisions": ("collisions", "--beacons", 250, "--interval-ms", 100),
    "fleet": ("collisions", "--from-fleet", ROOT / "profiles/fleets/museum.json"),
    "walk": ("walk", "--speed-mps", 1.4, "--distance-m", 3, "--range-m", 10, "--interval-ms", 760,
             "--scanner", "android-low-power"),
    "site": ("site", ROOT / "profiles/sites/museum-ground-floor.json", "--propose"),
}
NAMES = [*PLAN, "map", "track", "audit", "inventory", "items", "rehearsal"]
#: A floor with a notch.
NOTCHED = [[0, 0], [18, 0], [18, 6], [8, 6], [8, 4], [0, 4]]


def mapped(folder: Path):
    """The pages of a map and of a run on a floor with a notch."""
    rows = test_map_show.survey.__wrapped__() if hasattr(test_map_show.survey, "__wrapped__") \
        else test_map_show.survey._get_wrapped_function()()
    rows = [row for row in rows if row["x"] > 8 or row["y"] < 4]
    for row in rows:
        row["place"] = row["place"].replace(test_map_show.HOSTILE, "P5")

    def written(name: str, some: list[dict]):
        lines = [",".join(some[0]), *(",".join(map(str, row.values())) for row in some)]
        (folder / name).write_text("\n".join(lines) + "\n")

    written("survey.csv", rows)
    written("run.csv", [row for row in rows if row["session"] == "june" and row["place"] in ("P1", "P12", "P25")])
    site = test_map_show.site(folder / "site.json", outline=NOTCHED)
    pharos.checked(*test_map_show.FIT, folder / "map.json", folder / "survey.csv", "--beacon-positions", site,
                   timeout=600)
    pharos.checked("map", "show", folder / "map.json", "--site", site, "--html", folder / "map.html", timeout=600)
    pharos.checked("locate", folder / "map.json", "--from", folder / "run.csv", "--site", site, "--html",
                   folder / "track.html", timeout=600)


def audited(folder: Path):
    """The page of an audit of one beacon that is as it should be, and of two that are silent."""
    files = [test_audit.profile(folder, number) for number in (1, 2, 3)]
    recording = test_audit.written(folder, test_audit.sent(1, random.Random(6)))
    pharos.run("audit", *files, "--replay", recording, "--html", folder / "audit.html", timeout=600)


def counted(folder: Path):
    """The pages of an inventory's count."""
    path = inventory(folder, range(1, 5), title="Workshop tools")
    start(path, "--replay", tape(folder, heard(1, range(5)), heard(3, range(5), -80)))
    do("finish", path)
    do("report", path, "--html", folder / "inventory.html")
    do("map", path, "--html", folder / "items.html")


def invented_rehearsal(*words: str) -> str:
    """The page of an invented rehearsal, or with `json` its report."""
    program = pharos.companion("RehearsalProgram")
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, timeout=600).stdout


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, words in PLAN.items():
        pharos.run("plan", *words, "--html", folder / f"{name}.html", timeout=600)
    for make in (mapped, audited, counted):
        make(folder)
    (folder / "rehearsal.html").write_text(invented_rehearsal("museum"))
    return folder


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
    browser.wait("!document.getElementById('controls') || document.getElementById('controls').dataset.state === 'done'")


# Numbers that stand on another line than their unit, as the browser breaks the lines.
BROKEN_NUMBERS = r"""(() => {
    const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!text.parentElement.checkVisibility() || text.parentElement.closest("code, script, style")) continue;
        for (const found of text.data.matchAll(/\d[ \u00a0](%|ms|s|min|h|m|m²|m\/s|dBm?)(?![\w\/])/g)) {
            range.setStart(text, found.index);
            range.setEnd(text, found.index + found[0].length);
            const boxes = [...range.getClientRects()].filter(box => box.width > 0.5);
            const tops = new Set(boxes.map(box => Math.round(box.top)));
            if (tops.size > 1) broken.push(text.data);
        }
    }
    return broken;
})()"""


@pytest.mark.parametrize("name", NAMES)
def test_all_pages_have_one_design(browser, pages, name):
    looks = """(() => { const of = (name, key) => getComputedStyle(document.querySelector(name))[key];
        return [of('body', 'backgroundColor'), of('body', 'color'), of('body', 'fontFamily'), of('h1', 'fontFamily'),
                of('.brand', 'color'), of('.card', 'borderRadius'), of('.card', 'backgroundColor')]; })()"""
    for is_dark in (False, True):
        opened(browser, pages / "latency.html", is_dark=is_dark)
        expected = browser.value(looks)
        opened(browser, pages / f"{name}.html", is_dark=is_dark)
        assert browser.value(looks) == expected
        assert browser.complaints() == []
    title = browser.value("document.querySelector('h1').textContent")
    assert browser.value("document.title").startswith(title) and 8 < len(title) < 70 and "/" not in title
    assert not re.match(r"(What|Which|How|A run|The )", title)
    text = browser.value("document.body.innerText")
    assert not re.search(r"`|\*\*|^#+ |\]\(|^What ", text, re.MULTILINE), text
    policy = browser.value("document.querySelector('meta[http-equiv]').content")
    assert "'sha256-" in policy and "unsafe" not in policy


@pytest.mark.parametrize("name", NAMES)
def test_phones_show_everything_and_keep_units_with_their_numbers(browser, pages, name):
    opened(browser, pages / f"{name}.html", width=400)
    assert browser.value("document.documentElement.scrollWidth") <= 400
    assert browser.value(BROKEN_NUMBERS) == []
    # What is wider than its card is in a part that scrolls.
    assert browser.value("""[...document.querySelectorAll('main :is(td, th, p, svg, input)')].filter(each =>
        !each.closest('.scroll') && each.getBoundingClientRect().right > 400).length""") == 0


# Names of vertical lines that another line crosses, or that stand away from their own line.
LOST_NAMES = """(() => {
    const lost = [];
    for (const svg of document.querySelectorAll('svg')) {
        if (!svg.getBoundingClientRect().width) continue;
        const lines = [...svg.querySelectorAll('line.marker')];
        lines.forEach(line => {
            const name = line.nextElementSibling;
            if (name?.tagName !== 'text' || !name.textContent) return;
            const at = name.getBoundingClientRect(), own = line.getBoundingClientRect();
            if (Math.min(Math.abs(at.left - own.left), Math.abs(at.right - own.left)) > 12) lost.push(name.textContent);
            for (const other of lines) {
                const by = other.getBoundingClientRect();
                if (other === line || Math.abs(by.left - own.left) < 3) continue;
                if (by.left > at.left + 1 && by.left < at.right - 1 && by.top < at.bottom - 2 && by.bottom > at.top) {
                    lost.push(`${name.textContent} is crossed`);
                }
            }
        });
    }
    return lost;
})()"""


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["interval", "phone", "latency", "collisions"])
def test_names_stand_next_to_their_lines(browser, pages, name, width):
    opened(browser, pages / f"{name}.html", width=width)
    for interval in (951.25, 100, 20, 10240):
        browser.value(f"""(() => {{ const field = document.getElementById('intervalMs'); field.value = {interval};
            field.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()""")
        browser.wait("document.getElementById('controls').dataset.state === 'done'")
        assert browser.value("document.querySelectorAll('line.marker').length") >= 6
        assert browser.value(LOST_NAMES) == []


@pytest.mark.parametrize("name, figure", [("phone", "deciding"), ("latency", "latencies")])
def test_a_plot_with_a_card_of_its_own_uses_it(browser, pages, name, figure):
    share = f"""(() => {{ const card = document.getElementById('{figure}').getBoundingClientRect().width;
        return [...document.querySelectorAll('#{figure} svg')].map(svg => svg.getBoundingClientRect().width / card)
            .filter(share => share > 0); }})()"""
    for width in (1280, 400):
        opened(browser, pages / f"{name}.html", width=width)
        shares = browser.value(share)
        assert len(shares) == 1 and shares[0] > 0.85, width


def test_axes_end_where_the_data_end(browser, pages):
    # The place where nearly all are found, as a share of the axis.
    end = """(() => { const points = [...document.getElementById('discoveredCurve').getAttribute('d')
            .matchAll(/[ML]([\\d.]+) ([\\d.]+)/g)].map(point => [Number(point[1]), Number(point[2])]);
        const top = Math.min(...points.map(point => point[1]));
        return (points.find(point => point[1] < top + 1)[0] - 92) / (586 - 92); })()"""
    for scanner in ("android-low-power", "continuous", "harmony"):
        opened(browser, pages / "latency.html")
        browser.value(f"""(() => {{ const list = document.getElementById('scanner'); list.value = '{scanner}';
            list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()""")
        browser.wait("document.getElementById('controls').dataset.state === 'done'")
        assert browser.value(end) > 0.6, scanner
        assert browser.value("document.querySelectorAll('#discoveryTicks text').length") >= 3


def test_the_page_says_that_it_computes(browser, pages):
    opened(browser, pages / "latency.html")
    # The program's own numbers stand there from the start.
    assert "omputing" not in browser.value("document.querySelector('main').textContent")
    browser.value("""(() => { window.said = []; window.tiles = [];
        const watch = (id, list) => new MutationObserver(() => list.push(document.getElementById(id).textContent))
            .observe(document.getElementById(id), { childList: true, subtree: true, characterData: true });
        watch('sentence', window.said); watch('latencyNumbers', window.tiles);
        const field = document.getElementById('beacons'); field.value = 300;
        field.dispatchEvent(new Event('input', { bubbles: true })); })()""")
    browser.wait("document.getElementById('controls').dataset.state === 'done'")
    assert any("Computing…" in text for text in browser.value("window.said"))
    assert any("computing…" in text for text in browser.value("window.tiles"))
    assert "omputing" not in browser.value("document.querySelector('main').textContent")


@pytest.mark.parametrize("value", ["", "0", "1e9", "2.5"])
def test_a_field_says_which_values_it_takes(browser, pages, value):
    opened(browser, pages / "collisions.html")
    problem = "document.getElementById('beaconsProblem')"
    assert browser.value(f"{problem}.checkVisibility()") is False
    typed = """(() => { const field = document.getElementById('beacons'); field.value = '%s';
        field.dispatchEvent(new Event('input', { bubbles: true })); })()"""
    browser.value(typed % value)
    browser.wait(f"{problem}.checkVisibility()")
    assert browser.value(f"{problem}.textContent") == "Beacons in range: enter a whole number from 1 to 100000."
    assert "Beacons in range: enter" in browser.value("document.getElementById('sentence').textContent")
    browser.value(typed % 3)
    browser.wait(f"!{problem}.checkVisibility()")


def test_sliders_give_round_values(browser, pages):
    opened(browser, pages / "site.html")
    for name in ("detectWithinS", "probability"):
        for part in range(0, 1000, 83):
            browser.value(f"""(() => {{ const slider = document.getElementById('{name}Slider'); slider.value = {part};
                slider.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()""")
            shown = browser.value(f"document.getElementById('{name}').value")
            assert len(shown.replace(".", "").lstrip("0")) <= 4, shown


def test_a_wide_table_of_colours_visibly_scrolls(browser, pages):
    opened(browser, pages / "phone.html", width=400)
    table = "document.querySelector('.scroll.heat')"
    assert browser.value(f"{table}.scrollWidth > {table}.clientWidth")
    assert browser.value("document.querySelector('.scrollHint').checkVisibility()")
    assert browser.value(f"{table}.tabIndex") == 0
    # The intervals stay where they are.
    browser.value(f"{table}.scrollLeft = 150")
    left = f"{table}.querySelector('tbody th').getBoundingClientRect().left - {table}.getBoundingClientRect().left"
    assert abs(browser.value(left)) < 3
    opened(browser, pages / "phone.html", width=1280)
    assert browser.value("document.querySelector('.scrollHint').checkVisibility()") is False


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_two_sheets_of_paper(browser, pages, name):
    opened(browser, pages / f"{name}.html", width=1280, is_dark=True)
    document = browser.printed()
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) <= 2


def test_before_and_after_are_told_apart(browser, pages):
    opened(browser, pages / "site.html")
    rows = browser.value("""[...document.querySelectorAll('table.figures tbody tr')].map(row => row.textContent)""")
    of_coverage = [row for row in rows if re.match("target|beacons|collision|weak|path|found", row)]
    assert len(of_coverage) >= 8
    assert all(re.search("today|with the proposal|proposed", row) for row in of_coverage), of_coverage
    assert not any("…" in row for row in rows)
    assert any(re.search(r"found within.*dBm", row) for row in rows)
    for tile in ("holdingShare", "weakestShare"):
        assert "with the proposal" in browser.value(f"document.getElementById('{tile}').closest('div').textContent")
    assert browser.value("document.getElementById('sentence').textContent").startswith("With the proposal")
    assert "with the proposed beacons" in browser.value("document.querySelector('#floorPlan h2').textContent")
    answer = json.loads(pharos.run("plan", *PLAN["site"], "--json", timeout=600).out)
    listed = browser.value("""[...document.querySelectorAll('caption')].find(each =>
        each.textContent === 'Proposed beacons').closest('table').querySelectorAll('tbody tr').length""")
    assert listed == len(answer["proposal"]["positions"]) > 10
    reasons = browser.value(
        "[...document.querySelectorAll('#floorPlan tbody tr')].map(row => row.cells[4].textContent)")
    assert reasons and all(reasons)


@pytest.mark.parametrize("width", [1280, 400])
def test_names_on_a_floor_do_not_collide(browser, pages, width):
    opened(browser, pages / "site.html", width=width)
    faults = """(() => { const faults = [], svg = document.querySelector('#floorPlan svg');
        const edge = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])
            .filter(([, box]) => box.width);
        const dots = [...svg.querySelectorAll('circle')].map(dot => dot.getBoundingClientRect());
        boxes.forEach(([name, box], i) => {
            if (box.left < edge.left - 1 || box.right > edge.right + 1) faults.push(`${name} is cut`);
            const meets = by => Math.min(box.right, by.right) - Math.max(box.left, by.left) > 2
                && Math.min(box.bottom, by.bottom) - Math.max(box.top, by.top) > box.height * 0.35;
            for (const [other, by] of boxes.slice(0, i)) if (meets(by)) faults.push(`${name} covers ${other}`);
            if (name.length > 2) for (const dot of dots) if (meets(dot)) faults.push(`${name} covers a dot`);
        });
        return faults; })()"""
    assert browser.value(faults) == []
    size = """Math.min(...[...document.querySelectorAll('#floorPlan text.beaconName')].map(text =>
        text.getBoundingClientRect().height).filter(height => height > 0))"""
    assert browser.value(size) >= 9.5


def pixels(browser: Browser, svg: str, picture: Image.Image, points: list[tuple[float, float]]) -> list[tuple]:
    """The colours at points of a drawing, in its own units."""
    places = browser.value(f"""(() => {{ const to = document.querySelector('{svg}').getScreenCTM();
        return {json.dumps(points)}.map(([x, y]) => {{ const at = new DOMPoint(x, y).matrixTransform(to);
            return [at.x + scrollX, at.y + scrollY]; }}); }})()""")
    return [picture.getpixel((round(x), round(y))) for x, y in places]


def on_floor(browser: Browser, svg: str, metres: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points in metres in the units of a drawing, from the corners of the outline that it draws."""
    path = browser.value(f"document.querySelector('{svg} path.outline').getAttribute('d')")
    corners = [tuple(map(float, pair)) for pair in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)]
    scale = (corners[1][0] - corners[0][0]) / (NOTCHED[1][0] - NOTCHED[0][0])
    return [(corners[0][0] + x * scale, corners[0][1] - y * scale) for x, y in metres]


def test_colours_of_a_map_fill_the_building_and_nothing_else(browser, pages, tmp_path):
    opened(browser, pages / "map.html", width=1280)
    browser.screenshot(tmp_path / "map.png")
    picture = Image.open(tmp_path / "map.png").convert("RGB")
    card = pixels(browser, "#floor0", picture, on_floor(browser, "#floor0", [(4, 5.2)]))[0]
    inside = [(0.25, 0.25), (17.75, 0.25), (17.75, 5.75), (8.25, 5.75), (0.25, 3.75), (9.6, 4.4)]
    assert card == (255, 255, 255)
    assert card not in pixels(browser, "#floor0", picture, on_floor(browser, "#floor0", inside))
    outside = [(0.4, 4.3), (7.7, 4.3), (7.7, 5.7), (18.3, 3), (9, -0.3)]
    assert set(pixels(browser, "#floor0", picture, on_floor(browser, "#floor0", outside))) == {card}
    # Each colour of the legend is that of the part of the picture with the same number.
    for number in range(8):
        swatch = browser.value(
            f"getComputedStyle(document.querySelector('#shade{number} .swatch')).backgroundColor")
        assert swatch == browser.value(f"getComputedStyle(document.getElementById('floor0shade{number}')).fill")


def test_regions_of_a_run_are_translucent_and_inside(browser, pages, tmp_path):
    opened(browser, pages / "track.html", width=1280)
    browser.screenshot(tmp_path / "track.png")
    picture = Image.open(tmp_path / "track.png").convert("RGB")
    outside = [(0.4, 4.3), (7.7, 4.3), (7.7, 5.7), (18.3, 3), (9, -0.3)]
    assert set(pixels(browser, "#floor0 svg", picture, on_floor(browser, "#floor0 svg", outside))) == {(255, 255, 255)}
    assert 0.05 < float(browser.value("getComputedStyle(document.querySelector('.regions')).opacity")) < 0.5
    # Walls are drawn above regions.
    assert browser.value("""!!(document.querySelector('.regions').compareDocumentPosition(
        document.querySelector('#floor0 svg path.wall')) & Node.DOCUMENT_POSITION_FOLLOWING)""")
    swatch = "getComputedStyle(document.querySelector('.swatch.track')).backgroundColor"
    assert browser.value(swatch) == browser.value("getComputedStyle(document.querySelector('path.track')).stroke")


def test_an_audit_has_the_worst_first_in_colour_and_folds_the_rest(browser, pages):
    opened(browser, pages / "audit.html")
    rows = browser.value("[...document.querySelectorAll('tr.bad')].map(row => row.cells[1].textContent)")
    assert rows and all(rows) and "ok" not in rows
    colour = "getComputedStyle(document.querySelector('%s')).color"
    assert browser.value(colour % "tr.bad td") != browser.value(colour % "h1")
    assert browser.value("document.querySelector('tr.good').checkVisibility()") is False
    assert max(browser.value("[...document.querySelectorAll('tr')].map(row => row.cells.length)")) <= 8


def test_the_page_of_a_fleet_has_a_chart(browser, pages):
    opened(browser, pages / "fleet.html")
    answer = json.loads(pharos.run("plan", *PLAN["fleet"], "--json", timeout=600).out)
    bars = browser.value("[...document.querySelectorAll('#bars svg.wide path.bar')].map(bar => bar.getBBox().width)")
    kinds = answer.get("sites") or answer["advertisements"]
    shares = sorted((1 - each["collisionFreeProbability"] for each in kinds), reverse=True)
    assert len(bars) == len(shares) > 1 and bars == sorted(bars, reverse=True)
    assert bars[0] / bars[-1] == pytest.approx(shares[0] / shares[-1], rel=0.01)


@pytest.mark.parametrize("name", ["report.pdf", "report.PNG", "a.b.jpeg"])
@pytest.mark.parametrize("command", [
    ("plan", "collisions", "--beacons", "5", "--interval-ms", "100"), ("audit", "x.json"), ("map", "show", "x.json"),
    ("locate", "x.json"), ("inventory", "report", "x.json"), ("inventory", "map", "x.json")])
def test_a_page_is_not_named_like_a_document_or_a_picture(tmp_path, command, name):
    refused = pharos.run(*command, "--html", tmp_path / name, timeout=600)
    assert refused.code == 64 and "web page" in refused.err and name[:-4] in refused.err and ".html" in refused.err
    assert not (tmp_path / name).exists()


def test_the_pictures_of_the_readme_come_from_the_program(tmp_path):
    made = subprocess.run([sys.executable, ROOT / "Tests/Support/pictures", "--output", tmp_path], capture_output=True,
                          text=True, timeout=600)
    assert made.returncode == 0, made.stderr
    live, page = Image.open(tmp_path / "live-view.png"), Image.open(tmp_path / "planner-page.png")
    assert live.width > 1000 and live.height > 300 and page.width == 1100
    # The edges are empty: nothing is cut off, and there is no scroll bar.
    for picture in (live, page):
        small = picture.convert("RGB")
        right = {small.getpixel((small.width - 1, y)) for y in range(small.height)}
        lower = {small.getpixel((x, small.height - 1)) for x in range(small.width)}
        assert len(right) == len(lower) == 1
