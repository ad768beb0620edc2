extension PageScript {
    /// The latency by a recursion over time. It follows the paths from one received event to the next; a random instant
    /// lies in such a wait with a probability in proportion to its length, so that the latency follows from the waits:
    /// P(L ≤ t) = rate of received events · ∫ P(wait > s) ds. Times in steps of 0.625 ms, which divide T and J.
    static let latency = #"""
        // Masses too thin to follow: at the ends of a stretch, and of a whole path.
        const THIN = 1e-9, REST = 1e-5, WORK = 3e8;
        const SHARES = { latencyP50: 0.5, latencyP90: 0.9, latencyP95: 0.95, latencyP99: 0.99 };

        // The next event: T later, spread over the delay's `width` steps. A step is uniform inside, so the two outer
        // ones get half.
        function delayed(run, T, width) {
          const { values } = run, length = values.length, spread = new Float64Array(length + width);
          let sum = 0;
          for (let i = 0; i < length + width; i++) {
            const entering = i < length ? values[i] : 0, leaving = i >= width ? values[i - width] : 0;
            spread[i] = (sum + entering / 2 - leaving / 2) / width;
            sum += entering - leaving;
          }
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
        function split(run, start, reach, hazard, waits, weight) {
          const { share, cycle } = reach, outside = run.values, inside = new Float64Array(outside.length);
          let received = 0, lost = 0, rest = 0;
          for (let i = 0, cell = (start + run.first) % cycle; i < outside.length; i++) {
            const there = outside[i] * share[cell], gained = there * hazard;
            if (++cell === cycle) cell = 0;
            waits.add(run.first + i, gained * weight);
            received += gained;
            lost += inside[i] = there - gained;
            rest += outside[i] -= there;
          }
          return { inside, received, lost, rest };
        }

        // Waits from one start after the other. Hands over after a while of work and after each start, so that the
        // page stays alive.
        function* waitsOf(s, scanner, reach, chain, horizon) {
          const T = Math.round(s.intervalMs / STEP), width = Math.round(J / STEP), all = starts(reach, scanner);
          const waits = { masses: new Float64Array(65536), weight: 0, add(step, mass) {
            if (step >= this.masses.length) {
              const longer = new Float64Array(2 * step);
              longer.set(this.masses);
              this.masses = longer;
            }
            this.masses[step] += mass;
          } };
          let work = 0, handedOver = 0;
          for (const [index, { step: start, weight }] of all.entries()) {
            let runs = [delayed({ state: chain.afterReceived, first: 0, values: new Float64Array([1]) }, T, width)];
            let left = 1;
            while (left > REST && runs.length && runs[0].first <= horizon) {
              const next = new Map();
              const keep = (state, first, values) => next.set(state, added(next.get(state), { state, first, values }));
              for (const run of runs) {
                work += run.values.length;
                if (!meets(reach, start + run.first, run.values.length)) {
                  keep(0, run.first, run.values);
                  continue;
                }
                const parts = split(run, start, reach, chain.hazards[run.state], waits, weight);
                left -= parts.received;
                if (parts.lost > THIN) keep(chain.successors[run.state], run.first, parts.inside);
                if (parts.rest > THIN) keep(0, run.first, run.values);
              }
              runs = [...next.values()].map(run => delayed(run, T, width)).filter(run => run.values.length);
              if (work > handedOver + 5e5) {
                handedOver = work;
                yield { waits, work, done: index, starts: all.length };
              }
            }
            // What is left of a path that was followed to its end is received right there.
            if (runs.length && runs[0].first <= horizon) waits.add(runs[0].first, left * weight);
            waits.weight += weight;
            yield { waits, work, done: index + 1, starts: all.length };
          }
        }

        // The share discovered at each half step and a half, from the waits.
        function discovered(waits, rate) {
          const shares = new Float64Array(waits.masses.length);
          let waiting = 1, sum = 0;
          for (let i = 0; i < shares.length; i++) {
            const mass = waits.masses[i] / waits.weight;
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

        // The percentiles in seconds, finer with each step, and the shares discovered by the middles of the steps. It
        // ends with the last start, or when twice as many change nothing, twice. `isRough` where it had to be cut
        // short, or was not followed at all because it takes thousands of events.
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
          let check = 16, calm = 0, before = null;
          for (const { waits, work, done, starts } of waitsOf(s, scanner, reach, chain, horizon)) {
            const isLast = done === starts || (work > WORK && done >= 4);
            if (done < check && !isLast) { yield null; continue; }
            const shares = discovered(waits, rate), percentiles = {};
            for (const name in SHARES) percentiles[name] = percentile(shares, SHARES[name]);
            const near = before && Object.keys(SHARES).every(name => percentiles[name] === before[name]
              || Math.abs(percentiles[name] - before[name]) < 0.0015 * percentiles[name]);
            calm = near ? calm + 1 : 0;
            const isFinal = isLast || calm === 2;
            yield { percentiles, shares, isRough: isLast && done < starts, isFinal };
            if (isFinal) return;
            before = percentiles;
            check *= 2;
          }
        }
        """#
}
