"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { geometry, siteFile } = require("./page.js");

const file = {
  $schema: "x.json", version: 1, name: "hall", outline: [[0, 0], [10, 0], [10, 5], [0, 5], [0, 0]],
  walls: [{ from: [1, 1], to: [2, 1], attenuationDb: 3 }, { points: [[1, 1, 2.5], [2, 1], [2, 2]], attenuationDb: 6 }],
  beacons: [{ position: [1, 2], intervalMs: 100 }], scanner: "linux",
};
const order = ["$schema", "version", "name", "picture", "outline", "walls", "beacons", "mounts", "paths", "rooms", "receivers", "scanner"];

test("a change makes a new file, and keeps what the editor does not know", () => {
  const before = siteFile.text(file);
  const moved = siteFile.withPoints(file, { kind: "wall", index: 1 }, [[1, 1.004, 2.5], [2.123, 1], [2, 2]]);
  assert.deepEqual(moved.walls[1], { points: [[1, 1, 2.5], [2.12, 1], [2, 2]], attenuationDb: 6 });
  assert.equal(moved.walls[0], file.walls[0]);
  assert.equal(moved.scanner, "linux");
  assert.equal(siteFile.text(file), before);
});

test("a new kind stands where the format has it, and an empty list is left out", () => {
  const [one, item] = siteFile.add(file, "room", [[0, 0], [1, 0], [1, 1]], { name: "r" }, order);
  assert.deepEqual(Object.keys(one), ["$schema", "version", "name", "outline", "walls", "beacons", "rooms", "scanner"]);
  assert.deepEqual(one.rooms, [{ name: "r", outline: [[0, 0], [1, 0], [1, 1]] }]);
  assert.deepEqual(siteFile.remove(one, item), file);
  const [two] = siteFile.add(file, "wall", [[0, 0], [0, 1]], { attenuationDb: 3.5 }, order);
  assert.deepEqual(two.walls[2], { from: [0, 0], to: [0, 1], attenuationDb: 3.5 });
});

test("a ring that repeats its first corner has it once, and a wall with a third corner is a row", () => {
  assert.equal(siteFile.points(file, { kind: "outline", index: 0 }).length, 4);
  const bent = siteFile.withPoints(file, { kind: "wall", index: 0 }, [[1, 1], [2, 1], [2, 3]]);
  assert.deepEqual(bent.walls[0], { points: [[1, 1], [2, 1], [2, 3]], attenuationDb: 3 });
});

test("names that are free, and names that are not", () => {
  assert.equal(siteFile.freeName(file, "beacon"), "beacon-2");
  const [twice] = siteFile.add(file, "beacon", [[3, 3]], { name: "beacon-1" }, order);
  assert.match(siteFile.problems(twice)[0].text, /two beacons have the name beacon-1/);
  assert.equal(siteFile.freeName(twice, "beacon"), "beacon-3");
});

test("an outline that crosses itself is a problem", () => {
  assert.deepEqual(siteFile.problems(file), []);
  const crossed = { ...file, outline: [[0, 0], [10, 0], [0, 5], [10, 5]] };
  assert.match(siteFile.problems(crossed)[0].text, /after corner 2 and after corner 4 cross/);
  assert.match(geometry.fault([[0, 0], [1, 1], [2, 2]]), /line/);
});

test("a fleet's beacons are not things of the file", () => {
  const fleet = { ...file, beacons: { fleet: "museum-fleet.json" } };
  assert.deepEqual(siteFile.items(fleet).map(({ kind }) => kind), ["outline", "wall", "wall"]);
});

test("points snap to corners first, then to right angles, then to the grid", () => {
  const options = { points: [[3, 3]], from: [0, 0], reach: 0.2, grid: 0.5, isRight: true };
  assert.deepEqual(geometry.snap([3.1, 2.95], options), { point: [3, 3], to: "corner" });
  assert.deepEqual(geometry.snap([2.1, 0.15], options), { point: [2, 0], to: "right angle" });
  assert.deepEqual(geometry.snap([-0.1, 4.2], options), { point: [0, 4], to: "right angle" });
  assert.deepEqual(geometry.snap([2.1, 1.3], options), { point: [2, 1.5], to: "grid" });
  // At a right angle to a slanted side.
  const slanted = { ...options, points: [], before: [-3, -4], grid: 0 };
  assert.deepEqual(geometry.snap([-4.02, 3.01], slanted).to, "right angle");
  assert.deepEqual(geometry.snap([2.123456, 1.3], { reach: 0.2, grid: 0 }), { point: [2.12, 1.3], to: "" });
});

test("a scale moves all places away from one that stays, and keeps heights and what is no place", () => {
  const whole = { ...file, picture: { file: "p.png", widthM: 20 }, mounts: [[1, 2, 2.7], [3, 2]], defaults: { intervalMs: 500 } };
  const twice = siteFile.scaled(whole, 2, [1, 1], false);
  assert.deepEqual(twice.picture, { file: "p.png", widthM: 40, position: [-1, -1] });
  assert.deepEqual(twice.outline[2], [19, 9]);
  assert.deepEqual(twice.walls, [{ from: [1, 1], to: [3, 1], attenuationDb: 3 }, { points: [[1, 1, 2.5], [3, 1], [3, 3]], attenuationDb: 6 }]);
  assert.deepEqual(twice.beacons, [{ position: [1, 3], intervalMs: 100 }]);
  assert.deepEqual(twice.mounts, [[1, 3, 2.7], [5, 3]]);
  assert.equal(twice.defaults, whole.defaults);
  assert.deepEqual(siteFile.scaled(twice, 0.5, [1, 1], false), { ...whole, picture: { ...whole.picture, position: [0, 0] } });
  const picture = siteFile.scaled(whole, 2, [1, 1], true);
  assert.equal(picture.walls, whole.walls);
  assert.equal(picture.picture.widthM, 40);
  const fleet = siteFile.scaled({ ...file, beacons: { fleet: "f.json" } }, 3, [0, 0], false);
  assert.deepEqual(fleet.beacons, { fleet: "f.json" });
});

test("mounts are bare positions, and a beacon on one has its position", () => {
  const [one, item] = siteFile.add({ ...file, mounts: [[1, 2, 2.7]] }, "mount", [[4, 4]], {}, order);
  assert.deepEqual(one.mounts, [[1, 2, 2.7], [4, 4]]);
  assert.deepEqual(siteFile.withPoints(one, item, [[5, 4]]).mounts[1], [5, 4]);
  assert.deepEqual(siteFile.withPosition(one, item, [4, 4, 3]).mounts[1], [4, 4, 3]);
  assert.deepEqual(siteFile.remove(siteFile.remove(one, item), { kind: "mount", index: 0 }), file);
  const beacon = { kind: "beacon", index: 0 };
  assert.equal(siteFile.mountOf(one, beacon), 0);
  const high = siteFile.withPosition(one, beacon, [2, 2, 3.1]);
  assert.deepEqual(high.beacons[0], { position: [2, 2, 3.1], intervalMs: 100 });
  assert.equal(siteFile.mountOf(high, beacon), -1);
  // A move keeps the height.
  assert.deepEqual(siteFile.withPoints(high, beacon, [[3, 3]]).beacons[0].position, [3, 3, 3.1]);
});
