extension PageScript {
    /// Losses come in runs: two beacons that collided are likely to collide again. The hazard of being clear after k
    /// losses in a row is 1 - Q(k+1)/Q(k), with Q(K) by inclusion and exclusion over the events that one interferer
    /// hits, averaged over the asked beacon's own delays.
    static let runs = #"""
        const RUN = 10, SAMPLES = 96;

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

        function lossRuns(s) {
          const n = s.beacons - 1, tau = airtime(s.payloadOctets), hit = 2 * tau / (s.intervalMs + J / 2);
          const masks = 1 << RUN, q = new Float64Array(RUN + 1), H = new Float64Array(masks);
          const alone = new Float64Array(masks), again = new Float64Array(RUN * RUN);
          const open = Array.from(q, (_, k) => background(s) ** k);
          // Steps that fill the cube of own delays evenly: powers of the root of x^(d+1) = x + 1.
          let root = 1.1;
          for (let k = 0; k < 60; k++) root = (1 + root) ** (1 / (RUN + 1));
          for (let sample = 0; sample < SAMPLES; sample++) {
            const sums = [0];
            for (let k = 1; k < RUN; k++) sums.push(sums[k - 1] + J * ((0.5 + (sample + 1) * root ** -k) % 1));
            for (let i = 0; i < RUN; i++) {
              for (let j = i + 1; j < RUN; j++) again[i * RUN + j] = returns(j - i, sums[j] - sums[i], tau);
            }
            // alone[mask]: an interferer that hit the first event of the mask hits no other of it.
            q[0] += 1;
            let sum = 1, reported = 1;
            for (let mask = 1; mask < masks; mask++) {
              const low = 31 - Math.clz32(mask & -mask), rest = mask & (mask - 1);
              let free = 1, bits = 1;
              for (let left = rest; left; left &= left - 1, bits++) {
                free -= again[low * RUN + 31 - Math.clz32(left & -left)] * alone[left];
              }
              alone[mask] = free;
              H[mask] = H[rest] + hit * free;
              sum += (bits & 1 ? -1 : 1) * Math.max(0, 1 - H[mask]) ** n * open[bits];
              if ((mask & (mask + 1)) === 0) q[reported++] += sum;
            }
          }
          return q.map(total => Math.max(0, total / SAMPLES));
        }

        // hazards[k]: clear after k losses in a row. What a run remembers fades with the root of its length, as the two
        // clocks drift apart; so the hazard of long runs follows from two short ones.
        function runHazards(s) {
          const p = clear(s, s.intervalMs);
          if (s.beacons < 2 || p < 1e-9) return [p];
          const q = lossRuns(s), hazards = [p];
          for (let k = 1; k < RUN && q[k] > 1e-6; k++) hazards.push(Math.max(0, 1 - q[k + 1] / q[k]));
          if (hazards.length === RUN) {
            const [near, far] = [3, RUN - 1], slope = (hazards[near] - hazards[far]) / (near ** -0.5 - far ** -0.5);
            for (let k = RUN; k < 64; k++) hazards.push(Math.max(0, hazards[far] + slope * (k ** -0.5 - far ** -0.5)));
          }
          return hazards;
        }
        """#
}
