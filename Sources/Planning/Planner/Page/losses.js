"use strict";

// Losses come in runs: two beacons that collided are likely to collide again. How likely an event is clear after k
// losses in a row follows from Q(K), the probability of K losses in a row, by inclusion and exclusion over the sets of
// events that one interferer hits, averaged over the target beacon's own delays.
const losses = (() => {
  const { J, airtime, background, clear } = models;
  const RUN = 12, SAMPLES = 64, BINS = 24 * (RUN + 1) + 3;

  const NODES = 512;

  // The chance that a pair that collided collides again m events later, at own delays of i·J/NODES: a second
  // difference of the second antiderivative of the density of a sum of m delays.
  function returnTables(tau) {
    let density = new Float64Array(NODES).fill(1);
    const tables = [], cell = 1 / NODES, reach = 2 * tau / J;
    for (let m = 1; m < RUN; m++) {
      if (m > 1) density = boxed(density, NODES);
      const n = density.length, first = new Float64Array(n + 1), second = new Float64Array(n + 1);
      for (let i = 0; i < n; i++) {
        second[i + 1] = second[i] + first[i] * cell + density[i] * cell * cell / 2;
        first[i + 1] = first[i] + density[i] * cell;
      }
      const integral = z => {
        if (z <= 0) return 0;
        const i = Math.min(Math.floor(z / cell), n), rest = z - i * cell;
        return second[i] + first[i] * rest + (i < n ? density[i] : 0) * rest * rest / 2;
      };
      tables.push(Float64Array.from({ length: n + 1 }, (_, i) =>
        Math.max(0, integral(i * cell + reach) - 2 * integral(i * cell) + integral(i * cell - reach)) / reach));
    }
    return tables;
  }

  // The mean over the `width` steps before each place. A step is uniform inside, so the two outer ones get half.
  function boxed(values, width) {
    const { length } = values, spread = new Float64Array(length + width);
    let sum = 0;
    for (let i = 0; i < length + width; i++) {
      const entering = i < length ? values[i] : 0, leaving = i >= width ? values[i - width] : 0;
      spread[i] = (sum + entering / 2 - leaving / 2) / width;
      sum += entering - leaving;
    }
    return spread;
  }

  // For each length of run and size of set: how the sets' reaches are spread. A reach times 2·tau/E is the
  // chance that one interferer hits something of the set. Only the payload matters, so it is kept.
  const patterns = new Map();
  function hitPatterns(tau) {
    if (patterns.has(tau)) return patterns.get(tau);
    const masks = 1 << RUN, reach = new Float64Array(masks), free = new Float64Array(masks);
    const weights = new Float64Array(RUN * (RUN + 1) * BINS), again = new Float64Array(RUN * RUN);
    const tables = returnTables(tau);
    // Steps that fill the cube of own delays evenly: powers of the root of x^(d+1) = x + 1.
    let root = 1.5;
    for (let k = 0; k < 60; k++) root = (1 + root) ** (1 / RUN);
    for (let sample = 0; sample < SAMPLES; sample++) {
      const sums = [0];
      for (let k = 1; k < RUN; k++) {
        const point = (0.5 + (Math.floor(sample / 2) + 1) * root ** -k) % 1;
        sums.push(sums[k - 1] + NODES * (sample % 2 ? 1 - point : point));
      }
      for (let i = 0; i < RUN; i++) {
        for (let j = 0; j < i; j++) {
          const table = tables[i - j - 1], z = sums[i] - sums[j], node = Math.min(Math.floor(z), table.length - 2);
          again[i * RUN + j] = table[node] + (z - node) * (table[node + 1] - table[node]);
        }
      }
      for (let set = 1; set < masks; set++) {
        const event = 31 - Math.clz32(set), rest = set ^ (1 << event);
        let missed = 1, size = 1;
        for (let bits = rest; bits; bits &= bits - 1, size++) {
          const other = 31 - Math.clz32(bits & -bits);
          missed -= again[event * RUN + other] * free[rest & ((2 << other) - 1)];
        }
        free[set] = missed;
        reach[set] = reach[rest] + missed;
        // Three points that keep mass, mean and variance.
        const place = 24 * reach[set], bin = Math.round(place), r = place - bin;
        const row = (event * (RUN + 1) + size) * BINS + bin;
        weights[row] += r * (r - 1) / 2 / SAMPLES;
        weights[row + 1] += (1 - r * r) / SAMPLES;
        weights[row + 2] += r * (r + 1) / 2 / SAMPLES;
      }
    }
    patterns.set(tau, weights);
    return weights;
  }

  // Q(0) to Q(RUN).
  function lossRuns(s) {
    const tau = airtime(s.payloadOctets), weights = hitPatterns(tau), hit = 2 * tau / (s.intervalMs + J / 2);
    const survive = Array.from({ length: BINS }, (_, b) => Math.max(0, 1 - hit * (b - 1) / 24) ** (s.beacons - 1));
    const q = [1];
    let sum = 1;
    for (let event = 0; event < RUN; event++) {
      for (let size = 1; size <= event + 1; size++) {
        const row = (event * (RUN + 1) + size) * BINS;
        let part = 0;
        for (let bin = 0; bin < BINS; bin++) part += weights[row + bin] * survive[bin];
        sum += (size % 2 ? -1 : 1) * part * background(s) ** size;
      }
      q.push(Math.min(1, Math.max(0, sum)));
    }
    return q;
  }

  // States of an event within reach: after k losses since the last event out of reach (0 to RUN), or since the
  // last received one (RUN + 1 to 2·RUN + 1). For each the chance to be received, and the state after a loss.
  function lossChain(s) {
    const p = clear(s, s.intervalMs);
    if (s.beacons < 2) return { hazards: [p], successors: [0], afterReceived: 0, received: p };
    const q = lossRuns(s);
    let known = 2;
    while (known < q.length && q[known] > 1e-5) known++;
    const bounded = x => Math.min(1, Math.max(0, x));
    const after = k => {
      const last = Math.min(k, known - 2);
      return q[last] > 0 ? bounded(1 - q[last + 1] / q[last]) : 1;
    };
    const run = k => k < known ? q[k] : q[known - 1] * (1 - after(k - 1)) ** (k - known + 1);
    const afterClear = k => {
      const before = run(k) - run(k + 1);
      return k < known && before > 0 ? bounded(1 - (run(k + 1) - run(k + 2)) / before) : after(k);
    };
    const hazards = [], successors = [];
    for (let k = 0; k <= RUN; k++) {
      hazards[k] = after(k);
      hazards[RUN + 1 + k] = afterClear(k);
      successors[k] = Math.min(k + 1, RUN);
      successors[RUN + 1 + k] = RUN + 1 + Math.min(k + 1, RUN);
    }
    return { hazards, successors, afterReceived: RUN + 1, received: 1 - q[1] };
  }

  return { boxed, lossRuns, lossChain };
})();
