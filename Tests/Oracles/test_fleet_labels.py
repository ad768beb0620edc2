"""The labels of a fleet, rendered by librsvg and read back by ZBar."""
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import fleets
import pharos

PAPERS = {"70x37": 24, "63.5x38.1": 21, "99.1x38.1": 14, "105x74": 8}


@pytest.fixture
def codes(needs, tmp_path):
    """`codes(FILE)`: what the QR codes of an SVG say."""
    render, read = needs("rsvg-convert"), needs("zbarimg")

    def read_back(svg) -> set[str]:
        picture = tmp_path / "page.png"
        subprocess.run([render, "--format", "png", "--dpi-x", "300", "--dpi-y", "300", "-o", picture, svg], check=True)
        out = subprocess.run([read, "--quiet", "--xml", picture], check=True, capture_output=True).stdout
        texts = ElementTree.fromstring(out).iter("{http://zbar.sourceforge.net/2008/barcode}data")
        return {text.text for text in texts}

    return read_back


def text_of(number: int) -> str:
    return (f"hall-{number}\nmuseum / ground / hall\nD0:11:22:33:00:{number:02X}\n"
            f"ibeacon:{fleets.UUID}-1-{number}\nuid:8b0ca750095477cb3e77-{number:012x}\n"
            f"https://example.org/n{number}")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_code_of_a_page_is_read_back(tmp_path, codes, paper):
    count = PAPERS[paper]
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(count)])
    pharos.checked("fleet", "labels", tmp_path, "--paper", paper, "--output", tmp_path / "labels.svg")
    assert codes(tmp_path / "labels.svg") == {text_of(number) for number in range(count)}


def test_further_pages_have_numbers(tmp_path, codes):
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(30)])
    result = pharos.checked("fleet", "labels", tmp_path, "--skip-labels", "20", "--output", tmp_path / "l.svg")
    assert result.out.startswith("30 labels on 3 pages: ")
    pages = [codes(tmp_path / f"l-{page}.svg") for page in (1, 2, 3)]
    assert pages == [{text_of(n) for n in range(4)}, {text_of(n) for n in range(4, 28)}, {text_of(28), text_of(29)}]


def test_the_longest_names_and_many_identities_fit(tmp_path, codes):
    name = "n" * 64
    long = fleets.beacon(1, name=name, group="/".join("g" * 64 for _ in range(3)))
    long["advertisements"] *= 12
    fleets.write(tmp_path, [long])
    pharos.checked("fleet", "labels", tmp_path, "--output", tmp_path / "l.svg")
    texts = codes(tmp_path / "l.svg")
    assert len(texts) == 1 and texts.pop().startswith(name)
    svg = ElementTree.parse(tmp_path / "l.svg")
    said = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "".join(said).startswith(name)
    assert said[-1] == "D0:11:22:33:00:01"


def test_only_one_box(tmp_path, codes):
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(3)])
    pharos.checked("fleet", "labels", tmp_path, "--beacon", "hall-1", "--output", tmp_path / "l.svg")
    assert codes(tmp_path / "l.svg") == {text_of(1)}
    refused = pharos.run("fleet", "labels", tmp_path, "--beacon", "hall-9", "--output", tmp_path / "m.svg")
    assert refused.code == 64 and "hall-9" in refused.err
    assert not (tmp_path / "m.svg").exists()


def names_on(path) -> list[str]:
    texts = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return [text.text for text in texts if text.get("font-weight") == "bold"]


