"use strict";

// The time until a beacon is first received: the phase of the scanner's cycle at which each event starts, event by
// event, like PhaseDistribution.swift and LatencyModel.swift. Times in ms unless a name says otherwise.
const latency = (() => {
  const { J, airtime } = models;
  const { consecutive, observed, clearAfterLosses } = losses;

  const SHARES = { latencyP50: 0.5, latencyP90: 0.9, latencyP95: 0.95, latencyP99: 0.99 };
  // The share at which the distribution ends, and the number of additions after which it is extrapolated.
  const COMPLETE = 0.995, WORK = 4e7;

  // The phases at which an event must start so that one of its copies lies wholly inside a window on its channel.
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

  // The spread of events from one cell over later cells after T and a uniform delay, in cells.
  function weightsOf(from, width) {
    const integral = x => x <= 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5;
    const shift = Math.floor(from), start = from - shift;
    const below = x => (integral(x - start) - integral(x - start - width)) / width;
    return { shift, weights: Array.from({ length: Math.ceil(start + width) + 1 }, (_, k) => below(k + 1) - below(k)) };
  }

  function moved(masses, { shift, weights }) {
    // The cells in the order in which they reach cell 0 and those after it, so that no index has to wrap around.
    const count = masses.length, reach = weights.length - 1, first = (shift + reach) % count;
    const source = new Float64Array(count + reach), result = new Float64Array(count);
    for (let i = 0; i < source.length; i++) source[i] = masses[(count - first + i) % count];
    weights.forEach((weight, k) => {
      for (let cell = 0, from = reach - k; cell < count; cell++, from++) result[cell] += weight * source[from];
    });
    return result;
  }

  // The distribution of the phase of the next event, by the number of covered events that were lost before.
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
    // A scanner without pauses covers every event, so the event right before was always covered.
    if (count === 1) clear.forEach(own => { own.later = own.next; });
    // By the number of losses: the beacons whose last event was not covered (or all, if that makes no difference), and
    // those whose last event was covered, and lost.
    const masses = [new Float64Array(count).fill(1 / count)], nextMasses = [];
    const distinguishesNext = clear.some(own => own.next !== own.later);
    return {
      isPhaseless: count === 1,
      work: () => count * (masses.length + nextMasses.filter(Boolean).length),
      // Removes the share of the next event that is received.
      receive() {
        let received = 0;
        for (let k = masses.length - 1; k >= 0; k--) {
          const after = nextMasses[k];
          nextMasses[k] = null;
          if (after) for (let i = 0; i < count; i++) masses[k][i] += after[i];
          const lost = cells.map(i => {
            const all = masses[k][i] * shares[i], next = after ? after[i] * shares[i] : 0;
            const found = (all - next) * clear[k].later + next * clear[k].next;
            received += found;
            masses[k][i] -= all;
            return all - found;
          });
          let target = Math.min(k + 1, clear.length - 1);
          if (!masses[target]) {
            // For a very small probability, the additional loss is not counted.
            if (lost.reduce((sum, mass) => sum + mass, 0) < 1e-4) target = k; else masses[target] = new Float64Array(count);
          }
          if (distinguishesNext) nextMasses[target] ||= new Float64Array(count);
          const into = distinguishesNext ? nextMasses[target] : masses[target];
          cells.forEach((i, n) => { into[i] += lost[n]; });
        }
        return received;
      },
      advance() {
        if (count === 1) return;
        masses.forEach((mass, k) => { masses[k] = moved(mass, step); });
        nextMasses.forEach((mass, k) => { nextMasses[k] = mass && moved(mass, step); });
      },
    };
  }

  // The effect of the delays on the curve: the delays round its corners.
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

  // The curve: straight lines from event to event, and rounded corners where the delays do not decide what is received.
  function curveOf(result, spread, horizon) {
    const times = [0], shares = [0], { received, E, isComplete } = result;
    let sum = 0;
    for (let event = 0; event < received.length + (isComplete ? 1 : 0) && times.at(-1) < horizon; event++) {
      const share = received[event] || 0, parts = event <= spread ? 64 : 1;
      for (let part = 1; part <= parts; part++) {
        const time = (event + part / parts) * E;
        times.push(time);
        shares.push(Math.min(1, Math.max(shares.at(-1), sum + part / parts * share + (parts > 1 ? rounding(result, time, spread) : 0))));
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

  // Extrapolates: each further event receives the same share of the rest, at the mean rate of about the last half of
  // the computed events.
  function extrapolate(received, rest, scanIntervalEvents, isWanted) {
    const intervals = Math.max(1, Math.floor(received.length / 2 / scanIntervalEvents));
    const events = Math.min(received.length, Math.max(1, Math.round(intervals * scanIntervalEvents)));
    const lately = received.slice(-events).reduce((sum, share) => sum + share, 0);
    const rate = -Math.expm1(Math.log(rest / (rest + lately)) / events);
    while (isWanted(rest)) {
      received.push(rest * rate);
      rest -= rest * rate;
    }
  }

  // The percentiles in seconds, and the curve; null for as long as there is work to do. `isRough` where it had to be
  // extrapolated. The curve goes on at least to `untilS`, if the settings have it.
  function* latencyOf(s, scanner) {
    const cycle = cycleOf(s, scanner), phases = phasesOf(s, scanner, cycle), E = s.intervalMs + J / 2;
    const horizon = s.horizonS * 1000, received = [], until = Math.min(horizon, (s.untilS || 0) * 1000);
    const isWanted = rest => received.length * E < horizon
      && (rest > 1 - COMPLETE || received.length * E < until && rest > 1e-12);
    let rest = 1, work = 0, handedOver = 0, isRough = false;
    while (isWanted(rest)) {
      if (work > WORK) {
        isRough = true;
        extrapolate(received, rest, scanner.intervalMs / E, isWanted);
        break;
      }
      if (received.length) phases.advance();
      received.push(phases.receive());
      rest -= received.at(-1);
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

  // The shares of a result that are discovered by some times, in seconds.
  const sharesAt = ({ times, shares }, seconds) => seconds.map(time => interpolated(times, shares, time * 1000));

  // The share of cases in which one of n beacons is found within the target time.
  function* shareOf(s, n) {
    let result = null;
    const asked = { ...s, beacons: n, horizonS: s.detectWithinS + s.intervalMs / 500 };
    for (const step of latencyOf(asked, s.scanner)) {
      result = step || result;
      yield null;
    }
    return sharesAt(result, [s.detectWithinS])[0];
  }

  // The largest number of beacons at which each beacon is found in time, with the shares that the search computed; 0 if
  // a single beacon is not found in time.
  function* largestFleet(s) {
    const met = [];
    function* holds(n) {
      const share = yield* shareOf(s, n);
      met.push([n, share]);
      return share >= s.probability;
    }
    let low = (yield* holds(1)) ? 1 : 0, high = 2;
    while (low === high / 2 && high < 2e6) {
      if (yield* holds(high)) low = high;
      high *= 2;
    }
    high = Math.min(high, 2 * low);
    while (high - low > Math.max(1, low / 500)) {
      const middle = Math.floor((low + high) / 2);
      if (yield* holds(middle)) low = middle; else high = middle;
    }
    // Beyond the answer, up to the end of the chart.
    for (const times of [1.5, 2.5, 4]) yield* holds(Math.round(Math.max(1, low) * times) + 1);
    met.sort(([a], [b]) => a - b);
    yield { beacons: low, met, isFinal: true };
  }

  return { SHARES, latencyOf, largestFleet, shareOf, sharesAt };
})();
