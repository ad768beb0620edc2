"use strict";

// The time until a beacon is first received: the phase of the scanner's cycle at which each event starts, event by
// event, like PhaseDistribution.swift and LatencyModel.swift. Times are in ms if the name has no other unit.
const latency = (() => {
  const { J, airtime } = models;
  const { consecutive, observed, clearAfterLosses } = losses;

  const SHARES = { latencyP50: 0.5, latencyP90: 0.9, latencyP95: 0.95, latencyP99: 0.99 };
  // The share at which the distribution ends, and the number of additions after which it is extrapolated.
  const COMPLETE = 0.995, WORK = 4e7;

  // The phases at which an event must start so that one of its copies is wholly inside a window on its channel.
  function cycleOf(s, scanner) {
    const { channels, windowMs, intervalMs } = scanner, length = channels * intervalMs;
    if (channels === 1 && windowMs >= intervalMs) return { length, covered: [[0, length]], share: 1, covers: () => true };
    const width = windowMs - airtime(s.payloadOctets), parts = [], covered = [];
    for (let channel = 0; width > 0 && channel < channels; channel++) {
      const start = (channel * (intervalMs - s.copySpacingMs) % length + length) % length;
      parts.push([start, Math.min(start + width, length)]);
      if (start + width > length) parts.push([0, start + width - length]);
    }
    for (const [from, to] of parts.sort((a, b) => a[0] - b[0])) {
      const last = covered.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to); else covered.push([from, to]);
    }
    const covers = time => {
      const phase = time - Math.floor(time / length) * length;
      return covered.some(([from, to]) => phase >= from && phase < to);
    };
    return { length, covered, share: covered.reduce((sum, [from, to]) => sum + to - from, 0) / length, covers };
  }

  // The covered share of each of `count` equal cells of the cycle.
  function coveredShares({ length, covered }, count) {
    const cell = length / count, shares = new Float64Array(count);
    for (const [from, to] of covered) {
      for (let i = Math.floor(from / cell); i < count && i * cell < to; i++) {
        shares[i] += Math.max(0, Math.min(to, (i + 1) * cell) - Math.max(from, i * cell)) / cell;
      }
    }
    return shares;
  }

  // How the probability of one cell is spread over later cells. The movement is uniform over `from` to `from` +
  // `width`, in cells.
  function weightsOf(from, width) {
    const integral = x => x <= 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5;
    const shift = Math.floor(from), start = from - shift;
    const below = x => (integral(x - start) - integral(x - start - width)) / width;
    return { shift, weights: Array.from({ length: Math.ceil(start + width) + 1 }, (_, k) => below(k + 1) - below(k)) };
  }

  function moved(masses, { shift, weights }) {
    // The cells in the order in which they reach cell 0, 1, 2 and so on, so that no index has to wrap around.
    const count = masses.length, lastWeight = weights.length - 1, first = (shift + lastWeight) % count;
    const source = new Float64Array(count + lastWeight), result = new Float64Array(count);
    for (let i = 0; i < source.length; i++) source[i] = masses[(count - first + i) % count];
    weights.forEach((weight, k) => {
      for (let cell = 0, from = lastWeight - k; cell < count; cell++, from++) result[cell] += weight * source[from];
    });
    return result;
  }

  // The distribution of the phase of the next event, by the number of covered events in a row that were lost before.
  function phasesOf(s, scanner, cycle) {
    let count = 1;
    if (cycle.share < 0.999) {
      const widest = scanner.windowMs > 2 * (s.intervalMs + J / 2) ? 5 : 2.5;
      count = Math.max(2, Math.round(cycle.length / Math.max(0.625, Math.min(scanner.windowMs / 24, widest))));
    }
    const shares = coveredShares(cycle, count), cell = cycle.length / count, step = weightsOf(s.intervalMs / cell, J / cell);
    const cells = [...shares.keys()].filter(i => shares[i] > 0), isEven = scanner.windowMs >= scanner.intervalMs;
    const clear = isEven ? clearAfterLosses(s, consecutive(8, 64), 64)
      : clearAfterLosses(s, cycle.share > 0 ? observed(8, 64, cycle, s.intervalMs) : consecutive(8, 64), 8);
    // A scanner without pauses covers every event, so the previous event was always covered.
    if (count === 1) clear.forEach(probabilities => { probabilities.later = probabilities.next; });
    // The probabilities of the phases, by the number of losses: `masses` for beacons whose previous event was not
    // covered (or all beacons, if this makes no difference), `massesAfterLoss` for beacons whose previous event was
    // covered and lost.
    const masses = [new Float64Array(count).fill(1 / count)], massesAfterLoss = [];
    const distinguishesNext = clear.some(({ next, later }) => next !== later);
    return {
      isPhaseless: count === 1,
      work: () => count * (masses.length + massesAfterLoss.filter(Boolean).length),
      // Returns the probability that the next event is the first one received, and removes it from the masses.
      receive() {
        let received = 0;
        for (let k = masses.length - 1; k >= 0; k--) {
          const after = massesAfterLoss[k];
          massesAfterLoss[k] = null;
          if (after) for (let i = 0; i < count; i++) masses[k][i] += after[i];
          const lost = cells.map(i => {
            const covered = masses[k][i] * shares[i], rightAfterLoss = after ? after[i] * shares[i] : 0;
            const receivedMass = (covered - rightAfterLoss) * clear[k].later + rightAfterLoss * clear[k].next;
            received += receivedMass;
            masses[k][i] -= covered;
            return covered - receivedMass;
          });
          let target = Math.min(k + 1, clear.length - 1);
          if (!masses[target]) {
            // For a very small probability, the additional loss is not counted.
            if (lost.reduce((sum, mass) => sum + mass, 0) < 1e-4) target = k; else masses[target] = new Float64Array(count);
          }
          if (distinguishesNext) massesAfterLoss[target] ||= new Float64Array(count);
          const into = distinguishesNext ? massesAfterLoss[target] : masses[target];
          cells.forEach((i, n) => { into[i] += lost[n]; });
        }
        return received;
      },
      advance() {
        if (count === 1) return;
        masses.forEach((mass, k) => { masses[k] = moved(mass, step); });
        massesAfterLoss.forEach((mass, k) => { massesAfterLoss[k] = mass && moved(mass, step); });
      },
    };
  }

  // Returns the share that the delays add to the straight lines near `time`. Delays round the corners between the
  // lines, up to corner number `last`.
  function rounding(result, time, last) {
    const { received, E, isComplete } = result, far = 4 * J * Math.sqrt(last / 12);
    const end = Math.min(last, isComplete ? received.length : received.length - 1, Math.floor((time + far) / E) + 1);
    let sum = 0;
    for (let event = Math.max(1, Math.floor((time - far) / E)); event <= end; event++) {
      const distance = Math.abs(time - event * E), deviation = J * Math.sqrt(event / 12), x = distance / deviation;
      const excess = event === 1 ? Math.max(0, J / 2 - distance) ** 2 / (2 * J)
        : deviation * (Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI) - x * models.normal(-x));
      sum += ((received[event] || 0) - received[event - 1]) / E * excess;
    }
    return sum;
  }

  // The share that is received over time: straight lines from event to event. The corners of the first `spread` events
  // are rounded, because the delays of these events do not depend on whether the events are received.
  function curveOf(result, spread, horizon) {
    const times = [0], shares = [0], { received, E, isComplete } = result;
    let sum = 0;
    for (let event = 0; event < received.length + (isComplete ? 1 : 0) && times.at(-1) < horizon; event++) {
      const share = received[event] || 0, points = event <= spread ? 64 : 1;
      for (let point = 1; point <= points; point++) {
        const time = (event + point / points) * E;
        times.push(time);
        shares.push(Math.min(1, Math.max(shares.at(-1), sum + point / points * share + (points > 1 ? rounding(result, time, spread) : 0))));
      }
      sum += share;
    }
    return { times, shares };
  }

  function interpolated(from, to, x) {
    let low = 0, high = from.length - 1;
    if (x >= from[high]) return to[high];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (from[middle] >= x) high = middle; else low = middle;
    }
    return to[low] + (to[high] - to[low]) * (x - from[low]) / (from[high] - from[low] || 1);
  }

  // Extrapolates: each further event receives a constant share of the part not yet received. This
  // share is the mean over about the last half of the computed events.
  function extrapolate(received, unreceived, scanIntervalEvents, isWanted) {
    const intervals = Math.max(1, Math.floor(received.length / 2 / scanIntervalEvents));
    const events = Math.min(received.length, Math.max(1, Math.round(intervals * scanIntervalEvents)));
    const receivedLast = received.slice(-events).reduce((sum, share) => sum + share, 0);
    const rate = -Math.expm1(Math.log(unreceived / (unreceived + receivedLast)) / events);
    while (isWanted(unreceived)) {
      received.push(unreceived * rate);
      unreceived -= unreceived * rate;
    }
  }

  // Yields null while it computes, and at the end the percentiles in seconds and the curve. `isRough` is true for an
  // extrapolated curve. With `untilS` in the settings, the curve extends at least to this time.
  function* latencyOf(s, scanner) {
    const cycle = cycleOf(s, scanner), phases = phasesOf(s, scanner, cycle), E = s.intervalMs + J / 2;
    const horizon = s.horizonS * 1000, received = [], until = Math.min(horizon, (s.untilS || 0) * 1000);
    const isWanted = unreceived => received.length * E < horizon
      && (unreceived > 1 - COMPLETE || received.length * E < until && unreceived > 1e-12);
    let unreceived = 1, work = 0, handedOver = 0, isRough = false;
    while (isWanted(unreceived)) {
      if (work > WORK) {
        isRough = true;
        extrapolate(received, unreceived, scanner.intervalMs / E, isWanted);
        break;
      }
      if (received.length) phases.advance();
      received.push(phases.receive());
      unreceived -= received.at(-1);
      work += phases.work();
      if (work > handedOver + 5e5) {
        handedOver = work;
        yield null;
      }
    }
    const isComplete = received.reduce((sum, share) => sum + share, 0) > 1 - 1e-6;
    const { times, shares } = curveOf({ received, E, isComplete }, phases.isPhaseless ? received.length : 1, horizon);
    const percentiles = {};
    for (const name in SHARES) {
      const time = shares.at(-1) >= SHARES[name] ? interpolated(shares, times, SHARES[name]) : Infinity;
      percentiles[name] = time <= horizon ? time / 1000 : null;
    }
    yield { percentiles, times, shares, isRough, isFinal: true };
  }

  // The shares of cases in which the beacon is discovered by each of some times in seconds. The first argument is a
  // result of `latencyOf`.
  const sharesAt = ({ times, shares }, seconds) => seconds.map(time => interpolated(times, shares, time * 1000));

  // The share of cases in which one of n beacons is found within the target time.
  function* shareOf(s, n) {
    let result = null;
    const settings = { ...s, beacons: n, horizonS: s.detectWithinS + s.intervalMs / 500 };
    for (const step of latencyOf(settings, s.scanner)) {
      result = step || result;
      yield null;
    }
    return sharesAt(result, [s.detectWithinS])[0];
  }

  // The largest number of beacons at which each beacon is found in time; 0 if even a single beacon is not found in
  // time. `curve` has all numbers of beacons that the search tried, each with the share of cases in which a beacon is
  // found.
  function* largestFleet(s) {
    const curve = [];
    function* meetsTarget(n) {
      const share = yield* shareOf(s, n);
      curve.push([n, share]);
      return share >= s.probability;
    }
    let low = (yield* meetsTarget(1)) ? 1 : 0, high = 2;
    while (low === high / 2 && high < 2e6) {
      if (yield* meetsTarget(high)) low = high;
      high *= 2;
    }
    high = Math.min(high, 2 * low);
    while (high - low > Math.max(1, low / 500)) {
      const middle = Math.floor((low + high) / 2);
      if (yield* meetsTarget(middle)) low = middle; else high = middle;
    }
    // More points for the chart, up to its end.
    for (const factor of [1.5, 2.5, 4]) yield* meetsTarget(Math.round(Math.max(1, low) * factor) + 1);
    curve.sort(([a], [b]) => a - b);
    yield { beacons: low, curve, isFinal: true };
  }

  return { SHARES, latencyOf, largestFleet, shareOf, sharesAt };
})();
