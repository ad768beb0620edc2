"""`pharos site edit` in a real Chromium: floors drawn with the mouse and with the keyboard alone, then read again;
undo, wrong values, files that changed meanwhile, strangers, phones, and the time that the colours take."""
import http.client
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from PIL import Image

import pharos
from browser import Browser

#: Where the screenshots lie after the tests, to be looked at.
SCREENSHOTS = Path(__file__).resolve().parents[2] / ".build" / "site-editor"
MUSEUM = Path(__file__).resolve().parents[2] / "profiles/sites/museum-ground-floor.json"
#: Keys with their codes, as the browser's protocol wants them.
CODES = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46,
         "Tab": 9}
CONTROL, SHIFT = 2, 8


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        message = "chromium is not installed: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    browser = Browser(program)
    yield browser
    browser.close()


class Editor:
    """One editor with its page."""

    def __init__(self, start, browser: Browser, file: Path, width: int = 1280):
        self.browser, self.file = browser, file
        self.peer = start(pharos.PROGRAM, "site", "edit", file, "--no-browser")
        line = self.peer.wait(lambda line: "editing" in line.get("text", ""), timeout=60)
        self.address = line["text"].split(" at ")[1]
        self.port, self.token = int(self.address.split(":")[2].split("/")[0]), self.address.split("/")[3]
        self.open(width)

    def open(self, width: int = 1280, is_dark: bool = False):
        self.browser.events.clear()
        self.browser.open(self.address, width=width, is_dark=is_dark)
        self.ready()

    def ready(self):
        self.browser.wait("document.getElementById('stage')?.dataset.state === 'ready'")
        self.frame()

    def frame(self):
        self.browser.call("Runtime.evaluate", awaitPromise=True, expression="""new Promise(done =>
            requestAnimationFrame(() => requestAnimationFrame(done)))""")

    def value(self, expression: str):
        return self.browser.value(expression)

    def text(self, name: str) -> str:
        return self.value(f"document.getElementById({json.dumps(name)}).textContent")

    # With the mouse

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixels of a place on the floor."""
        return tuple(self.value(f"""(() => {{ const [x, y] = floorView.toScreen([{x}, {y}]);
            const box = document.getElementById('drawing').getBoundingClientRect();
            return [x + box.left, y + box.top]; }})()"""))

    def mouse(self, kind: str, x: float, y: float, buttons: int = 0, modifiers: int = 0):
        button = "none" if kind == "mouseMoved" else "left"
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1,
                          modifiers=modifiers)

    def click(self, x: float, y: float):
        place = self.at(x, y)
        self.mouse("mouseMoved", *place)
        self.mouse("mousePressed", *place, buttons=1)
        self.mouse("mouseReleased", *place)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 5):
        (x, y), (to_x, to_y) = self.at(*start), self.at(*end)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, buttons=1)
        for step in range(1, steps + 1):
            self.mouse("mouseMoved", x + (to_x - x) * step / steps, y + (to_y - y) * step / steps, buttons=1)
            self.frame()
        self.mouse("mouseReleased", to_x, to_y)
        self.frame()

    def press(self, name: str):
        """Clicks a button or a tool at its place on the screen."""
        x, y = self.value(f"""(() => {{ const it = document.getElementById({json.dumps(name)});
            const shown = it.type === 'radio' ? it.parentElement : it; shown.scrollIntoView({{ block: 'center' }});
            const box = shown.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        for kind, buttons in (("mousePressed", 1), ("mouseReleased", 0)):
            self.mouse(kind, x, y, buttons=buttons)
        self.frame()

    def polygon(self, tool: str, corners: list, is_ring: bool = True):
        self.press(f"tool-{tool}")
        self.value("document.getElementById('stage').scrollIntoView({ block: 'center' })")
        for corner in [*corners, corners[0] if is_ring else corners[-1]]:
            self.click(*corner)

    # With the keyboard

    def key(self, name: str, modifiers: int = 0, count: int = 1):
        code = CODES.get(name) or ord(name.upper())
        is_typed = (name not in CODES or name == "Enter") and not modifiers & CONTROL
        text = {"text": "\r" if name == "Enter" else name} if is_typed else {}
        for _ in range(count):
            for kind in ("keyDown", "keyUp"):
                self.browser.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                                  modifiers=modifiers, **(text if kind == "keyDown" else {}))

    def keys(self, names: str):
        for name in names:
            self.key(name)

    def go(self, x: float, y: float):
        """Moves the cursor to a place with the arrows, from wherever it is."""
        now = self.value("document.getElementById('position').textContent")
        if "east" not in now:
            self.key("ArrowRight")
            now = self.text("position")
        here = [float(part.split()[0]) for part in now.split(", ")[:2]]
        for axis, (back, forth) in enumerate((("ArrowLeft", "ArrowRight"), ("ArrowDown", "ArrowUp"))):
            way = round(((x, y)[axis] - here[axis]) / 0.5, 6)
            assert way == int(way)
            # Ten steps end on a multiple of ten steps of the grid, so that they are not used here.
            self.key(forth if way > 0 else back, count=abs(int(way)))

    def fill(self, name: str, text: str):
        """Types into a field, and leaves it."""
        self.value(f"(() => {{ const it = document.getElementById({json.dumps(name)}); it.focus(); it.select(); }})()")
        self.browser.call("Input.insertText", text=text)
        self.key("Tab")
        self.frame()

    # The file

    def save(self):
        self.value("document.getElementById('status').textContent = ''")
        self.key("s", CONTROL)
        self.browser.wait("document.getElementById('status').textContent !== ''")
        return self.text("status")

    def saved(self) -> dict:
        status = self.save()
        assert status == f"Saved {self.file}", status
        return json.loads(self.file.read_text())

    def request(self, method: str, path: str, body: bytes = b"", host: str | None = None, length: int | None = None,
                **fields) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": host or f"127.0.0.1:{self.port}", **fields}.items():
            connection.putheader(name.replace("_", "-"), value)
        if method != "GET":
            connection.putheader("Content-Length", str(len(body) if length is None else length))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.fixture
def edit(start, browser, tmp_path):
    editors = []

    def begin(site: dict | str | None = None, name: str = "floor.json", **options) -> Editor:
        file = tmp_path / name
        if site is not None:
            file.write_text(site if isinstance(site, str) else json.dumps(site))
        editors.append(Editor(start, browser, file, **options))
        return editors[-1]

    yield begin
    if editors and not editors[-1].value("document.body.dataset.mayComplain === 'true'"):
        # Chromium reports each answer with an error status.
        complaints = [text for text in browser.complaints() if "status of 4" not in text]
        assert complaints == [], complaints
    browser.call("Page.navigate", url="about:blank")


OUTLINE = [[0, 0], [16, 0], [16, 10], [0, 10]]
WALL = [[8, 0], [8, 6], [12, 6]]
ROOM = [[8, 0], [16, 0], [16, 6], [8, 6]]
PATH = [[1, 1], [7, 9], [15, 9]]
DRAWN = {
    "version": 1, "name": "floor", "outline": OUTLINE, "walls": [{"points": WALL, "attenuationDb": 6}],
    "beacons": [{"name": "beacon-1", "position": [4, 5]}], "paths": [{"name": "path-1", "points": PATH}],
    "rooms": [{"name": "room-1", "outline": ROOM}], "receivers": [{"name": "receiver-1", "position": [12, 3]}],
}


def answer(file: Path) -> dict:
    return json.loads(pharos.checked("plan", "site", file, "--json", timeout=600).out)


def good(file: Path):
    """The program takes the file, and writes it as the editor has done."""
    assert pharos.checked("site", "check", file).out == f"{file}: good\n"
    text = file.read_text()
    for line in ('  "version": 1,\n', '  "outline": [\n    [0, 0],\n    [16, 0],\n'):
        assert line in text, text


def test_a_floor_drawn_with_the_mouse(edit):
    editor = edit()
    assert "does not exist yet" in editor.text("status")
    editor.polygon("outline", OUTLINE)
    editor.press("fit")
    editor.polygon("wall", WALL, is_ring=False)
    editor.polygon("room", ROOM)
    for tool, place in (("beacon", (4, 5)), ("receiver", (12, 3))):
        editor.press(f"tool-{tool}")
        editor.click(*place)
    editor.polygon("path", PATH, is_ring=False)
    assert editor.saved() == DRAWN
    good(editor.file)
    planned = answer(editor.file)
    assert planned["beacons"] == 1 and planned["paths"][0]["name"] == "path-1"
    # The page colours what the program computes: the share of the places that reach the target.
    editor.browser.wait("document.getElementById('receptionCard').getAttribute('aria-busy') === 'false'")
    assert float(editor.value("document.getElementById('reached').dataset.value")) == pytest.approx(
        planned["holdingShare"], abs=0.02)
    editor.browser.screenshot(screenshot("mouse.png"))


def screenshot(name: str) -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS / name


def test_a_floor_drawn_with_the_keyboard_alone(edit):
    editor = edit()
    editor.value("document.body.focus()")
    for _ in range(40):
        editor.key("Tab")
        if editor.value("document.activeElement.id") == "stage":
            break
    assert editor.value("document.activeElement.id") == "stage"

    def draw(tool: str, corners: list):
        editor.key(tool)
        for corner in corners:
            editor.go(*corner)
            editor.key("Enter")
        if tool in "owrp":
            editor.key("f")

    for tool, corners in (("o", OUTLINE), ("w", WALL), ("r", ROOM), ("b", [(4, 4.5)]), ("e", [(12, 3)]), ("p", PATH)):
        draw(tool, corners)
    # The beacon is one step too low: select it, move it up by one step, and put it down.
    editor.key("v")
    editor.go(4, 4.5)
    editor.key("Enter")
    assert editor.text("propertiesTitle") == "Beacon beacon-1"
    editor.key("m")
    editor.key("ArrowUp")
    editor.key("Enter")
    # A second beacon, deleted at once; and a value of the first one, set and taken back.
    editor.key("b")
    editor.go(6, 6)
    editor.key("Enter")
    editor.key("Delete")
    assert "beacon-2" not in editor.text("thingList")
    editor.key("n")
    editor.key("n")
    editor.key("n")
    editor.key("n")
    assert editor.text("propertiesTitle") == "Beacon beacon-1"
    editor.key("i")
    assert editor.value("document.activeElement.id") == "own-name"
    editor.key("Escape")
    assert editor.value("document.activeElement.id") == "stage"
    assert editor.saved() == DRAWN
    good(editor.file)


def test_undo_takes_back_each_step(edit):
    editor = edit(DRAWN)
    first = editor.file.read_text()
    editor.drag((4, 5), (6, 7))
    # The corner of a selected thing moves alone.
    editor.click(14, 10)
    editor.drag((16, 10), (15, 9.5))
    assert editor.text("saved") == "Not saved"
    moved = editor.saved()
    assert moved["beacons"][0]["position"] == [6, 7] and moved["outline"][2] == [15, 9.5]
    editor.key("z", CONTROL)
    editor.key("z", CONTROL)
    assert editor.saved() == DRAWN == json.loads(first)
    editor.key("y", CONTROL)
    assert editor.saved()["beacons"][0]["position"] == [6, 7]
    assert editor.saved()["outline"] == OUTLINE


def test_corners_are_added_moved_and_deleted(edit):
    editor = edit({**DRAWN, "walls": [{"from": [2, 2], "to": [6, 2], "attenuationDb": 3}]})
    editor.click(3, 2)
    assert editor.text("propertiesTitle") == "Wall 1"
    editor.press("addCorner")
    editor.fill("own-y", "4.25")
    assert editor.saved()["walls"] == [{"points": [[2, 2], [4, 4.25], [6, 2]], "attenuationDb": 3}]
    editor.press("removeCorner")
    editor.value("(() => { const it = document.getElementById('own-attenuationDbMaterial'); it.value = '11.5';"
                 "it.dispatchEvent(new Event('change')); })()")
    assert editor.saved()["walls"] == [{"points": [[2, 2], [6, 2]], "attenuationDb": 11.5}]
    assert "ITU-R P.2040" in editor.text("own-attenuationDbSource")


def test_a_wrong_value_is_named_and_changes_nothing(edit):
    editor = edit(DRAWN)
    editor.click(4, 5)
    editor.fill("own-radioPowerDbm", "99")
    assert editor.text("own-radioPowerDbmProblem") == "Radiated power: enter a number from -127 to 20."
    assert editor.value("document.getElementById('own-radioPowerDbm').getAttribute('aria-invalid')") == "true"
    assert editor.text("saved") == "Saved"
    editor.fill("own-radioPowerDbm", "-8")
    editor.fill("own-intervalMs", "211,25")
    assert editor.saved()["beacons"] == [
        {"name": "beacon-1", "position": [4, 5], "intervalMs": 211.25, "radioPowerDbm": -8}]
    editor.fill("own-radioPowerDbm", "")
    assert editor.saved()["beacons"] == [{"name": "beacon-1", "position": [4, 5], "intervalMs": 211.25}]


def test_what_the_program_refuses_is_shown_with_its_thing(edit):
    editor = edit(DRAWN)
    before = editor.file.read_text()
    # A corner on the opposite side: the outline touches itself.
    editor.click(14, 10)
    editor.drag((16, 10), (8, 0))
    assert "cross or touch" in editor.text("problems")
    assert editor.save() == "Not saved: the program refuses this file"
    assert "outline: the outline crosses or touches itself" in editor.text("problems")
    assert editor.file.read_text() == before
    editor.value("document.querySelector('#problems button').click()")
    assert editor.text("propertiesTitle") == "Outline"
    editor.key("z", CONTROL)
    assert editor.saved()["outline"] == OUTLINE


def test_what_the_editor_does_not_know_stays(edit):
    site = json.loads(MUSEUM.read_text())
    editor = edit(MUSEUM.read_text())
    editor.press("tool-beacon")
    editor.click(10, 4)
    saved = editor.saved()
    assert saved.pop("beacons") == [*site.pop("beacons"), {"name": "beacon-7", "position": [10, 4]}]
    assert saved == site and list(saved) == [key for key in json.loads(MUSEUM.read_text()) if key != "beacons"]
    fleet = edit({**DRAWN, "beacons": {"fleet": "none.json"}}, name="fleet.json")
    assert "none.json" in fleet.text("problems")
    fleet.press("tool-beacon")
    fleet.click(4, 4)
    assert "come from the fleet none.json" in fleet.text("status")


def test_a_file_that_changed_meanwhile_is_not_overwritten_silently(edit):
    editor = edit(DRAWN)
    editor.drag((4, 5), (6, 7))
    other = {**DRAWN, "name": "other"}
    editor.file.write_text(json.dumps(other))
    assert editor.save() == "Not saved: another program has changed the file meanwhile"
    assert json.loads(editor.file.read_text()) == other
    editor.press("reload")
    editor.browser.wait("document.getElementById('siteName')?.textContent === 'other'")
    editor.ready()
    editor.drag((4, 5), (6, 7))
    editor.file.write_text(json.dumps(DRAWN))
    editor.save()
    editor.press("overwrite")
    editor.browser.wait("document.getElementById('status').textContent.startsWith('Saved')")
    saved = json.loads(editor.file.read_text())
    assert saved["name"] == "other" and saved["beacons"][0]["position"] == [6, 7]
    # A file that is deleted, and one that appears, are changes too.
    editor.file.unlink()
    editor.drag((6, 7), (5, 5))
    assert editor.save().startswith("Not saved: another program has changed the file")
    assert not editor.file.exists()


def test_strangers_are_refused(edit):
    editor = edit(DRAWN)
    before, page = editor.file.read_text(), f"/{editor.token}/"
    body = json.dumps({**DRAWN, "name": "stranger"}).encode()
    assert editor.request("GET", page)[0] == 200
    wrong = page.replace(editor.token[0], "0" if editor.token[0] != "0" else "1", 1)
    for path in ("/", wrong, f"/{editor.token}", "/favicon.ico"):
        assert editor.request("GET", path)[0] == 403, path
        assert editor.request("PUT", path + "file", body, If_Match='"x"')[0] == 403
    for host in ("evil.example", f"evil.example:{editor.port}", "127.0.0.1"):
        assert editor.request("GET", page, host=host)[0] == 403, host
    assert editor.request("PUT", page + "file", body, Origin="http://evil.example", If_Match='"x"')[0] == 403
    assert editor.request("PUT", page + "file", body)[0] == 428
    assert editor.request("PUT", page + "file", body, If_Match='"x"')[0] == 412
    assert editor.request("PUT", page + "file", b"[" * 100_000, If_Match='"x"')[0] == 422
    assert editor.request("POST", page)[0] == 405
    assert editor.request("GET", page + "etc/passwd")[0] == 404
    status, text = editor.request("PUT", page + "file", b"{", length=(1 << 25) + 1, If_Match='"x"')
    assert status == 413 and "MiB" in text
    assert editor.file.read_text() == before
    assert editor.request("GET", page)[0] == 200


def test_it_ends_with_its_button_and_with_signals(edit):
    editor = edit(DRAWN)
    editor.press("close")
    assert editor.peer.exit_code() == 0
    editor.browser.wait("document.body.textContent.includes('The editor is closed')")
    for how in (signal.SIGTERM, signal.SIGINT):
        editor = edit(DRAWN)
        begun = time.monotonic()
        assert editor.peer.interrupt(how) == 0
        assert time.monotonic() - begun < 2
    # Without the program the page keeps the drawing, and offers a copy.
    editor.drag((4, 5), (6, 7))
    assert "Save a copy with Download" in editor.save()
    assert editor.value("document.getElementById('download').hidden") is False
    editor.value("document.body.dataset.mayComplain = 'true'")


@pytest.mark.parametrize("file, text, code, said", [
    ("floor.json", "{", 65, "floor.json:1:2"), ("-", None, 64, "name of a file"),
    ("none/floor.json", None, 66, "none/ does not exist"),
    ("floor.json", '{"version": 1, "name": "x", "walls": [3]}', 78, "walls[0]")])
def test_a_file_that_cannot_be_edited_is_named(tmp_path, file, text, code, said):
    path = tmp_path / file if file != "-" else file
    if text is not None:
        path.write_text(text)
    refused = pharos.run("site", "edit", path, "--no-browser")
    assert refused.code == code and said in refused.err


def test_a_phone_draws_too(edit):
    editor = edit(DRAWN, width=400)
    assert editor.value("document.documentElement.scrollWidth") <= 400
    box = editor.value("(() => { const box = document.getElementById('stage').getBoundingClientRect();"
                       "return [box.width, box.height]; })()")
    assert box[0] > 320 and box[1] > 300
    editor.press("tool-beacon")
    editor.value("document.getElementById('stage').scrollIntoView({ block: 'center' })")
    x, y = editor.at(12, 8)
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        editor.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    assert editor.saved()["beacons"][1]["position"] == [12, 8]
    small = """[...document.querySelectorAll('button, .tools span, select')].filter(it => it.checkVisibility())
        .map(it => [it.id || it.textContent, it.getBoundingClientRect().height]).filter(([, height]) => height < 30)"""
    assert editor.value(small) == []
    for is_dark in (False, True):
        editor.open(400, is_dark)
        editor.browser.screenshot(screenshot(f"phone-{'dark' if is_dark else 'light'}.png"))


def test_colours_follow_a_drag_within_50_ms_with_100_beacons(edit):
    beacons = [{"name": f"b{n}", "position": [2 + 4 * (n % 12), 1 + 2.4 * (n // 12)]} for n in range(100)]
    # So weak that the colours have a pattern.
    defaults = {"intervalMs": 417.5, "payloadOctets": 30, "radioPowerDbm": -20}
    site = {**json.loads(MUSEUM.read_text()), "beacons": beacons, "defaults": defaults}
    editor = edit(site)
    editor.browser.wait("document.getElementById('receptionCard').getAttribute('aria-busy') === 'false'")
    path = "[...document.querySelectorAll('#field path')].map(path => path.getAttribute('d')).join()"
    before, best, deadline = editor.value(path), None, time.monotonic() + 60
    here, there = (beacons[17]["position"], [24, 5])
    while best is None or best >= 50 and time.monotonic() < deadline:
        editor.drag(here, there, steps=12)
        taken = float(editor.value("document.getElementById('stage').dataset.answerMs"))
        best = taken if best is None else min(best, taken)
        here, there = there, here
    print(f"the slowest answer of a drag took {best:.0f} ms")
    assert best < 50
    assert editor.value(path) != before
    assert "Computed at" in editor.text("spacing")


def test_a_picture_lies_behind_the_floor_to_scale(edit, tmp_path):
    Image.new("RGB", (80, 50), (200, 30, 30)).save(tmp_path / "plan.png")
    editor = edit({**DRAWN, "picture": {"file": "plan.png", "widthM": 16, "position": [0, 0]}})
    shown = editor.value("""(() => { const it = document.getElementById('picture');
        const box = it.getBoundingClientRect(); return [box.left, box.bottom, box.right, box.top]; })()""")
    expected = [*editor.at(0, 0), *editor.at(16, 10)]
    assert shown == pytest.approx(expected, abs=1)
    editor.fill("site-picture-widthM", "8")
    assert editor.saved()["picture"]["widthM"] == 8


def picture(folder: Path) -> dict:
    Image.new("RGB", (80, 50), (200, 30, 30)).save(folder / "plan.png")
    return {"file": "plan.png", "widthM": 16, "position": [0, 0]}


def test_the_scale_is_set_with_a_line_over_a_known_distance(edit, tmp_path):
    """The floor was drawn over a picture of the wrong width: the wall of 8 m is 12.4 m long."""
    editor = edit({**DRAWN, "picture": picture(tmp_path)})
    before = editor.file.read_text()
    editor.press("tool-scale")
    editor.value("document.getElementById('stage').scrollIntoView({ block: 'center' })")
    assert editor.value("document.getElementById('scaleLength').disabled") is True
    editor.click(8, 0)
    editor.click(16, 0)
    assert editor.value("document.activeElement.id") == "scaleLength"
    assert editor.value("document.getElementById('scaleLength').value") == "8"
    editor.browser.screenshot(screenshot("scale.png"))
    editor.fill("scaleLength", "0")
    assert editor.text("scaleLengthProblem") == "Length of the line: enter a number from 0.01 to 100000."
    editor.fill("scaleLength", "12.4")
    assert "the line is 12.4 m long, and the picture 24.8 m wide" in editor.text("status")
    editor.value("document.getElementById('stage').focus()")
    saved = editor.saved()
    # The first end of the line stays; everything else is 1.55 times as far from it.
    assert saved["picture"] == {"file": "plan.png", "widthM": 24.8, "position": [-4.4, 0]}
    assert saved["outline"] == [[-4.4, 0], [20.4, 0], [20.4, 15.5], [-4.4, 15.5]]
    assert saved["walls"][0]["points"] == [[8, 0], [8, 9.3], [14.2, 9.3]]
    assert saved["beacons"][0]["position"] == [1.8, 7.75]
    assert pharos.checked("site", "check", editor.file).out.endswith("good\n")
    editor.key("z", CONTROL)
    assert editor.saved() == json.loads(before)
    # Only the picture: the floor is right already.
    editor.press("tool-scale")
    editor.value("document.getElementById('stage').scrollIntoView({ block: 'center' })")
    editor.click(0, 0)
    editor.click(8, 0)
    editor.press("scalePicture")
    editor.fill("scaleLength", "12,4")
    assert editor.saved() == {**json.loads(before), "picture": {"file": "plan.png", "widthM": 24.8, "position": [0, 0]}}


@pytest.mark.parametrize("width", [1280, 400])
def test_the_scale_is_set_with_the_keyboard_alone(edit, tmp_path, width):
    editor = edit({**DRAWN, "picture": picture(tmp_path)}, width=width)
    editor.value("document.getElementById('stage').focus()")
    editor.key("s")
    for corner in ((0, 0), (4, 3)):
        editor.go(*corner)
        editor.key("Enter")
    assert editor.value("document.activeElement.id") == "scaleLength"
    # Escape leaves the file as it is.
    editor.key("Escape")
    assert "unchanged" in editor.text("status") and editor.text("saved") == "Saved"
    for corner in ((0, 0), (4, 3)):
        editor.go(*corner)
        editor.key("Enter")
    for letter in "10":
        editor.key(letter)
    editor.key("Enter")
    assert editor.value("document.activeElement.id") == "stage"
    assert editor.value("document.documentElement.scrollWidth") <= width
    saved = editor.saved()
    assert saved["picture"]["widthM"] == 32 and saved["outline"] == [[0, 0], [32, 0], [32, 20], [0, 20]]
    editor.key("z", CONTROL)
    assert editor.saved()["picture"]["widthM"] == 16
    editor.key("y", CONTROL)
    assert editor.saved()["picture"]["widthM"] == 32


MOUNTS = [[2, 8, 2.7], [6, 8], [10, 8]]


def test_a_beacon_gets_a_height_and_a_mount(edit):
    editor = edit({**DRAWN, "mounts": MOUNTS})
    editor.click(4, 5)
    assert editor.value("document.getElementById('own-mount').value") == ""
    editor.fill("own-height", "2.4")
    assert editor.saved()["beacons"][0]["position"] == [4, 5, 2.4]
    assert "2.4 m high" in editor.text("thingList")
    editor.fill("own-height", "high")
    assert "enter a number" in editor.text("own-heightProblem")
    # Moving it keeps the height; dropped close to a mount it is on it.
    editor.drag((4, 5), (6.1, 7.9))
    assert editor.saved()["beacons"][0]["position"] == [6, 8, 2.4]
    assert editor.value("document.getElementById('own-mount').value") == "1"
    choose = """(() => { const it = document.getElementById('own-mount'); it.value = '0';
        it.dispatchEvent(new Event('change')); })()"""
    editor.value(choose)
    assert editor.saved()["beacons"][0]["position"] == [2, 8, 2.7]
    assert pharos.checked("site", "check", editor.file).out.endswith("good\n")
    for position in ([6, 8, 2.4], [4, 5, 2.4], [4, 5]):
        editor.key("z", CONTROL)
        assert editor.saved()["beacons"][0]["position"] == position
    assert editor.saved()["mounts"] == MOUNTS


@pytest.mark.parametrize("width", [1280, 400])
def test_mounts_and_heights_with_the_keyboard_alone(edit, width):
    editor = edit({**DRAWN, "mounts": MOUNTS[:2]}, width=width)
    editor.value("document.getElementById('stage').focus()")
    editor.key("t")
    editor.go(10, 8)
    editor.key("Enter")
    assert editor.text("propertiesTitle") == "Mount 3"
    editor.key("v")
    editor.go(4, 5)
    editor.key("Enter")
    assert editor.text("propertiesTitle") == "Beacon beacon-1"
    # From the first field to the height, and to the mount after it.
    editor.key("i")
    for _ in range(20):
        if editor.value("document.activeElement.id") == "own-height":
            break
        editor.key("Tab")
    editor.key("3")
    editor.key("Tab")
    assert editor.value("document.activeElement.id") == "own-mount"
    # From no mount over the first two to the third one.
    editor.key("ArrowDown", count=3)
    editor.frame()
    editor.key("Escape")
    assert editor.value("document.documentElement.scrollWidth") <= width
    saved = editor.saved()
    # The first mount has a height, which the beacon keeps on the others.
    assert saved["mounts"] == MOUNTS
    assert saved["beacons"][0]["position"] == [10, 8, 2.7]
    for _ in range(5):
        editor.key("z", CONTROL)
    assert editor.saved() == {**DRAWN, "mounts": MOUNTS[:2]}


def test_names_do_not_cover_each_other(edit):
    """Beacons half a metre apart in narrow rooms, on a desk and on a phone."""
    beacons = [{"name": f"beacon-{n}", "position": [1 + 0.5 * (n % 20), 1 + 0.5 * (n // 20)]} for n in range(60)]
    rooms = [{"name": f"a long name of room {n}", "outline": [[2 * n, 0], [2 * n + 2, 0], [2 * n + 2, 10], [2 * n, 10]]}
             for n in range(8)]
    editor = edit({**DRAWN, "beacons": beacons, "rooms": rooms})
    covered = """(() => {
        const all = [...document.querySelectorAll('#things text')].map(it => it.getBoundingClientRect());
        const meets = (a, b) => a.left + 8 < b.right && b.left + 8 < a.right
            && a.top + 4 < b.bottom && b.top + 4 < a.bottom;
        return [all.length, all.filter((a, i) => all.slice(i + 1).some(b => meets(a, b))).length]; })()"""
    for width in (1280, 400):
        editor.open(width)
        shown, overlapping = editor.value(covered)
        assert shown > 3 and overlapping == 0
        editor.browser.screenshot(screenshot(f"names-{width}.png"))


def test_the_page_does_not_replace_the_site_file(tmp_path):
    page, file = tmp_path / "editor.html", tmp_path / "floor.json"
    file.write_text(json.dumps(DRAWN))
    page.symlink_to("floor.json")
    result = pharos.run("site", "edit", file, "--html", page)
    assert result.code == 64 and f"--html {page}: the command reads this file: give another file." in result.err
    assert json.loads(file.read_text()) == DRAWN


def test_the_page_by_itself_opens_and_saves_a_file(browser, tmp_path):
    page, file = tmp_path / "editor.html", tmp_path / "floor.json"
    written = pharos.checked("site", "edit", "--html", page)
    assert written.out == f"page written: {page}\n"
    file.write_text(json.dumps(DRAWN))
    Image.new("RGB", (80, 50), (200, 30, 30)).save(tmp_path / "plan.png")
    browser.events.clear()
    browser.open(page, width=1280)
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    browser.value("window.showSaveFilePicker = undefined")

    def choose(name: str, path: Path):
        element = browser.call("Runtime.evaluate", expression=f"document.getElementById('{name}')")["result"]
        browser.call("DOM.setFileInputFiles", files=[str(path)], objectId=element["objectId"])

    choose("openFile", file)
    browser.wait("document.getElementById('status').textContent === 'Opened floor.json'")
    choose("pictureFile", tmp_path / "plan.png")
    browser.wait("document.getElementById('status').textContent.startsWith('Picture opened')")
    browser.value("document.getElementById('save').click()")
    saved = tmp_path / "saved" / "floor.json"
    deadline = time.monotonic() + 60
    while not saved.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    text = saved.read_text()
    assert json.loads(text) == {**DRAWN, "picture": {"file": "plan.png", "widthM": 20, "position": [0, 0]}}
    shutil.copy(saved, file)
    assert pharos.checked("site", "check", file).out.endswith("good\n")
    assert [url for url in browser.requests() if not url.startswith(("file:", "data:", "blob:"))] == []
    assert browser.complaints() == []


def test_names_of_everything_for_screen_readers(edit):
    editor = edit(DRAWN)
    nodes = editor.browser.call("Accessibility.getFullAXTree")["nodes"]
    unnamed = [node for node in nodes if node.get("role", {}).get("value") in (
        "button", "textbox", "combobox", "radio", "checkbox", "application") and not node.get("name", {}).get("value")]
    assert unnamed == []
    names = {node["name"]["value"] for node in nodes if node.get("name", {}).get("value")}
    assert "Beacon beacon-1, 4 m east, 5 m north" in names and "Floor" in names


def test_screenshots_for_people(edit):
    editor = edit(MUSEUM.read_text())
    for is_dark in (False, True):
        editor.open(1280, is_dark)
        editor.browser.wait("document.getElementById('receptionCard').getAttribute('aria-busy') === 'false'")
        editor.click(22, 6)
        editor.frame()
        editor.browser.call("Page.captureScreenshot")
        picture = editor.browser.picture(screenshot(f"desk-{'dark' if is_dark else 'light'}.png"),
                                         {"x": 0, "y": 0, "width": 1280, "height": 1200, "scale": 1})
        assert len(picture.getcolors(1 << 24)) > 20
