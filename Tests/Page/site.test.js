"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { site, isNear } = require("./page.js");

const floor = { times: [1, 2, 4], shares: [[1000, 5000, 9000], [], [0, 0, 10000]] };

test("shares at the program's own times are the program's", () => {
  for (const [i, time] of floor.times.entries()) {
    assert.deepEqual(site.sharesWithin(floor, time), floor.shares.map(row => row.length ? row[i] / 10000 : null));
  }
});

test("between them they lie evenly over the logarithm, and do not leave the ends", () => {
  assert.ok(isNear(site.sharesWithin(floor, Math.SQRT2)[0], 0.3, 1e-12));
  assert.equal(site.sharesWithin(floor, 0.01)[0], 0.1);
  assert.equal(site.sharesWithin(floor, 100)[0], 0.9);
});

test("half of the shades reach the target", () => {
  assert.deepEqual(site.bounds([0.5, 1], 0.9), [100, 97.5, 95, 92.5, 90, 67.5, 45, 22.5, 0]);
  // Nothing reaches it: the first half is empty.
  assert.deepEqual(site.bounds([0.5], 0.8), [80, 80, 80, 80, 80, 60, 40, 20, 0]);
});
