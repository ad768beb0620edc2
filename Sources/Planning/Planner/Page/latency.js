"use strict";

// The latency by a recursion over time. It follows the paths from one received event to the next; a random instant lies
// in such a wait with a probability in proportion to its length, so that the latency follows from the waits:
// P(L <= t) = rate of received events * integral of P(wait > s) ds. Times in steps of 0.625 ms, which divide T and J.
const latency = (() => {
  const { J, STEP } = models;
  const { boxed, lossChain } = losses;
  const { coverage, meets, starts } = coverages;

  // Masses too thin to follow: at the ends of a stretch, and of a whole path.
  const THIN = 1e-10, REST = 1e-5, WORK = 4e8;
  const SHARES = { latencyP50: 0.5, latencyP90: 0.9, latencyP95: 0.95, latencyP99: 0.99 };

  // The next event: T later, spread over the delay's `width` steps.
  function delayed(run, T, width) {
    const spread = boxed(run.values, width);
    let from = 0, to = spread.length;
    while (from < to && spread[from] < THIN) from++;
    while (to > from && spread[to - 1] < THIN) to--;
    return { state: run.state, first: run.first + T + from, values: spread.subarray(from, to) };
  }

  function added(a, b) {
    if (!a) return b;
    const first = Math.min(a.first, b.first);
    const values = new Float64Array(Math.max(a.first + a.values.length, b.first + b.values.length) - first);
    values.set(a.values, a.first - first);
    for (let i = 0, at = b.first - first; i < b.values.length; i++) values[at + i] += b.values[i];
    return { state: a.state, first, values };
  }

  // Splits one stretch of events into received, lost within reach, and out of reach.
  function split(run, center, reach, hazard, waits) {
    const { share, cycle } = reach, outside = run.values, inside = new Float64Array(outside.length);
    const wait = run.first - center, masses = waits.until(wait + outside.length);
    let received = 0, lost = 0, rest = 0;
    for (let i = 0, cell = run.first % cycle; i < outside.length; i++) {
      const there = outside[i] * share[cell], gained = there * hazard;
      if (++cell === cycle) cell = 0;
      masses[wait + i] += gained;
      received += gained;
      lost += inside[i] = there - gained;
      rest += outside[i] -= there;
    }
    return { inside, received, lost, rest };
  }

  // One event further: what is received is written down, the rest waits for the next event.
  function advance(tile, reach, chain, waits, T, width) {
    const next = new Map(), center = Math.round(tile.center);
    const keep = (state, first, values) => next.set(state, added(next.get(state), { state, first, values }));
    for (const run of tile.runs) {
      if (!meets(reach, run.first, run.values.length)) {
        keep(0, run.first, run.values);
        continue;
      }
      const parts = split(run, center, reach, chain.hazards[run.state], waits);
      tile.mass -= parts.received;
      if (parts.lost > THIN) keep(chain.successors[run.state], run.first, parts.inside);
      if (parts.rest > THIN) keep(0, run.first, run.values);
    }
    tile.runs = [...next.values()].map(run => delayed(run, T, width)).filter(run => run.values.length);
  }

  // Neighbors become one where their distance no longer matters to the time that has passed.
  function paired(tiles) {
    const result = [];
    for (const tile of tiles) {
      const last = result[result.length - 1];
      if (!last || last.isPair || last.window !== tile.window) { result.push({ ...tile, isPair: false }); continue; }
      const runs = new Map(last.runs.map(run => [run.state, run])), mass = last.mass + tile.mass;
      for (const run of tile.runs) runs.set(run.state, added(runs.get(run.state), run));
      last.center = mass > 0 ? (last.center * last.mass + tile.center * tile.mass) / mass : last.center;
      Object.assign(last, { runs: [...runs.values()], mass, isPair: true });
    }
    return result;
  }

  // The waits, event by event for all starts. Hands over after a while of work, so that the page stays alive.
  function* waitsOf(s, scanner, reach, chain, horizon) {
    const T = Math.round(s.intervalMs / STEP), width = Math.round(J / STEP), { spacing, found } = starts(reach, scanner);
    const waits = { masses: new Float64Array(65536), until(step) {
      if (step >= this.masses.length) {
        const longer = new Float64Array(2 * step);
        longer.set(this.masses);
        this.masses = longer;
      }
      return this.masses;
    } };
    let tiles = found.map(({ center, mass, window, first, values }) =>
      ({ center, mass, window, runs: [delayed({ state: chain.afterReceived, first, values }, T, width)] }));
    let work = 0, handedOver = 0, left = 1, event = 1, apart = spacing;
    for (; left > REST && event * T <= horizon && work < WORK; event++) {
      left = 0;
      for (const tile of tiles) {
        advance(tile, reach, chain, waits, T, width);
        for (const run of tile.runs) work += run.values.length;
        left += tile.mass;
        if (work > handedOver + 5e5) {
          handedOver = work;
          yield null;
        }
      }
      tiles = tiles.filter(tile => tile.runs.length);
      if (event * T > 256 * 2 * apart) {
        tiles = paired(tiles);
        apart *= 2;
      }
    }
    // What is left of paths that were followed to their end is received right there.
    const isRough = work >= WORK;
    if (event * T <= horizon && !isRough) waits.until(event * T)[event * T] += left;
    yield { masses: waits.masses, isRough };
  }

  // The share discovered at each half step and a half, from the waits.
  function discovered(masses, rate) {
    const shares = new Float64Array(masses.length);
    let waiting = 1, sum = 0;
    for (let i = 0; i < shares.length; i++) {
      const mass = masses[i];
      sum += rate * (i ? 1 : 0.5) * (waiting - mass / 2);
      waiting = Math.max(0, waiting - mass);
      shares[i] = Math.min(1, sum);
    }
    return shares;
  }
  function percentile(shares, share) {
    let low = -1, high = shares.length - 1;
    if (!(shares[high] >= share)) return null;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (shares[middle] >= share) high = middle; else low = middle;
    }
    const before = low < 0 ? 0 : shares[low], part = (share - before) / (shares[high] - before);
    return (low < 0 ? part / 2 : low + 0.5 + part) * STEP / 1000;
  }

  // The percentiles in seconds, and the shares discovered by the middles of the steps; null for as long as there is
  // work to do. `isRough` where it had to be cut short, or takes so many events that it is exponential.
  function* latencyOf(s, scanner) {
    const reach = coverage(s, scanner), chain = lossChain(s), E = (s.intervalMs + J / 2) / STEP;
    const rate = reach.total * chain.received / E, horizon = s.horizonS * 1000 / STEP;
    if (!(rate * E > 1 / 3000)) {
      const percentiles = {}, mean = STEP / 1000 / rate;
      for (const name in SHARES) {
        const time = -Math.log(1 - SHARES[name]) * mean;
        percentiles[name] = time <= s.horizonS ? time : null;
      }
      return yield { percentiles, mean, isRough: true, isFinal: true };
    }
    for (const waits of waitsOf(s, scanner, reach, chain, horizon)) {
      if (!waits) { yield null; continue; }
      const shares = discovered(waits.masses, rate), percentiles = {};
      for (const name in SHARES) percentiles[name] = percentile(shares, SHARES[name]);
      yield { percentiles, shares, isRough: waits.isRough, isFinal: true };
    }
  }

  // The shares of a result that are discovered by some times, in seconds.
  function sharesAt(result, times) {
    const { shares, mean } = result;
    return times.map(time => shares ? shares[Math.min(shares.length - 1, Math.round(time * 1000 / STEP))]
      : -Math.expm1(-time / mean));
  }

  // The share of detections among n beacons that take no longer than the wanted time.
  function* shareOf(s, n) {
    let result = null;
    const asked = { ...s, beacons: n, horizonS: s.detectWithinS + s.intervalMs / 500 };
    for (const step of latencyOf(asked, s.scanner)) {
      result = step || result;
      yield null;
    }
    return sharesAt(result, [s.detectWithinS])[0];
  }

  // The most beacons of which each is received in time, with the shares that the search met; 0 where not even one is.
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
    // Beyond the answer, as far as the chart goes.
    for (const times of [1.5, 2.5, 4]) yield* holds(Math.round(Math.max(1, low) * times) + 1);
    met.sort(([a], [b]) => a - b);
    yield { beacons: low, met, isFinal: true };
  }

  return { SHARES, latencyOf, largestFleet, sharesAt };
})();
