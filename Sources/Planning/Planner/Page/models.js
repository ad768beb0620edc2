"use strict";

// The closed models of the Airtime module, as pure functions of the settings.
// Times in ms unless a name says otherwise.
const models = (() => {
  const J = 10, STEP = 0.625, FASTEST = 20, SLOWEST = 10240;
  const airtime = octets => 8 * (16 + octets) / 1000;
  const inRange = ms => Math.min(SLOWEST, Math.max(FASTEST, ms));
  // The nearest interval that controllers support.
  const setting = ms => inRange(Math.round(ms / STEP) * STEP);

  // The share of packets that other devices do not destroy.
  const background = s => (1 - s.backgroundLoad)
    ** (1 + airtime(s.payloadOctets) / (s.backgroundAirtimeMs || airtime(s.payloadOctets)));

  const pairwise = (s, intervalMs) => {
    const window = 2 * airtime(s.payloadOctets) / (intervalMs + J / 2);
    return window >= 1 ? 0 : (1 - window) ** (s.beacons - 1);
  };
  const clear = (s, intervalMs) => pairwise(s, intervalMs) * background(s);

  // The mean over the own delay u of the probability that two events in a row are clear. Where the windows of
  // both events meet is a second difference of the antiderivative of the delay's own ramp.
  function clearTwice(s) {
    const tau = airtime(s.payloadOctets), E = s.intervalMs + J / 2;
    const ramp = x => x <= 0 ? 0 : x <= J ? x * x / 2 : J * J / 2 + J * (x - J);
    const both = u => {
      const shared = ramp(u + 2 * tau) - 2 * ramp(u) + ramp(u - 2 * tau);
      return (1 - 4 * tau / E + shared / (E * J)) ** (s.beacons - 1);
    };
    const panels = 64, edge = 2 * tau;
    let sum = 0;
    for (let i = 0; i <= panels; i++) sum += both(edge * i / panels) * (i % panels ? (i % 2 ? 4 : 2) : 1);
    return (2 * edge * sum / (3 * panels) + (J - 2 * edge) * both(J / 2)) / J * background(s) ** 2;
  }
  function lossAfterLoss(s) {
    const p = clear(s, s.intervalMs);
    return s.beacons < 2 || p >= 1 ? null : (1 - 2 * p + clearTwice(s)) / (1 - p);
  }

  // Mean periods E, before they are rounded to intervals that controllers support.
  function bestPeriods(s) {
    const tau = airtime(s.payloadOctets), n = s.beacons, through = background(s);
    // The best share x of packets without a collision in the fleet: the x at which ln x · ln(1 - through·x) is largest.
    // It is 1/2 without other devices.
    let low = Math.exp(-1), high = 0.5;
    for (let k = 0; k < 60; k++) {
      const x = (low + high) / 2, rest = 1 - through * x;
      if (Math.log(rest) / x > through * Math.log(x) / rest) low = x; else high = x;
    }
    const share = through < 1 ? (low + high) / 2 : 0.5;
    const surest = n < 2 ? 2 * tau : 2 * tau / -Math.expm1(Math.log(share) / (n - 1));
    return { throughput: 2 * tau * n, latency: surest };
  }
  function bestIntervals(s) {
    const best = bestPeriods(s);
    return { throughput: setting(best.throughput - J / 2), latency: setting(best.latency - J / 2) };
  }

  // The normal distribution, by the continued fraction in the tails and the series around zero.
  function normal(x) {
    const a = Math.abs(x), density = Math.exp(-a * a / 2) / Math.sqrt(2 * Math.PI);
    let tail;
    if (a < 3) {
      let term = a, sum = a;
      for (let k = 1; k < 60; k++) sum += term *= a * a / (2 * k + 1);
      tail = 0.5 - density * sum;
    } else {
      let f = 0;
      for (let k = 60; k > 0; k--) f = k / (a + f);
      tail = density / (a + f);
    }
    return x > 0 ? 1 - tail : tail;
  }

  // Capture between beacons that are equally strong on average, for two receivers: one stays with the first packet, and
  // the other always changes to the stronger packet. The shadowing of the wanted link is common to all interferers.
  function captureBand(s, intervalMs) {
    const window = airtime(s.payloadOctets) / (intervalMs + J / 2), sigma = s.shadowingDecibels;
    const points = 320, reach = 8;
    let low = 0, high = 0, weights = 0;
    for (let i = 0; i <= points; i++) {
      const z = reach * (2 * i / points - 1), weight = Math.exp(-z * z / 2);
      const beaten = sigma > 0 ? normal((s.captureDecibels - sigma * z) / sigma) : s.captureDecibels > 0 ? 1 : 0;
      low += weight * Math.max(0, 1 - window * (1 + beaten)) ** (s.beacons - 1);
      high += weight * Math.max(0, 1 - 2 * window * beaten) ** (s.beacons - 1);
      weights += weight;
    }
    return { low: low / weights * background(s), high: high / weights * background(s) };
  }

  // A beacon's battery: charges in µC, currents in µA, the life in days, and the energy for one received packet in µJ;
  // null if none arrives.
  function energy(s, intervalMs) {
    const { chip, battery } = s, E = (intervalMs + J / 2) / 1000;
    const event = chip.emptyMicrocoulombs + s.payloadOctets / 31 * (chip.fullMicrocoulombs - chip.emptyMicrocoulombs);
    const current = event / E + chip.sleepMicroamperes, p = Math.min(1, clear(s, intervalMs));
    return {
      event, current, days: battery.efficiency * battery.capacityMilliampereHours * 1000 / current / 24,
      microjoules: p > 0 ? (event + chip.sleepMicroamperes * E) * battery.volts / p : null,
    };
  }

  // The time in s in range of a beacon on a straight path.
  const dwell = ({ speedMps, distanceM, rangeM }) => rangeM > distanceM
    ? 2 * Math.sqrt((rangeM - distanceM) * (rangeM + distanceM)) / speedMps : 0;

  // Beacons of a square grid within a radius of one of them, the rim included.
  function gridCount(radius, spacing) {
    const reach = radius / spacing * (1 + 1e-12);
    let count = 0;
    for (let row = -Math.floor(reach); row <= reach; row++) count += 2 * Math.floor(Math.sqrt(reach * reach - row * row)) + 1;
    return count;
  }

  // The spacing of the densest square grid with at most n beacons within a radius.
  function gridSpacing(beacons, radius) {
    let low = radius * Math.sqrt(Math.PI / beacons) / 2, high = 2 * radius;
    for (let k = 0; k < 50; k++) {
      const middle = (low + high) / 2;
      if (gridCount(radius, middle) > beacons) low = middle; else high = middle;
    }
    return high;
  }

  return { energy, dwell, gridCount, gridSpacing, J, STEP, airtime, background, clear, lossAfterLoss, bestPeriods, bestIntervals, normal, captureBand };
})();
