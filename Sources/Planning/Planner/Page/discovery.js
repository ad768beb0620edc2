"use strict";

// The time until a beacon is found: its percentiles, and the curve of the share of cases.
const discovery = (() => {
  const { isNumber, digits, duration } = texts;
  const { show, chart, draw, line, marks, writeTicks } = drawing;
  const { SHARES, sharesAt } = latency;

  // The lengths that the time axis can have, and its labels, in seconds.
  const ENDS = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1800], TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600];
  const tickText = time => time < 60 ? duration(time) : time < 3600 ? `${digits(time / 60)} min` : "1 h";

  // Fits the time axis so that it ends soon after nearly all beacons are found. `extra` are additional vertical lines.
  function fitted({ x, y, samples }, result, horizon, extra) {
    const ends = ENDS.filter(end => end < horizon), shares = sharesAt(result, ends);
    const [finalShare] = sharesAt(result, [horizon]);
    const found = ends.findIndex((_, i) => shares[i] >= 0.995 * finalShare), last = found < 0 ? horizon : ends[found];
    const least = Math.max(last, result.percentiles.latencyP99 ?? 0, ...extra.map(([, time]) => time));
    return chart({ x: { ...x, high: ENDS.find(end => end >= least) ?? x.high }, y, samples });
  }

  function drawCurve(axes, result, horizon, extra) {
    const plot = fitted(axes, result, horizon, extra), high = plot.values[plot.values.length - 1];
    writeTicks("discoveryTicks", plot, TICKS.filter(time => time <= high * 1.001), tickText);
    const times = plot.values.filter(time => time <= horizon), shares = sharesAt(result, times);
    const curve = line(plot, times.map((time, i) => [time, shares[i]]));
    const end = times.length ? plot.across(times[times.length - 1]).toFixed(2) : plot.left;
    draw("discoveredCurve", curve);
    draw("discoveredArea", curve && `${curve}L${end} ${plot.bottom}L${plot.left} ${plot.bottom}Z`);
    const p = result.percentiles, names = { p50: "half", p90: "90 %", p99: "99 %" };
    marks(plot, Object.keys(names).map(name => {
      const time = p[`latencyP${name.slice(1)}`];
      return [`${name}Marker`, time, `${names[name]} ${duration(time)}`];
    }).concat(extra));
    const cells = document.querySelectorAll("#discovery tbody td");
    Object.keys(SHARES).forEach((name, i) => { cells[i].textContent = digits(p[name], 4); });
  }

  // Shows the numbers and the curve that depend on the latency, even while only a part of it is computed.
  function follow(s, plots, result, extra = []) {
    for (const name in SHARES) {
      const value = result.percentiles[name];
      const shown = isNumber(value) ? duration(value) : `over ${duration(s.horizonS)}`;
      show(name, value, (result.isRough ? "about " : "") + shown);
    }
    drawCurve(plots.discovery, result, s.horizonS, extra);
  }

  return { follow };
})();
