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
    assertNear(models.lossAfterLoss(s), values.lossAfterLossProbability, 5e-3, "lost after a loss");
    const runs = losses.lossRuns(s);
    for (const length of [2, 3, 10]) {
      const expected = values[`lossRun${length}`];
      assert.ok(Math.abs(runs[length] - expected) <= 1e-6 * expected + 1e-12, `${length} lost: ${runs[length]}, ${expected}`);
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

// The rows of the program's tables that the vectors name.
const chips = {
  nrf52832: { emptyMicrocoulombs: 7.03, fullMicrocoulombs: 13.65, sleepMicroamperes: 2 },
  da14580: { emptyMicrocoulombs: 9.6, fullMicrocoulombs: 9.6, sleepMicroamperes: 3 },
};
const batteries = { cr2032: 235, cr2477: 1000, "2xaa": 2200 };

for (const { settings, chip, battery, days, microjoules } of vectors.batteries) {
  test(`a ${battery} with ${chip} every ${settings.intervalMs} ms`, () => {
    const cell = { capacityMilliampereHours: batteries[battery], volts: 3, efficiency: 0.85 };
    const s = { ...usual, ...settings, backgroundLoad: 0, chip: chips[chip], battery: cell };
    const result = models.energy(s, s.intervalMs);
    assertNear(result.days, days, 1e-9, "life");
    assertNear(result.microjoules, microjoules, 1e-9, "energy for a received packet");
  });
}

test("grids hold as many beacons as the program's", () => {
  for (const { radiusM, beacons, spacingM } of vectors.grids) {
    assertNear(models.gridSpacing(beacons, radiusM), spacingM, 1e-9, "spacing");
    assert.ok(models.gridCount(radiusM, spacingM) <= beacons);
  }
  assert.equal(models.gridCount(100, 10), 317);
  assert.equal(models.gridCount(100, 15), 137);
});

test("a walk is as long in range as its chord", () => {
  assertNear(models.dwell({ speedMps: 1.4, distanceM: 0, rangeM: 10 }), 20 / 1.4, 1e-12, "through the middle");
  assertNear(models.dwell({ speedMps: 1, distanceM: 3, rangeM: 5 }), 8, 1e-12, "beside it");
  assert.equal(models.dwell({ speedMps: 1, distanceM: 5, rangeM: 5 }), 0);
});
