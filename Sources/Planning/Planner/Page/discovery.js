"use strict";

// The time until a beacon is found: its percentiles, and the curve of the share of cases.
const discovery = (() => {
  const { isNumber, digits, duration } = texts;
  const { show, chart, draw, line, mark } = drawing;
  const { SHARES, sharesAt } = latency;

  function drawCurve(plot, result, horizon) {
    const times = plot.values.filter(time => time <= horizon), shares = sharesAt(result, times);
    const curve = line(plot, times.map((time, i) => [time, shares[i]]));
    const end = times.length ? plot.across(times[times.length - 1]).toFixed(2) : plot.left;
    draw("discoveredCurve", curve);
    draw("discoveredArea", curve && `${curve}L${end} ${plot.bottom}L${plot.left} ${plot.bottom}Z`);
    const p = result.percentiles, names = { p50: "half", p90: "90 of 100", p99: "99 of 100" };
    for (const name in names) {
      const time = p[`latencyP${name.slice(1)}`];
      mark(plot, `${name}Marker`, time, `${names[name]} ${duration(time)}`);
    }
    const cells = document.querySelectorAll("#discovery tbody td");
    Object.keys(SHARES).forEach((name, i) => { cells[i].textContent = digits(p[name], 4); });
  }

  // The numbers that depend on the latency, as far as it is known.
  function follow(s, plots, result) {
    for (const name in SHARES) {
      const value = result.percentiles[name];
      const shown = isNumber(value) ? duration(value) : `over ${duration(s.horizonS)}`;
      show(name, value, (result.isRough ? "about " : "") + shown);
    }
    drawCurve(chart(plots.discovery), result, s.horizonS);
  }

  return { follow };
})();
