"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { models, losses, vectors, isNear } = require("./page.js");

const usual = { backgroundAirtimeMs: 0, shadowingDecibels: 4, captureDecibels: 12, copySpacingMs: 1 };

function assertNear(value, expected, share, name) {
  assert.ok(isNear(value, expected, share), `${name}: ${value}, and ${expected} by the program`);
}

for (const { settings, values } of vectors.airs) {
  const s = { ...usual, ...settings };
  test(`the air of ${JSON.stringify(settings)}`, () => {
    assertNear(models.airtime(s.payloadOctets), values.airtimeMs, 1e-12, "airtime");
    assertNear(models.clear(s, s.intervalMs), values.collisionFreeProbability, 1e-9, "clear");
    const best = models.bestPeriods(s);
    assertNear(best.throughput, values.bestThroughputMeanPeriodMs, 1e-9, "most packets");
    assertNear(best.latency, values.bestLatencyMeanPeriodMs, 1e-6, "seen surest");
    if (s.beacons < 2) {
      assert.equal(models.lossAfterLoss(s), null);
      return;
    }
    assertNear(models.lossAfterLoss(s), values.lossAfterLossProbability, 1e-3, "lost after a loss");
    const runs = losses.lossRuns(s);
    for (const length of [2, 3, 10]) {
      const expected = values[`lossRun${length}`];
      assert.ok(Math.abs(runs[length] - expected) <= 0.02 * expected + 1e-9, `${length} lost: ${runs[length]}, ${expected}`);
    }
    const band = models.captureBand(s, s.intervalMs);
    assertNear(band.low, values.captureLow, 1e-4, "capture, at least");
    assertNear(band.high, values.captureHigh, 1e-4, "capture, at most");
  });
}

test("the best intervals are settings of controllers", () => {
  for (const beacons of [1, 2, 100, 250, 100000]) {
    const best = models.bestIntervals({ ...usual, beacons, payloadOctets: 31, backgroundLoad: 0 });
    for (const interval of [best.throughput, best.latency]) {
      assert.ok(interval >= 20 && interval <= 10240 && Number.isInteger(interval / 0.625), String(interval));
    }
  }
});
