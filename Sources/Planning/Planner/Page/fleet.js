"use strict";

// Equal beacons and one scanner: the controls of collisions, latency and interval pages.
const fleet = (() => {
  const { J, airtime, clear, lossAfterLoss, bestIntervals, captureBand } = models;
  const { isNumber, digits, percent, duration, milliseconds } = texts;
  const { byId, show, chart, path, draw, line, marks } = drawing;
  const { latencyOf } = latency;

  function drawIntervals(plot, s, best) {
    const rate = T => clear(s, T) / (T + J / 2), rates = plot.values.map(rate), most = Math.max(...rates);
    draw("clearCurve", line(plot, plot.values.map(T => [T, clear(s, T)])));
    draw("arrivalsCurve", line(plot, plot.values.map((T, i) => [T, most > 0 ? rates[i] / most : 0])));
    const bands = s.captureDecibels === null ? [] : plot.values.map(T => [T, captureBand(s, T)]);
    const outline = bands.map(([T, band]) => [plot.across(T), plot.up(band.high)])
      .concat(bands.reverse().map(([T, band]) => [plot.across(T), plot.up(band.low)]));
    draw("captureBand", outline.length ? `${path(outline)}Z` : "");
    marks(plot, [
      ["todayMarker", s.intervalMs, `chosen ${milliseconds(s.intervalMs)}`],
      ["mostMarker", best.throughput, `most ${milliseconds(best.throughput)}`],
      ["surestMarker", best.latency, `surest ${milliseconds(best.latency)}`],
    ]);
    for (const row of document.querySelectorAll("#intervalCurve tbody tr")) {
      const T = Number(row.cells[0].textContent);
      row.cells[1].textContent = percent(clear(s, T));
      row.cells[2].textContent = digits(1000 * rate(T));
    }
  }

  // Shows the numbers that take no long computation.
  function answer(s, plots) {
    const p = clear(s, s.intervalMs), E = s.intervalMs + J / 2, tau = airtime(s.payloadOctets);
    const best = bestIntervals(s), load = s.beacons * tau / E + s.backgroundLoad, again = lossAfterLoss(s);
    show("collisionFreeProbability", p, percent(p));
    show("arrivalsPerSecondPerBeacon", 1000 * p / E, digits(1000 * p / E));
    show("lossAfterLossProbability", again, percent(again));
    show("channelLoad", load, percent(load));
    show("airtimeMicroseconds", 1000 * tau, `${digits(1000 * tau)} µs`);
    show("bestThroughputIntervalMs", best.throughput, milliseconds(best.throughput));
    show("bestLatencyIntervalMs", best.latency, milliseconds(best.latency));
    const band = s.captureDecibels === null ? {} : captureBand(s, s.intervalMs);
    show("captureLow", band.low, percent(band.low));
    show("captureHigh", band.high, percent(band.high));
    for (const id of ["captureLow", "captureHigh"]) byId(id).closest("div").hidden = s.captureDecibels === null;
    drawIntervals(chart(plots.intervalCurve), s, best);
  }

  const steps = s => s.scanner ? latencyOf(s, s.scanner) : null;
  const follow = discovery.follow;

  function sentence(s, result) {
    const p = clear(s, s.intervalMs), best = bestIntervals(s);
    const clearly = p > 0.995 ? "nearly all packets arrive without a collision" : p >= 0.01
      ? `${digits(100 * p, 2)} of 100 packets arrive without a collision`
      : `only ${digits(1000000 * p, 2)} packets of a million arrive without a collision`;
    const beacons = s.beacons === 1 ? "A single beacon" : `${s.beacons} beacons`;
    let text = `${beacons} at ${milliseconds(s.intervalMs)}: ${clearly}.`;
    if (result) {
      const { latencyP50: half, latencyP99: most } = result.percentiles;
      const rest = isNumber(most) ? `, 99 of 100 after ${duration(most)}.` : `, but not 99 of 100 within ${duration(s.horizonS)}.`;
      text += isNumber(half) ? ` Half of all receivers have found a given beacon after ${duration(half)}${rest}`
        : ` Not even half of all receivers find a given beacon within ${duration(s.horizonS)}.`;
    }
    if (s.intervalMs + J / 2 < 0.98 * (best.throughput + J / 2)) {
      text += ` Too many packets: with an interval of ${milliseconds(best.throughput)} more of them would arrive.`;
    }
    return text;
  }

  return { answer, steps, follow, sentence };
})();
