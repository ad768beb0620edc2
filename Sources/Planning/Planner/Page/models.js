"use strict";

// The closed-form models of the Airtime module, as pure functions of the settings. Times are in ms if the name has no
// other unit.
const models = (() => {
  const J = 10, STEP = 0.625, FASTEST = 20, SLOWEST = 10240;
  const airtime = octets => 8 * (16 + octets) / 1000;
  const inRange = ms => Math.min(SLOWEST, Math.max(FASTEST, ms));
  // The nearest interval that controllers support.
  const setting = ms => inRange(Math.round(ms / STEP) * STEP);

  // The share of packets that no other device destroys.
  const background = s => (1 - s.backgroundLoad)
    ** (1 + airtime(s.payloadOctets) / (s.backgroundAirtimeMs || airtime(s.payloadOctets)));

  const pairwise = (s, intervalMs) => {
    const window = 2 * airtime(s.payloadOctets) / (intervalMs + J / 2);
    return window >= 1 ? 0 : (1 - window) ** (s.beacons - 1);
  };
  const clear = (s, intervalMs) => pairwise(s, intervalMs) * background(s);

  // The probability that two events in a row are clear, as the mean over the beacon's delay u between the two events.
  // The probability that another beacon hits both events follows from a second difference of `ramp`, which is J times
  // the integral of a delay's distribution function.
  function clearTwice(s) {
    const tau = airtime(s.payloadOctets), E = s.intervalMs + J / 2;
    const ramp = x => x <= 0 ? 0 : x <= J ? x * x / 2 : J * J / 2 + J * (x - J);
    const bothClear = u => {
      const shared = ramp(u + 2 * tau) - 2 * ramp(u) + ramp(u - 2 * tau);
      return (1 - 4 * tau / E + shared / (E * J)) ** (s.beacons - 1);
    };
    const panels = 64, edge = 2 * tau;
    let sum = 0;
    for (let i = 0; i <= panels; i++) sum += bothClear(edge * i / panels) * (i % panels ? (i % 2 ? 4 : 2) : 1);
    return (2 * edge * sum / (3 * panels) + (J - 2 * edge) * bothClear(J / 2)) / J * background(s) ** 2;
  }
  function lossAfterLoss(s) {
    const p = clear(s, s.intervalMs);
    return s.beacons < 2 || p >= 1 ? null : (1 - 2 * p + clearTwice(s)) / (1 - p);
  }

  // Mean periods E, before they are rounded to intervals that controllers support.
  function bestPeriods(s) {
    const tau = airtime(s.payloadOctets), n = s.beacons, backgroundClear = background(s);
    // The best share x of packets without a collision in the fleet: ln x · ln(1 - backgroundClear·x) is largest at this
    // x. Without other devices, x is 1/2.
    let low = Math.exp(-1), high = 0.5;
    for (let k = 0; k < 60; k++) {
      const x = (low + high) / 2, loss = 1 - backgroundClear * x;
      if (Math.log(loss) / x > backgroundClear * Math.log(x) / loss) low = x; else high = x;
    }
    const share = backgroundClear < 1 ? (low + high) / 2 : 0.5;
    const latencyPeriod = n < 2 ? 2 * tau : 2 * tau / -Math.expm1(Math.log(share) / (n - 1));
    return { throughput: 2 * tau * n, latency: latencyPeriod };
  }
  function bestIntervals(s) {
    const best = bestPeriods(s);
    return { throughput: setting(best.throughput - J / 2), latency: setting(best.latency - J / 2) };
  }

  // The distribution function of the normal distribution: a continued fraction in the tails, a series around zero.
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
    const points = 320, deviations = 8;
    let low = 0, high = 0, weights = 0;
    for (let i = 0; i <= points; i++) {
      const z = deviations * (2 * i / points - 1), weight = Math.exp(-z * z / 2);
      const strongerProbability = sigma > 0 ? normal((s.captureDecibels - sigma * z) / sigma) : s.captureDecibels > 0 ? 1 : 0;
      low += weight * Math.max(0, 1 - window * (1 + strongerProbability)) ** (s.beacons - 1);
      high += weight * Math.max(0, 1 - 2 * window * strongerProbability) ** (s.beacons - 1);
      weights += weight;
    }
    return { low: low / weights * background(s), high: high / weights * background(s) };
  }

  // A beacon's battery: charges in µC, currents in µA, the life in days, and the energy for one received packet in µJ;
  // null if no packet arrives.
  function energy(s, intervalMs) {
    const { chip, battery } = s, E = (intervalMs + J / 2) / 1000;
    const event = chip.emptyMicrocoulombs + s.payloadOctets / 31 * (chip.fullMicrocoulombs - chip.emptyMicrocoulombs);
    const current = event / E + chip.sleepMicroamperes, p = Math.min(1, clear(s, intervalMs));
    return {
      event, current, days: battery.efficiency * battery.capacityMilliampereHours * 1000 / current / 24,
      microjoules: p > 0 ? (event + chip.sleepMicroamperes * E) * battery.volts / p : null,
    };
  }

  // The time in s for which a receiver on a straight path is in range of a beacon.
  const dwell = ({ speedMps, distanceM, rangeM }) => rangeM > distanceM
    ? 2 * Math.sqrt((rangeM - distanceM) * (rangeM + distanceM)) / speedMps : 0;

  // The number of beacons of a square grid within a radius of one of them, including beacons exactly at the radius.
  function gridCount(radius, spacing) {
    const spacings = radius / spacing * (1 + 1e-12);
    let count = 0;
    for (let row = -Math.floor(spacings); row <= spacings; row++) count += 2 * Math.floor(Math.sqrt(spacings * spacings - row * row)) + 1;
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
