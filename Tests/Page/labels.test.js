"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { labels } = require("./page.js");

// A letter takes 7 pixels, a line 14.
const boxes = shown => shown.map(({ text, at: [x, y] }) => ({ left: x - 3.5 * text.length, right: x + 3.5 * text.length, top: y - 14, bottom: y }));
const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

test("no name covers another one or a circle, whatever the drawing is", () => {
  let seed = 1;
  const random = most => { seed = seed * 48271 % 2147483647; return seed / 2147483647 * most; };
  for (let round = 0; round < 100; round++) {
    const names = Array.from({ length: 40 }, (_, i) => ({ text: `beacon-${i}`, at: [random(400), random(300)], isWithin: i > 34, room: random(200) }));
    const circles = names.slice(0, 35).map(({ at }) => ({ at, radius: 6 }));
    const all = boxes(labels.arrange(names, circles)), discs = circles.map(({ at: [x, y] }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
    assert.ok(all.length > 3);
    all.forEach((box, i) => {
      assert.ok(!all.slice(i + 1).some(other => meet(box, other)));
      assert.ok(!discs.some(disc => meet(box, disc)));
    });
  }
});

test("a name stands above its circle if there is room, else below, to the right or to the left", () => {
  const one = { text: "door", at: [100, 100] }, circle = { at: [100, 100], radius: 6 };
  const placed = (...others) => labels.arrange([one], [circle, ...others])[0]?.at;
  assert.deepEqual(placed(), [100, 90]);
  const above = { at: [100, 84], radius: 5 }, below = { at: [100, 116], radius: 5 }, right = { at: [120, 100], radius: 3 }, left = { at: [80, 100], radius: 3 };
  assert.deepEqual(placed(above), [100, 121]);
  assert.deepEqual(placed(above, below), [124, 105]);
  assert.deepEqual(placed(above, below, right), [76, 105]);
  assert.equal(placed(above, below, right, left), undefined);
});

test("the name of a room stays out of a room that is narrower, and a sure name is always there", () => {
  const room = { text: "cloakroom", at: [50, 50], isWithin: true, room: 60 };
  assert.deepEqual(labels.arrange([room], []), []);
  assert.equal(labels.arrange([{ ...room, room: 80 }], []).length, 1);
  const sure = { text: "door", at: [100, 100], isSure: true };
  assert.equal(labels.arrange([sure, { ...sure, text: "hall" }], [{ at: [100, 100], radius: 60 }]).length, 2);
});
