"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { field, siteFile, vectors, isNear } = require("./page.js");

const schema = JSON.parse(readFileSync(join(__dirname, "..", "..", "profiles", "schema", "site.schema.json"), "utf8"));
const settings = { schema, presets: vectors.scanners, target: { detectWithinS: 10, probability: 0.9 } };

function wallsOf(file) {
  return (file.walls ?? []).map((wall, index) => {
    const list = siteFile.points(file, { kind: "wall", index });
    return list.slice(1).map((end, i) => [...list[i], ...end, wall.attenuationDb]);
  });
}

// The shares of cases in which the target's beacons are found in time. Each look finds which times are missing.
function shares(air, floor, received) {
  const times = field.detection(air), count = air.target.beacons ?? 1;
  const look = () => count > 1 ? field.receiver().receiveSeveral(floor, count, times.share)
    : received.map(one => one && one.audible * times.share(one.beacon, one.clear));
  for (let found = look(); ; found = look()) {
    if (times.isComplete()) return found;
    for (const _ of times.work());
  }
}

for (const { site, places, received } of vectors.floors) {
  const file = JSON.parse(site), air = field.airOf(file, settings);
  const beacons = file.beacons.map(beacon => field.beaconOf(beacon, air.defaults));
  test(`what is received on the floor ${site.slice(0, 60)}… ${site.slice(-70)}`, () => {
    const floor = { places, air, beacons, walls: wallsOf(file) }, found = field.receiver().receive(floor), inTime = shares(air, floor, found);
    received.forEach((expected, i) => {
      const at = places[i].join(", ");
      if (!("power" in expected)) { assert.equal(found[i], null, at); return; }
      assert.ok(Math.abs(found[i].power - expected.power) < 1e-9, `power at ${at}: ${found[i].power}, ${expected.power}`);
      assert.ok(Math.abs(found[i].audible - expected.audible) < 1e-9, `audible at ${at}: ${found[i].audible}, ${expected.audible}`);
      assert.ok(Math.abs(found[i].clear - expected.clear) < 1e-9, `clear at ${at}: ${found[i].clear}, ${expected.clear}`);
      assert.ok(Math.abs(inTime[i] - expected.share) < 5e-3, `share at ${at}: ${inTime[i]}, ${expected.share}`);
    });
  });

  test(`moving a beacon and a wall and back changes nothing on ${site.slice(-60)}`, () => {
    const receiver = field.receiver(), walls = wallsOf(file), floor = { places, air, beacons, walls };
    const before = receiver.receive(floor);
    const moved = beacons.with(0, { ...beacons[0], x: beacons[0].x + 2 }), bent = walls.with(0, [[3, 0, 3, 19, 9]]);
    const other = receiver.receive({ ...floor, beacons: moved, walls: bent });
    const anew = field.receiver().receive({ ...floor, beacons: moved, walls: bent });
    other.forEach((one, i) => { assert.ok(!one || isNear(one.power, anew[i].power, 1e-12) && isNear(one.clear, anew[i].clear, 1e-12)); });
    receiver.receive(floor).forEach((one, i) => { assert.ok(!one || isNear(one.power, before[i].power, 1e-12)); });
  });
}
