"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { replay } = require("./page.js");

// Two beacons, of which the second one is silent after 300 ms; a phone that walks 10 units to the right in 1 s.
const DATA = {
  from: 1000, to: 2000, beacons: [{ name: "a", x: 0, y: 0 }, { name: "b", x: 10, y: 0 }],
  sends: { after: "0 100 100 100 400", beacon: "0 1 0 1 0", received: "1 0 2 0 0", collided: "0 1 1 0 0" },
  phones: [{ scanner: "continuous", track: [1000, 0, 0, 1500, 5, 0, 2000, 10, 4], found: [1200, 0, 1900, 0] }, { scanner: "balanced", track: [1200, 3, 3], found: [1200, 1] }],
  changes: [{ time: 1950, beacon: null, text: "later" }, { time: 1350, beacon: 1, text: "b stops" }, { time: 90000, beacon: 0, text: "after the end" }],
};
const run = replay.read(DATA);

test("times are sums of differences", () => {
  assert.deepEqual([...run.times], [1000, 1100, 1200, 1300, 1700]);
});

test("a page without sends is read", () => {
  const empty = replay.read({ ...DATA, sends: { after: "", beacon: "", received: "", collided: "" } });
  assert.equal(empty.times.length, 0);
  assert.deepEqual(replay.counts(empty, 1500), { sends: 0, received: 0, collided: 0 });
});

test("a search finds the first value after a time", () => {
  const list = [1, 2, 2, 5];
  assert.deepEqual([0, 1, 2, 3, 5, 9].map(time => replay.until(list, time)), [0, 1, 3, 3, 4, 4]);
  assert.equal(replay.until([], 3), 0);
});

test("a moment counts what was sent until then", () => {
  assert.deepEqual(replay.counts(run, 999), { sends: 0, received: 0, collided: 0 });
  assert.deepEqual(replay.counts(run, 1200), { sends: 3, received: 2, collided: 2 });
  assert.deepEqual(replay.counts(run, 5000), { sends: 5, received: 2, collided: 2 });
});

test("a flash is the last send, and the last collision", () => {
  const { sent, isReceived, collided } = replay.flashes(run, 1310, 250);
  assert.deepEqual([...sent], [110, 10]);
  assert.deepEqual([...isReceived], [1, 0]);
  assert.deepEqual([...collided], [110, 210]);
  assert.deepEqual([...replay.flashes(run, 1950, 250).sent], [Infinity, Infinity]);
});

test("flashes are those of a search through all sends", () => {
  let state = 7;
  const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
  const count = 3000, number = () => Math.floor(3 * random());
  const list = () => Array.from({ length: count }, number);
  const sends = { after: list(), beacon: list(), received: list(), collided: list() }, columns = Object.fromEntries(Object.entries(sends).map(([key, values]) => [key, values.join(" ")]));
  const data = { ...DATA, from: 0, to: 9000, beacons: [0, 1, 2].map(name => ({ name, x: 0, y: 0 })), sends: columns };
  const many = replay.read(data);
  for (let time = 0; time < 3000; time += 37) {
    const found = replay.flashes(many, time, 20);
    for (const beacon of [0, 1, 2]) {
      const own = [...many.times.keys()].filter(i => many.ofBeacon[i] === beacon && many.times[i] <= time && many.times[i] > time - 20);
      const age = indices => indices.length ? time - many.times[indices.at(-1)] : Infinity;
      assert.equal(found.sent[beacon], age(own));
      assert.equal(found.collided[beacon], age(own.filter(i => sends.collided[i] > 0)));
      if (own.length) assert.equal(found.isReceived[beacon], Number(sends.received[own.at(-1)] > 0));
    }
  }
});

test("a phone walks evenly between its corners", () => {
  const [walk, standing] = run.walks;
  assert.equal(replay.place(walk, 999), null);
  assert.deepEqual(replay.place(walk, 1000), [0, 0]);
  assert.deepEqual(replay.place(walk, 1250), [2.5, 0]);
  assert.deepEqual(replay.place(walk, 1750), [7.5, 2]);
  assert.deepEqual(replay.place(walk, 2000), [10, 4]);
  assert.equal(replay.place(walk, 2001), null);
  assert.deepEqual(replay.place(standing, 1200), [3, 3]);
});

test("a phone counts once for each beacon", () => {
  const at = time => { const { ofBeacon, isPhone, phones } = replay.discovered(run, time); return [[...ofBeacon], [...isPhone], phones]; };
  assert.deepEqual(at(1199), [[0, 0], [0, 0], 0]);
  assert.deepEqual(at(1200), [[1, 1], [1, 1], 2]);
  assert.deepEqual(at(2000), [[1, 1], [1, 1], 2]);
});

test("events follow each other in both directions", () => {
  const walk = (kind, time, isBack) => {
    const list = [];
    for (let at = replay.next(run, kind, time, isBack); at !== null; at = replay.next(run, kind, at, isBack)) list.push(at);
    return list;
  };
  assert.deepEqual(walk("change", 999, false), [1350, 1950]);
  assert.deepEqual(walk("collision", 999, false), [1100, 1200]);
  assert.deepEqual(walk("any", 999, false), [1100, 1200, 1350, 1900, 1950]);
  assert.deepEqual(walk("any", 2000, true), [1950, 1900, 1350, 1200, 1100]);
});

test("what is recent ends at the moment", () => {
  assert.deepEqual(replay.recent(run.changes, 1350, 100).map(({ text }) => text), ["b stops"]);
  assert.deepEqual(replay.recent(run.changes, 1349, 100), []);
});

test("a clock never shows 60 seconds", () => {
  assert.equal(replay.clock(0), "00:00:00.000");
  assert.equal(replay.clock(59999.9), "00:01:00.000");
  assert.equal(replay.clock(36_012_345), "10:00:12.345");
  assert.equal(replay.clock(90_000_000), "25:00:00.000");
});

test("a minute of 400 beacons has a flash for each of them at 100 times the speed", () => {
  const count = 72_000;
  const list = of => Array.from({ length: count }, (_, i) => of(i)).join(" ");
  const sends = { after: list(() => 60_000 / count), beacon: list(i => i % 400), received: list(() => 1), collided: list(i => Number(i % 9 === 0)) };
  const beacons = Array.from({ length: 400 }, (_, i) => ({ name: String(i), x: i, y: i }));
  const large = replay.read({ from: 0, to: 60_000, beacons, sends, phones: [], changes: [] });
  const { sent } = replay.flashes(large, 60_000, 38_000);
  assert.equal(sent.filter(age => age < Infinity).length, 400);
  assert.equal(replay.counts(large, 30_000).sends, count / 2);
});
