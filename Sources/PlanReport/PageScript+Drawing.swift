extension PageScript {
    /// Numbers as text, and lines as paths.
    static let drawing = #"""
        const byId = id => document.getElementById(id);
        const isNumber = x => typeof x === "number" && Number.isFinite(x);
        const digits = (x, n = 3) => {
          if (!isNumber(x)) return "–";
          const text = Number(x.toPrecision(n));
          return Math.abs(text) >= 1e9 || (x && Math.abs(text) < 1e-6) ? x.toExponential(1) : String(text);
        };
        const percent = x => isNumber(x) ? digits(x * 100, x > 0.999 && x < 1 ? 5 : 3) + " %" : "–";
        const duration = s => {
          if (!isNumber(s)) return "–";
          if (s < 0.9995) return digits(s * 1000) + " ms";
          if (s < 99.95) return digits(s) + " s";
          const whole = Math.round(s), minutes = Math.floor(whole / 60);
          return whole < 3600 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
        };
        const milliseconds = x => isNumber(x) ? digits(x, 7) + " ms" : "–";

        // The number in all its digits stands beside what is shown.
        function show(id, value, text) {
          const element = byId(id);
          if (element.textContent !== text) element.textContent = text;
          if (isNumber(value)) element.dataset.value = String(value); else delete element.dataset.value;
        }

        // The axes of both curves, as they are drawn.
        const PLOT = { left: 62, right: 586, top: 82, bottom: 344 };
        const TIMES = [0.05, 3600];
        const across = (x, [low, high]) =>
          PLOT.left + (PLOT.right - PLOT.left) * Math.log(Math.min(high, Math.max(low, x)) / low) / Math.log(high / low);
        const up = y => PLOT.bottom + (PLOT.top - PLOT.bottom) * Math.min(1, Math.max(0, y));
        const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
        const intervals = Array.from({ length: 161 }, (_, i) => FASTEST * (SLOWEST / FASTEST) ** (i / 160));

        // A vertical line, and its name on the side where there is room.
        function mark(id, x, text) {
          const line = byId(id), name = byId(id + "Name"), isLeft = x > (PLOT.left + PLOT.right) / 2;
          const place = isNumber(x) ? x.toFixed(2) : "-100";
          line.setAttribute("x1", place);
          line.setAttribute("x2", place);
          name.setAttribute("x", isNumber(x) ? (x + (isLeft ? -6 : 6)).toFixed(2) : "-100");
          name.setAttribute("text-anchor", isLeft ? "end" : "start");
          name.textContent = text;
        }

        function drawIntervals(s, best) {
          const range = [FASTEST, SLOWEST], place = T => across(T, range);
          const rate = T => clear(s, T) / (T + J / 2), rates = intervals.map(rate), most = Math.max(...rates);
          byId("clearCurve").setAttribute("d", path(intervals.map(T => [place(T), up(clear(s, T))])));
          byId("arrivalsCurve").setAttribute("d",
            path(intervals.map((T, i) => [place(T), up(most > 0 ? rates[i] / most : 0)])));
          const bands = s.captureDecibels === null ? [] : intervals.map(T => [place(T), captureBand(s, T)]);
          const outline = [...bands.map(([x, b]) => [x, up(b.high)]), ...bands.reverse().map(([x, b]) => [x, up(b.low)])];
          byId("captureBand").setAttribute("d", outline.length ? path(outline) + "Z" : "");
          mark("todayMarker", place(s.intervalMs), `this setting ${milliseconds(s.intervalMs)}`);
          mark("mostMarker", place(best.throughput), `most packets ${milliseconds(best.throughput)}`);
          mark("surestMarker", place(best.latency), `seen surest ${milliseconds(best.latency)}`);
          for (const row of document.querySelectorAll("#intervalCurve tbody tr")) {
            const T = Number(row.cells[0].textContent);
            row.cells[1].textContent = percent(clear(s, T));
            row.cells[2].textContent = digits(1000 * rate(T));
          }
        }

        function drawDiscovery(result, horizon) {
          const last = result.shares ? result.shares.length - 1 : 0, points = [];
          for (let i = 0; i <= 160; i++) {
            const time = TIMES[0] * (TIMES[1] / TIMES[0]) ** (i / 160);
            if (time > horizon) break;
            const step = Math.round(time * 1000 / STEP);
            const share = result.shares ? result.shares[Math.min(last, step)] : -Math.expm1(-time / result.mean);
            points.push([across(time, TIMES), up(share)]);
          }
          const line = path(points), end = points.length ? points[points.length - 1][0].toFixed(2) : PLOT.left;
          byId("discoveredCurve").setAttribute("d", line);
          byId("discoveredArea").setAttribute("d", line && `${line}L${end} ${PLOT.bottom}L${PLOT.left} ${PLOT.bottom}Z`);
          const p = result.percentiles, names = { p50: "half", p90: "90 of 100", p99: "99 of 100" };
          for (const name in names) {
            const time = p["latencyP" + name.slice(1)];
            mark(name + "Marker", isNumber(time) ? across(time, TIMES) : null,
              isNumber(time) ? `${names[name]} ${duration(time)}` : "");
          }
          const cells = document.querySelectorAll("#discovery tbody td");
          Object.keys(SHARES).forEach((name, i) => cells[i].textContent = digits(p[name], 4));
        }
        """#
}
