"use strict";

// A floor: the controls of a site page. The target time and share change the colours, the line of the target and the
// share of the places that reach the target.
const site = (() => {
  const { digits, percent, duration } = texts;
  const { show, byId, draw } = drawing;
  // The number of shades for places that reach the target, and for places that miss it.
  const HALF = 4;

  // The share of cases in which a beacon is found at each place within a time in seconds, interpolated over the
  // logarithm of the times that the program has computed.
  function sharesWithin({ times, shares }, seconds) {
    const last = times.length - 1;
    let k = 0;
    while (k < last - 1 && times[k + 1] < seconds) k++;
    const part = Math.min(1, Math.max(0, Math.log(seconds / times[k]) / Math.log(times[k + 1] / times[k])));
    return shares.map(row => row.length ? (row[k] + (row[k + 1] - row[k]) * part) / 10000 : null);
  }

  // The limits between the shades in %, from the best to the worst.
  function bounds(values, probability) {
    const target = 100 * probability, best = Math.max(target, ...values.map(value => 100 * value));
    const steps = (from, to) => Array.from({ length: HALF }, (_, i) => from + (to - from) * i / HALF);
    return [...steps(best, target), ...steps(target, 0), 0];
  }

  function shade(ends, value) {
    let index = 0;
    while (index < ends.length - 2 && value < ends[index + 1]) index++;
    return index;
  }

  const rectangle = ([x, y, width, height]) => `M${x} ${y}h${width}v${height}h-${width}z`;

  function drawCells({ pieces }, found, ends) {
    const paths = Array.from({ length: 2 * HALF }, () => []);
    for (const piece of pieces) {
      const value = found[piece[4]];
      if (value !== null) paths[shade(ends, 100 * value)].push(rectangle(piece));
    }
    paths.forEach((parts, i) => { draw(`shade${i}`, parts.join("")); });
    for (let i = 0; i < 2 * HALF; i++) {
      const row = byId(`legendShade${i}`), [low, high] = [ends[i + 1], ends[i]];
      row.hidden = low === high;
      byId(`legendShade${i}Name`).textContent = `${digits(low)} to ${digits(high)} %`;
    }
    byId("legendContourName").textContent = `target: ${digits(100 * ends.target)} %`;
  }

  // The line along which the shares pass the target, from side to side of the squares between four places.
  function drawContour({ places, squares }, found, target) {
    const lines = [];
    for (const corners of squares) {
      const crossings = [];
      corners.forEach((from, i) => {
        const to = corners[(i + 1) % 4], low = found[from] ?? 0, high = found[to] ?? 0;
        if ((low >= target) === (high >= target)) return;
        const part = (target - low) / (high - low), [x, y] = places[from], [otherX, otherY] = places[to];
        crossings.push(`${(x + (otherX - x) * part).toFixed(2)} ${(y + (otherY - y) * part).toFixed(2)}`);
      });
      for (let i = 0; i + 1 < crossings.length; i += 2) lines.push(`M${crossings[i]}L${crossings[i + 1]}`);
    }
    draw("contour", lines.join(""));
  }

  const reached = (found, target) => found.filter(value => value !== null && value >= target).length / found.length;

  function answer(s, { floor }) {
    const found = sharesWithin(floor, s.detectWithinS), heard = found.filter(value => value !== null);
    const ends = bounds(heard, s.probability);
    ends.target = s.probability;
    drawCells(floor, found, ends);
    drawContour(floor, found, s.probability);
    const weakest = heard.length < found.length ? 0 : Math.min(1, ...heard), share = reached(found, s.probability);
    show("holdingShare", share, percent(share));
    show("weakestShare", weakest, percent(weakest));
    s.holdingShare = share;
  }

  const sentence = s => `${s.isProposed ? "With the proposal, at" : "At"} ${percent(s.holdingShare)} of the drawn places a receiver finds ${s.found} within `
    + `${duration(s.detectWithinS)} in ${percent(s.probability)} of the cases.`;

  return { answer, steps: () => null, sentence, sharesWithin, bounds, drawCells, drawContour, reached };
})();
