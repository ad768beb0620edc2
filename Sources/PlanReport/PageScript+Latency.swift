extension PageScript {
    /// The recursion over time for one beacon of a fleet before a scanner that pauses.
    ///
    /// The phase of the first event is uniform, whatever time passed until then: so the recursion runs from the first
    /// event on, and the time before it, the residual of an interval, is folded in at the end. That keeps the arrays
    /// as narrow as the sum of the delays. Times in steps of 0.625 ms, which divide T and J.
    static let latency = #"""
        // The share of the starts in each step of the scanner's cycle whose event has a copy wholly inside a window.
        function coverage(s, scanner) {
          const cycle = Math.round(scanner.channels * scanner.intervalMs / STEP), tau = airtime(s.payloadOctets);
          if (scanner.channels === 1 && scanner.windowMs === scanner.intervalMs) return new Float64Array(1).fill(1);
          const share = new Float64Array(cycle), spans = [];
          for (let channel = 0; channel < scanner.channels; channel++) {
            const copy = scanner.channels === 1 ? 0 : channel * s.copySpacingMs;
            const start = channel * scanner.intervalMs - copy, end = start + scanner.windowMs - tau;
            if (end > start) spans.push([start / STEP, end / STEP]);
          }
          // Two windows may meet where the scanner never pauses: no start is counted twice.
          spans.sort((a, b) => a[0] - b[0]);
          let reached = -Infinity;
          const last = spans.length ? spans[spans.length - 1][1] - cycle : -Infinity;
          for (const [from, to] of spans) {
            for (let x = Math.max(from, reached, last); x < to;) {
              const next = Math.min(Math.floor(x) + 1, to), cell = ((Math.floor(x) % cycle) + cycle) % cycle;
              share[cell] = Math.min(1, share[cell] + next - x);
              x = next;
            }
            reached = Math.max(reached, to);
          }
          return share;
        }

        // What is left undiscovered of a phase, and what is so thin that it is cut off, when the recursion stops.
        const REST = 1e-4, THIN = 1e-9;

        // Time from the first event to the first that is received, phase after phase. Hands over after a while of
        // work, and after each phase, so that the page stays alive.
        function* firstReceived(s, scanner, hazards) {
          const T = Math.round(s.intervalMs / STEP), width = Math.round(J / STEP), share = coverage(s, scanner);
          const cycle = share.length, horizon = Math.round(s.horizonS * 1000 / STEP);
          const received = new Float64Array(horizon + 1);
          const spacing = Math.max(1, Math.floor(Math.min(16, scanner.windowMs / 6) / STEP));
          const phases = cycle === 1 ? 1 : Math.ceil(cycle / spacing), limit = hazards.length - 1;
          // A stride without a common divisor visits all phases evenly, so that the first few already tell a lot.
          let work = 0, handedOver = 0;
          let stride = Math.max(1, Math.round(phases * 0.618034));
          const divisor = (a, b) => b ? divisor(b, a % b) : a;
          while (divisor(stride, phases) > 1) stride++;
          const covered = new Float64Array(cycle + 1);
          for (let i = 0; i < cycle; i++) covered[i + 1] = covered[i] + share[i];
          const meets = (from, length) => {
            if (length >= cycle) return true;
            const start = from % cycle, end = start + length;
            return end <= cycle ? covered[end] > covered[start]
              : covered[cycle] > covered[start] || covered[end - cycle] > 0;
          };
          for (let visit = 0; visit < phases; visit++) {
            const phase = Math.floor((visit * stride % phases) * cycle / phases);
            // One density for each number of losses since the last pause, from `first` on.
            let runs = [{ losses: 0, first: 0, values: new Float64Array(1).fill(1) }], left = 1;
            for (let event = 0; left > REST && runs.length && event * T <= horizon; event++) {
              let lost = [];
              let rest = null;
              for (const run of runs) {
                const length = run.values.length;
                work += length;
                if (!meets(phase + run.first, length)) {
                  rest = added(rest, { losses: 0, first: run.first, values: run.values });
                  continue;
                }
                const hazard = hazards[Math.min(run.losses, limit)];
                const inside = new Float64Array(length), outside = run.values;
                let insideMass = 0, outsideMass = 0;
                for (let i = 0, cell = (phase + run.first) % cycle; i < length; i++) {
                  const there = outside[i] * share[cell], gained = there * hazard, time = run.first + i;
                  if (++cell === cycle) cell = 0;
                  if (time <= horizon) received[time] += gained;
                  left -= gained;
                  inside[i] = there - gained;
                  outside[i] -= there;
                  insideMass += inside[i];
                  outsideMass += outside[i];
                }
                if (insideMass > THIN) {
                  lost.push({ losses: Math.min(run.losses + 1, limit), first: run.first, values: inside });
                }
                if (outsideMass > THIN) rest = added(rest, { losses: 0, first: run.first, values: outside });
              }
              runs = merged(rest, lost).map(run => delayed(run, T, width));
              if (work > handedOver + 1e6) {
                handedOver = work;
                yield { received, phases, visited: visit, work };
              }
            }
            yield { received, phases, visited: visit + 1, work };
          }
        }

        function added(a, b) {
          if (!a) return b;
          const first = Math.min(a.first, b.first);
          const end = Math.max(a.first + a.values.length, b.first + b.values.length);
          const values = new Float64Array(end - first);
          values.set(a.values, a.first - first);
          for (let i = 0, at = b.first - first; i < b.values.length; i++) values[at + i] += b.values[i];
          return { losses: a.losses, first, values };
        }
        function merged(rest, lost) {
          const byLosses = new Map();
          for (const run of lost) byLosses.set(run.losses, added(byLosses.get(run.losses), run));
          return rest ? [rest, ...byLosses.values()] : [...byLosses.values()];
        }

        // The next event: T later, spread over the delay's `width` steps. A step is uniform inside, so the two outer
        // ones get half. What is too thin to matter is cut off at both ends.
        function delayed(run, T, width) {
          const { values } = run, length = values.length, spread = new Float64Array(length + width);
          let sum = 0;
          for (let i = 0; i < length + width; i++) {
            const entering = i < length ? values[i] : 0, leaving = i >= width ? values[i - width] : 0;
            spread[i] = (sum + entering / 2 - leaving / 2) / width;
            sum += entering - leaving;
          }
          let from = 0, to = spread.length;
          while (from < to && spread[from] < THIN / length) from++;
          while (to > from && spread[to - 1] < THIN / length) to--;
          return { losses: run.losses, first: run.first + T + from, values: spread.subarray(from, to) };
        }

        const SHARES = { latencyP50: 0.5, latencyP90: 0.9, latencyP95: 0.95, latencyP99: 0.99 };
        const WORK = 3e8;

        // The percentiles in seconds, finer with each step, and the shares discovered. It ends with the last phase, or
        // when twice as many phases change nothing, twice; `isRough` where the work was cut short before that.
        function* latencyOf(s, scanner) {
          const horizon = s.horizonS, hazards = runHazards(s);
          const share = scanner.windowMs / scanner.intervalMs;
          const mean = (s.intervalMs + J / 2) / 1000 / (hazards[0] * share);
          if (!(mean < 4 * horizon)) return yield { percentiles: {}, shares: new Float64Array(1), isFinal: true };
          let check = 16, calm = 0, before = null, result = null;
          for (const state of firstReceived(s, scanner, hazards)) {
            const { received, phases, visited, work } = state;
            const isLast = visited === phases || (work > WORK && visited >= 4);
            if (visited < check && !isLast) { yield null; continue; }
            const shares = discovered(s, received, visited), percentiles = {};
            for (const name in SHARES) percentiles[name] = percentile(shares, SHARES[name]);
            const near = before && Object.keys(SHARES).every(name => percentiles[name] === before[name]
              || Math.abs(percentiles[name] - before[name]) < 0.0015 * percentiles[name]);
            calm = near ? calm + 1 : 0;
            result = { percentiles, shares, isRough: isLast && visited < phases, isFinal: isLast || calm === 2 };
            yield result;
            if (result.isFinal) return;
            before = percentiles;
            check *= 2;
          }
        }

        // The share discovered by the end of each step, with the time until the first event: CDF = (A(t) - mean of
        // A(t - T - j) over the delay j) / E, with A the integral of the shares received.
        function discovered(s, received, weight) {
          const T = Math.round(s.intervalMs / STEP), width = Math.round(J / STEP), E = T + width / 2;
          const n = received.length, area = new Float64Array(n + 1), areaSum = new Float64Array(n + 2);
          let total = 0;
          for (let i = 0; i < n; i++) {
            total += received[i];
            area[i + 1] = area[i] + total / weight;
          }
          for (let i = 0; i <= n; i++) areaSum[i + 1] = areaSum[i] + area[i];
          const shares = new Float64Array(n + 1);
          for (let i = 0; i <= n; i++) {
            const to = i - T, from = to - width;
            const inner = (to > 0 ? areaSum[to] : 0) - (from >= 0 ? areaSum[from + 1] : 0);
            const ends = ((to > 0 ? area[to] : 0) + (from > 0 ? area[from] : 0)) / 2;
            shares[i] = Math.min(1, (area[i] - (inner + ends) / width) / E);
          }
          return shares;
        }
        function percentile(shares, share) {
          let low = 0, high = shares.length - 1;
          if (!(shares[high] >= share)) return null;
          while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (shares[middle] >= share) high = middle; else low = middle;
          }
          const rise = shares[high] - shares[low];
          return (low + (rise > 0 ? (share - shares[low]) / rise : 1)) * STEP / 1000;
        }
        """#
}
