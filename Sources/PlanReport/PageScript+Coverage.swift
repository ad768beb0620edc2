extension PageScript {
    /// Where in the scanner's cycle an event is within reach. Times in steps of 0.625 ms.
    static let coverage = #"""
        // The share of the starts in each step of the cycle whose event has a copy wholly inside a window.
        function coverage(s, scanner) {
          const tau = airtime(s.payloadOctets), cycle = Math.round(scanner.channels * scanner.intervalMs / STEP);
          const isOpen = scanner.channels === 1 && scanner.windowMs === scanner.intervalMs;
          const share = new Float64Array(isOpen ? 1 : cycle), spans = [];
          if (isOpen) share[0] = 1;
          for (let channel = 0; !isOpen && channel < scanner.channels; channel++) {
            const start = channel * (scanner.intervalMs - s.copySpacingMs);
            const end = start + scanner.windowMs - tau;
            if (end > start) spans.push([start / STEP, end / STEP]);
          }
          // Windows meet where the scanner never pauses: no start is counted twice, not even across the cycle's end.
          let reached = spans.length ? spans[spans.length - 1][1] - cycle : 0;
          for (const [from, to] of spans) {
            for (let x = Math.max(from, reached); x < to;) {
              const cell = Math.floor(x), next = Math.min(cell + 1, to);
              share[cell % cycle] += next - x;
              x = next;
            }
            reached = Math.max(reached, to);
          }
          const sums = new Float64Array(share.length + 1);
          share.forEach((value, i) => sums[i + 1] = sums[i] + value);
          return { share, sums, cycle: share.length, total: sums[share.length] / share.length };
        }

        // Whether anything within `length` steps from `from` on is within reach.
        function meets({ sums, cycle }, from, length) {
          if (length >= cycle) return true;
          const start = from % cycle, end = start + length;
          return end <= cycle ? sums[end] > sums[start] : sums[cycle] > sums[start] || sums[end - cycle] > 0;
        }

        // Starts of paths: steps within reach, at most 15 apart and at least 32 in a window, each with the weight
        // of the steps it stands for; in an order in which the first few already tell a lot.
        function starts(reach, scanner) {
          const { share, cycle } = reach;
          if (cycle === 1) return [{ step: 0, weight: 1 }];
          const spacing = Math.max(1, Math.floor(Math.min(15, scanner.windowMs / STEP / 32))), found = [];
          for (let step = 0; step < cycle; step++) {
            if (!share[step]) continue;
            let weight = 0, moment = 0, end = step;
            for (; end < cycle && end < step + spacing && share[end]; end++) {
              weight += share[end];
              moment += share[end] * end;
            }
            found.push({ step: Math.min(end - 1, Math.round(moment / weight)), weight });
            step = end - 1;
          }
          const divisor = (a, b) => b ? divisor(b, a % b) : a;
          let stride = Math.max(1, Math.round(found.length * 0.618034));
          while (divisor(stride, found.length) > 1) stride++;
          return found.map((_, i) => found[i * stride % found.length]);
        }
        """#
}