def test_labels_come_in_the_order_of_groups(tmp_path):
    places = ["berlin/1/b", "oslo", "berlin/2", "berlin/1/a", "oslo/1", "berlin/1/b"]
    fleets.write(tmp_path, [fleets.beacon(10 - n, group=place) for n, place in enumerate(places)])
    orders = {"group": [10, 5, 7, 8, 9, 6], "name": [5, 6, 7, 8, 9, 10], "file": [10, 9, 8, 7, 6, 5]}
    for order, numbers in orders.items():
        pharos.checked("fleet", "labels", tmp_path, "--sort", order, "--output", tmp_path / "l.svg")
        assert names_on(tmp_path / "l.svg") == [f"hall-{n}" for n in numbers], order
    pharos.checked("fleet", "labels", tmp_path, "--output", tmp_path / "l.svg")
    assert names_on(tmp_path / "l.svg") == [f"hall-{n}" for n in (10, 5, 7, 8, 9, 6)]
    pharos.checked("fleet", "labels", tmp_path, "--site", "oslo", "--output", tmp_path / "l.svg")
    assert names_on(tmp_path / "l.svg") == ["hall-9", "hall-6"]
    pharos.checked("fleet", "labels", tmp_path, "--group", "berlin/1", "--output", tmp_path / "l.svg")
    assert names_on(tmp_path / "l.svg") == ["hall-10", "hall-5", "hall-7"]
    refused = pharos.run("fleet", "labels", tmp_path, "--site", "rome", "--output", tmp_path / "m.svg")
    assert refused.code == 64 and "rome" in refused.err


def test_codes_lead_to_a_chosen_url(tmp_path, codes):
    fleets.write(tmp_path, [fleets.beacon(n, group="a/b") for n in range(2)])
    pharos.checked("fleet", "labels", tmp_path, "--output", tmp_path / "l.svg", "--url",
                   "https://example.org/{site}/{name}?at={address}&id={major}.{minor}")
    assert codes(tmp_path / "l.svg") == {
        f"https://example.org/a/hall-{n}?at=D0%3A11%3A22%3A33%3A00%3A{n:02X}&id=1.{n}" for n in range(2)}
    for template, word in (("https://x/{nmae}", "{nmae}"), ("https://x/{name", "}"), ("hall", "URL"),
                           ("https://x/{serial}", "hall-0 has no value for {serial}"),
                           ("https://x/" + 300 * "y", "300")):
        refused = pharos.run("fleet", "labels", tmp_path, "--output", tmp_path / "m.svg", "--url", template)
        assert refused.code == 64 and word in refused.err, refused
    assert not (tmp_path / "m.svg").exists()


def test_a_document_has_all_pages(tmp_path, needs):
    needs("rsvg-convert")
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(30)])
    answer = pharos.checked("fleet", "labels", tmp_path, "--output", tmp_path / "l.pdf")
    assert answer.out == f"30 labels on 2 pages: {tmp_path / 'l.pdf'}\n"
    document = (tmp_path / "l.pdf").read_bytes()
    assert document.startswith(b"%PDF-") and len(re.findall(rb"/MediaBox \[ 0 0 595\.\d+ 841\.\d+ \]", document)) == 2
    assert re.search(rb"/Count 2\b", document)


def test_a_document_needs_rsvg_convert(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(0)])
    done = subprocess.run([pharos.PROGRAM, "fleet", "labels", tmp_path, "--output", tmp_path / "l.pdf"],
                          env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 69 and "apt-get install librsvg2-bin" in done.stderr
    assert not (tmp_path / "l.pdf").exists()


def test_pages_are_sheets_of_a4(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(1)])
    pharos.checked("fleet", "labels", tmp_path, "--cut-lines", "--output", tmp_path / "l.svg")
    page = ElementTree.parse(tmp_path / "l.svg").getroot()
    assert (page.get("width"), page.get("height")) == ("210mm", "297mm")
    assert re.fullmatch(r"0 0 21000 29700", page.get("viewBox"))


def test_standard_output_gets_one_page_and_nothing_else(tmp_path):
    fleets.write(tmp_path, [fleets.beacon(number) for number in range(30)])
    one = pharos.checked("fleet", "labels", tmp_path, "--beacon", "hall-1", "--output", "-", cwd=tmp_path)
    assert ElementTree.fromstring(one.out).tag.endswith("svg")
    many = pharos.run("fleet", "labels", tmp_path, "--output", "-", cwd=tmp_path)
    assert many.code == 64 and "2 pages need a file" in many.err
    assert not list(tmp_path.glob("*.svg"))
