"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { latency, vectors, isNear } = require("./page.js");

function solved(settings) {
  const scanner = { windowMs: settings.windowMs, intervalMs: settings.scanIntervalMs, channels: 3 };
  const s = { backgroundLoad: 0, backgroundAirtimeMs: 0, copySpacingMs: 1, horizonS: 3600, ...settings };
  let result = null;
  for (const step of latency.latencyOf(s, scanner)) result = step || result;
  return result;
}

for (const { settings, percentiles } of vectors.latencies) {
  test(`the latency of ${JSON.stringify(settings)}`, () => {
    const result = solved(settings);
    Object.keys(latency.SHARES).forEach((name, i) => {
      const value = result.percentiles[name];
      assert.ok(isNear(value, percentiles[i], 1e-6), `${name}: ${value}, and ${percentiles[i]} by the program`);
    });
    const shares = latency.sharesAt(result, [0, 0.1, 1, 10, 100, 3600]);
    shares.forEach((share, i) => { assert.ok(share <= 1 && share >= (shares[i - 1] || 0), shares.join()); });
  });
}
