"use strict";

// Losses come in runs: two beacons that collide are likely to collide again, because both keep the same interval and
// only the random delay moves them apart. Like RunsModel.swift. Times in ms.
const losses = (() => {
  const { J, airtime, background, clear } = models;

  // Park and Miller's generator: the same delays as in the program.
  function delays() {
    let state = 1;
    return () => {
      state = state * 48271 % 2147483647;
      return state / 2147483647 * J;
    };
  }

  // A scanner that never pauses observes every event: the numbers of the events, and the sum of all delays before each.
  function consecutive(length, samples) {
    const next = delays();
    return Array.from({ length: samples }, (_, sample) => {
      // The first delay, which matters most, is spread evenly over the samples.
      const first = (sample + 0.5) / samples * J, numbers = [], sums = [];
      for (let number = 0, delay = 0; number < length; number++) {
        numbers.push(number);
        sums.push(delay);
        delay += number ? next() : first;
      }
      return { numbers, sums };
    });
  }

  // The events within the windows of a scanner, whose phase is spread evenly over the samples. If the scanner observes
  // nothing for long, the next event is independent of the earlier ones.
  const SEARCH = 2000, FAR = 1e8;
  function observed(length, samples, cycle, intervalMs) {
    const next = delays();
    return Array.from({ length: samples }, (_, sample) => {
      const phase = (sample + 0.5) / samples * cycle.length, numbers = [], sums = [];
      for (let number = 0, delay = 0; numbers.length < length; number++, delay += next()) {
        if (number - (numbers.at(-1) ?? 0) > SEARCH) number += FAR;
        if (number > FAR || cycle.covers(phase + number * intervalMs + delay)) {
          numbers.push(number);
          sums.push(delay);
        }
      }
      return { numbers, sums };
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

  // The probability that another beacon that hit an event also hits the event `lag` events later. The own delays
  // between the two events add up to `delay`.
  function collidesAgain(lag, delay, tau, E) {
    if (lag <= 4) {
      const place = delay / J, width = 2 * tau / J;
      return Math.max(0, integral(lag, place + width) - 2 * integral(lag, place) + integral(lag, place - width)) / width;
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

  // For each set of events (bit k is event k): 2·tau/E times its reach is the probability that another beacon hits at
  // least one event of the set. `free` is the probability that it hits no earlier event of the set if it hits the last.
  function reachesOf({ numbers, sums }, tau, E) {
    const reaches = new Float64Array(1 << numbers.length), free = new Float64Array(1 << numbers.length);
    for (let event = 0; event < numbers.length; event++) {
      const last = 1 << event;
      free[last] = reaches[last] = 1;
      for (let earlier = 0; earlier < event; earlier++) {
        const again = collidesAgain(numbers[event] - numbers[earlier], sums[event] - sums[earlier], tau, E), bit = 1 << earlier;
        for (let rest = 0; rest < bit; rest++) {
          free[last | bit | rest] = free[last | rest] - again * free[bit | rest];
          reaches[last | bit | rest] = reaches[bit | rest] + free[last | bit | rest];
        }
      }
    }
    return reaches;
  }

  const sizeOf = set => set ? 1 + sizeOf(set & (set - 1)) : 0;

  // Q(0), Q(1), …: the probabilities that 0, 1, … of these events in a row are lost, by inclusion and exclusion. `next`
  // is the probability, by the number of losses, that an event is received if it follows right after the last lost
  // event, and `later` if the scanner did not observe the event before it; null unless there are samples of both kinds.
  function lossesOf(s, samples) {
    const tau = airtime(s.payloadOctets), E = s.intervalMs + J / 2, length = samples[0].numbers.length;
    const next = Array.from({ length }, () => [0, 0]), later = Array.from({ length }, () => [0, 0]);
    const alone = Math.log(background(s)), sums = new Float64Array(length);
    for (const sample of samples) {
      const reaches = reachesOf(sample, tau, E);
      let own = 0;
      for (let event = 0; event < length; event++) {
        const before = event ? Math.max(0, own) : 1;
        let change = 0;
        for (let set = 1 << event; set < 2 << event; set++) {
          const size = sizeOf(set), hit = 2 * tau / E * reaches[set];
          const survive = Math.expm1(hit < 1 ? (s.beacons - 1) * Math.log1p(-hit) + size * alone : -Infinity);
          change += size % 2 ? -survive : survive;
        }
        sums[event] += change;
        own += change;
        if (!event) continue;
        const sum = (sample.numbers[event] === sample.numbers[event - 1] + 1 ? next : later)[event];
        sum[0] += before;
        sum[1] += Math.max(0, own);
      }
    }
    const runs = [1];
    let run = 0;
    for (const sum of sums) {
      run += sum / samples.length;
      runs.push(Math.min(runs.at(-1), Math.max(0, run)));
    }
    const least = 1e-9 * runs[1] * samples.length;
    const shares = (sums, others) => sums.map(([before, after], k) =>
      before > least && others[k][0] > least ? Math.min(1, Math.max(0, 1 - after / before)) : null);
    return { runs, next: shares(next, later), later: shares(later, next) };
  }

  const lossRuns = (s, samples = consecutive(10, 128)) => lossesOf(s, samples).runs;

  // The probability that an event is received, by the number of events before it that were lost, at most `longest`:
  // `next` if the event right before it was lost, and `later` if the scanner did not observe that. It goes on falling
  // with the logarithm of the run as long as a pair has not moved apart by half a period.
  function clearAfterLosses(s, samples, longest) {
    const p = clear(s, s.intervalMs);
    if (s.beacons < 2) return [{ next: p, later: p }];
    const { runs, next, later } = lossesOf(s, samples), known = [];
    for (let k = 0; k + 1 < runs.length && (k < 1 || runs[k + 1] > 1e-11 * runs[1]); k++) known.push(1 - runs[k + 1] / runs[k]);
    const length = known.length, last = known[length - 1], middle = Math.floor(length / 2);
    if (length === runs.length - 1) {
      const slope = Math.max(0, known[middle] - last) / Math.log((length - 1) / middle);
      const events = (s.intervalMs + J / 2) / 2 / (J / Math.sqrt(6));
      for (let k = length; k < longest; k++) {
        const reach = Math.min(k, Math.max(length, events * events));
        known.push(Math.max(last / 2, last - slope * Math.log(reach / (length - 1))));
      }
    }
    return known.slice(0, longest).map((clear, k) => ({ next: next[k] ?? clear, later: later[k] ?? clear }));
  }

  return { consecutive, observed, lossRuns, clearAfterLosses };
})();
