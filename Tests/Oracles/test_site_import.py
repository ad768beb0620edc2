"""`pharos site init --from`: a DXF drawing by way of GDAL's ogr2ogr, and degrees against PROJ's projection."""
import json
import shutil
import subprocess

import pytest

import pharos

# gdal-bin is large, so only `make test-all` installs it.
pytestmark = [pytest.mark.long, pytest.mark.skipif(shutil.which("ogr2ogr") is None, reason="needs gdal-bin")]


def dxf(*entities):
    """A drawing of entities, each a list of group codes with their values."""
    inner = [pair for entity in entities for pair in entity]
    pairs = [(0, "SECTION"), (2, "ENTITIES"), *inner, (0, "ENDSEC"), (0, "EOF")]
    return "".join(f"{code}\n{value}\n" for code, value in pairs)


def line(layer, start, end):
    return [(0, "LINE"), (8, layer), (10, start[0]), (20, start[1]), (11, end[0]), (21, end[1])]


def polyline(layer, points, is_closed=True):
    corners = [pair for x, y in points for pair in ((10, x), (20, y))]
    return [(0, "LWPOLYLINE"), (100, "AcDbEntity"), (8, layer), (100, "AcDbPolyline"), (90, len(points)),
            (70, int(is_closed)), *corners]


def circle(layer, middle, radius):
    return [(0, "CIRCLE"), (8, layer), (10, middle[0]), (20, middle[1]), (40, radius)]


def text(layer, position, words):
    return [(0, "TEXT"), (8, layer), (10, position[0]), (20, position[1]), (40, 200), (1, words)]


def convert(source, target, *options):
    subprocess.run(["ogr2ogr", *options, "-f", "GeoJSON", target, source], check=True, capture_output=True)
    return target


def test_a_drawing_in_millimetres(tmp_path):
    drawing = tmp_path / "floor.dxf"
    drawing.write_text(dxf(
        polyline("UMRISS", [(0, 0), (20000, 0), (20000, 10000), (0, 10000)]),
        line("A-WALL-CONCRETE", (8000, 0), (8000, 6000)), polyline("Innenwand", [(8000, 8000), (12000, 8000)], False),
        polyline("Raum", [(0, 0), (8000, 0), (8000, 10000), (0, 10000)]), circle("BEACONS", (2000, 3000), 200),
        text("Beacon", (12000, 5000), "door"), text("DIM", (1, 1), "20.00")))
    converted = convert(drawing, tmp_path / "floor.geojson")
    result = pharos.checked("site", "init", tmp_path / "hall", "--from", converted, "--unit", "mm")
    assert result.out.startswith(
        f"Wrote {tmp_path}/hall.json: 20 m × 10 m, from {converted} with 2 walls, 1 room and 2 beacons.")
    assert 'left out 1 feature without a known kind, of the layers "DIM"' in result.err
    assert "1 wall names neither a loss nor a material, so 6 dB counts" in result.err
    site = json.loads((tmp_path / "hall.json").read_text())
    assert site["outline"] == [[0, 0], [20, 0], [20, 10], [0, 10]]
    assert site["walls"] == [{"from": [8, 0], "to": [8, 6], "attenuationDb": 12},
                             {"from": [8, 8], "to": [12, 8], "attenuationDb": 6}]
    assert site["rooms"] == [{"name": "room-1", "outline": [[0, 0], [8, 0], [8, 10], [0, 10]]}]
    # A circle is a beacon at its middle, a text is one with a name.
    assert [beacon["name"] for beacon in site["beacons"]] == ["beacon-1", "door"]
    assert site["beacons"][0]["position"] == pytest.approx([2, 3], abs=0.002)
    assert site["beacons"][1]["position"] == [12, 5]
    assert pharos.checked("site", "check", tmp_path / "hall.json").out.endswith(": good\n")


@pytest.mark.parametrize("longitude, latitude", [(13.3777, 52.5163), (-70.5, -33.4), (179.9, 0.0), (25.0, 71.1)])
def test_degrees_become_metres_as_proj_has_them(longitude, latitude, tmp_path):
    """The azimuthal equidistant projection around the reference is the tangent plane, to 0.1 mm at these distances."""
    steps = ((0, 0), (3e-4, 1e-4), (2e-4, 9e-4), (-3e-4, 4e-4))
    corners = [((longitude + x + 180) % 360 - 180, latitude + y) for x, y in steps]
    degrees = tmp_path / "degrees.geojson"
    shapes = [("path", "LineString", corners), ("beacon", "Point", corners[0])]
    degrees.write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"kind": kind}, "geometry": {"type": form, "coordinates": coordinates}}
        for kind, form, coordinates in shapes]}))
    projection = f"+proj=aeqd +lon_0={longitude} +lat_0={latitude} +datum=WGS84"
    metres = convert(degrees, tmp_path / "metres.geojson", "-s_srs", "EPSG:4326", "-t_srs", projection)
    expected = json.loads(metres.read_text())["features"][0]["geometry"]["coordinates"]
    pharos.checked("site", "init", tmp_path / "roof", "--from", degrees, f"--reference={longitude},{latitude}")
    found = json.loads((tmp_path / "roof.json").read_text())["paths"][0]["points"]
    for place, (x, y) in zip(found, expected, strict=True):
        assert place == pytest.approx([x, y], abs=0.001)
    refused = pharos.run("site", "init", tmp_path / "none", "--from", degrees)
    assert refused.code == 78 and "the coordinates are degrees: give the place that becomes the origin" in refused.err
    assert len(refused.err.splitlines()) == 1 and not (tmp_path / "none.json").exists()
