extension PageScript {
    /// Losses come in runs: two beacons that collided are likely to collide again. How likely an event is clear after k
    /// losses in a row follows from Q(K), the probability of K losses in a row, by inclusion and exclusion over the
    /// sets of events that one interferer hits, averaged over the asked beacon's own delays.
    static let runs = #"""
        const RUN = 12, SAMPLES = 64, BINS = 24 * (RUN + 1) + 3;

        // The chance that a pair that collided collides again m events later: a second difference of the second
        // antiderivative of the density of a sum of m delays. `own` is the sum of the asked beacon's delays.
        function returns(m, own, tau) {
          let factorial = 1;
          for (let k = 2; k <= m + 1; k++) factorial *= k;
          const integral = x => {
            let sum = 0, choose = 1;
            for (let j = 0; j <= m && x / J > j; j++) {
              sum += choose * (x / J - j) ** (m + 1);
              choose *= -(m - j) / (j + 1);
            }
            return J * sum / factorial;
          };
          // The sum is symmetric about m·J/2; the lower half keeps its digits.
          const x = own > m * J / 2 ? m * J - own : own;
          const near = integral(x + 2 * tau) - 2 * integral(x) + integral(x - 2 * tau);
          return Math.max(0, near / (2 * tau));
        }

        // For each length of run and size of set: how the sets' reaches are spread. A reach times 2·tau/E is the
        // chance that one interferer hits something of the set. Only the payload matters, so it is kept.
        const patterns = new Map();
        function hitPatterns(tau) {
          if (patterns.has(tau)) return patterns.get(tau);
          const masks = 1 << RUN, reach = new Float64Array(masks), free = new Float64Array(masks);
          const weights = new Float64Array(RUN * (RUN + 1) * BINS), again = new Float64Array(RUN * RUN);
          // Steps that fill the cube of own delays evenly: powers of the root of x^(d+1) = x + 1.
          let root = 1.5;
          for (let k = 0; k < 60; k++) root = (1 + root) ** (1 / RUN);
          for (let sample = 0; sample < SAMPLES; sample++) {
            const sums = [0];
            for (let k = 1; k < RUN; k++) {
              const point = (0.5 + (Math.floor(sample / 2) + 1) * root ** -k) % 1;
              sums.push(sums[k - 1] + J * (sample % 2 ? 1 - point : point));
            }
            for (let i = 0; i < RUN; i++) {
              for (let j = 0; j < i; j++) again[i * RUN + j] = returns(i - j, sums[i] - sums[j], tau);
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
        """#
}
