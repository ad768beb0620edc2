"use strict";

// Losses come in runs: two beacons that collide are likely to collide again, because both keep the same interval and
// only the random delay moves them apart. Like RunsModel.swift. Times in ms.
const losses = (() => {
  const { J, airtime, background, clear } = models;

  // Park and Miller's random generator. Returns a function for the next delay; the delays equal those of the program.
  function delayGenerator() {
    let state = 1;
    return () => {
      state = state * 48271 % 2147483647;
      return state / 2147483647 * J;
    };
  }

  // The first events for a scanner that never pauses and observes every event: their indices, and the sum of the delays
  // before each event.
  function consecutive(length, samples) {
    const nextDelay = delayGenerator();
    return Array.from({ length: samples }, (_, sample) => {
      // The first delay, which matters most, is spread evenly over the samples.
      const firstDelay = (sample + 0.5) / samples * J, indices = [], sums = [];
      for (let index = 0, delay = 0; index < length; index++) {
        indices.push(index);
        sums.push(delay);
        delay += index ? nextDelay() : firstDelay;
      }
      return { indices, sums };
    });
  }

  // The first events within the windows of a scanner. The phase of the scanner is spread evenly over the samples. After
  // SEARCH events in a row without an observed event, FAR events are skipped, so the next event is independent.
  const SEARCH = 2000, FAR = 1e8;
  function observed(length, samples, cycle, intervalMs) {
    const nextDelay = delayGenerator();
    return Array.from({ length: samples }, (_, sample) => {
      const phase = (sample + 0.5) / samples * cycle.length, indices = [], sums = [];
      for (let index = 0, delay = 0; indices.length < length; index++, delay += nextDelay()) {
        if (index - (indices.at(-1) ?? 0) > SEARCH) index += FAR;
        if (index > FAR || cycle.covers(phase + index * intervalMs + delay)) {
          indices.push(index);
          sums.push(delay);
        }
      }
      return { indices, sums };
    });
  }

  // The density of a sum of `count` uniform numbers of 0 to 1, integrated twice from 0 to x.
  function integral(count, x) {
    let sum = 0, coefficient = 1, factorial = 1;
    for (let i = 0; i <= count && x > i; i++) {
      sum += coefficient * (x - i) ** (count + 1);
      coefficient *= -(count - i) / (i + 1);
    }
    for (let i = 2; i <= count + 1; i++) factorial *= i;
    return sum / factorial;
  }

  // The probability that another beacon that hit an event also hits the event `lag` events later. The delays of the
  // beacon itself between the two events add up to `delay`.
  function collidesAgain(lag, delay, tau, E) {
    if (lag <= 4) {
      const delayShare = delay / J, width = 2 * tau / J;
      return Math.max(0, integral(lag, delayShare + width) - 2 * integral(lag, delayShare) + integral(lag, delayShare - width)) / width;
    }
    const deviation = Math.sqrt(lag * J * J / 12 + 4 * tau * tau / 6);
    if (deviation >= E / 2) return 2 * tau / E;
    let density = 0;
    for (const periods of [-1, 0, 1]) {
      const x = (delay - lag * J / 2 + periods * E) / deviation, square = x * x;
      density += Math.exp(-square / 2) * (1 - (square * square - 6 * square + 3) / (20 * lag));
    }
    return 2 * tau * density / (deviation * Math.sqrt(2 * Math.PI));
  }

  // For each set of events (bit k is event k), the probability that another beacon hits at least one event of the set,
  // divided by the probability 2·tau/E that it hits one given event. `free` is the probability that it hits no earlier
  // event of the set, given that it hits the last event.
  function hitRatiosOf({ indices, sums }, tau, E) {
    const ratios = new Float64Array(1 << indices.length), free = new Float64Array(1 << indices.length);
    for (let event = 0; event < indices.length; event++) {
      const last = 1 << event;
      free[last] = ratios[last] = 1;
      for (let earlier = 0; earlier < event; earlier++) {
        const bit = 1 << earlier;
        const rehitProbability = collidesAgain(indices[event] - indices[earlier], sums[event] - sums[earlier], tau, E);
        for (let others = 0; others < bit; others++) {
          free[last | bit | others] = free[last | others] - rehitProbability * free[bit | others];
          ratios[last | bit | others] = ratios[bit | others] + free[last | bit | others];
        }
      }
    }
    return ratios;
  }

  const sizeOf = set => set ? 1 + sizeOf(set & (set - 1)) : 0;

  // Q(0), Q(1), …: the probabilities that 0, 1, … of these events in a row are lost, by inclusion and exclusion. By the
  // number of losses, `next` is the probability that an event is received if it follows right after the last lost
  // event, and `later` if unobserved events are between the two; null if samples of one kind are missing.
  function lossesOf(s, samples) {
    const tau = airtime(s.payloadOctets), E = s.intervalMs + J / 2, length = samples[0].indices.length;
    const next = Array.from({ length }, () => [0, 0]), later = Array.from({ length }, () => [0, 0]);
    const backgroundLog = Math.log(background(s)), sums = new Float64Array(length);
    for (const sample of samples) {
      const hitRatios = hitRatiosOf(sample, tau, E);
      let runProbability = 0;
      for (let event = 0; event < length; event++) {
        const before = event ? Math.max(0, runProbability) : 1;
        let change = 0;
        for (let set = 1 << event; set < 2 << event; set++) {
          const size = sizeOf(set), hit = 2 * tau / E * hitRatios[set];
          const survive = Math.expm1(hit < 1 ? (s.beacons - 1) * Math.log1p(-hit) + size * backgroundLog : -Infinity);
          change += size % 2 ? -survive : survive;
        }
        sums[event] += change;
        runProbability += change;
        if (!event) continue;
        const sum = (sample.indices[event] === sample.indices[event - 1] + 1 ? next : later)[event];
        sum[0] += before;
        sum[1] += Math.max(0, runProbability);
      }
    }
    const runs = [1];
    let runProbability = 0;
    for (const sum of sums) {
      runProbability += sum / samples.length;
      runs.push(Math.min(runs.at(-1), Math.max(0, runProbability)));
    }
    const least = 1e-9 * runs[1] * samples.length;
    const shares = (sums, others) => sums.map(([before, after], k) =>
      before > least && others[k][0] > least ? Math.min(1, Math.max(0, 1 - after / before)) : null);
    return { runs, next: shares(next, later), later: shares(later, next) };
  }

  const lossRuns = (s, samples = consecutive(10, 128)) => lossesOf(s, samples).runs;

  // The probability that an event is received, by the number of observed events in a row before it that were lost, for
  // up to `longest` numbers: `next` if the event right before it was lost, and `later` if the scanner did not observe
  // the event right before it. The probability falls with the logarithm of the number of losses until a pair of beacons
  // has moved apart by half a period.
  function clearAfterLosses(s, samples, longest) {
    const p = clear(s, s.intervalMs);
    if (s.beacons < 2) return [{ next: p, later: p }];
    const { runs, next, later } = lossesOf(s, samples), clearByLosses = [];
    for (let k = 0; k + 1 < runs.length && (k < 1 || runs[k + 1] > 1e-11 * runs[1]); k++) {
      clearByLosses.push(1 - runs[k + 1] / runs[k]);
    }
    const length = clearByLosses.length, lastClear = clearByLosses[length - 1], middle = Math.floor(length / 2);
    if (length === runs.length - 1) {
      const slope = Math.max(0, clearByLosses[middle] - lastClear) / Math.log((length - 1) / middle);
      const separatingRoot = (s.intervalMs + J / 2) / 2 / (J / Math.sqrt(6));
      for (let k = length; k < longest; k++) {
        const effectiveLosses = Math.min(k, Math.max(length, separatingRoot * separatingRoot));
        clearByLosses.push(Math.max(lastClear / 2, lastClear - slope * Math.log(effectiveLosses / (length - 1))));
      }
    }
    return clearByLosses.slice(0, longest).map((clear, k) => ({ next: next[k] ?? clear, later: later[k] ?? clear }));
  }

  return { consecutive, observed, lossRuns, clearAfterLosses };
})();
