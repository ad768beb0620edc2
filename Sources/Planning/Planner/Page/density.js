"use strict";

// The number of beacons that may be in range of one receiver: the controls of a density page.
const density = (() => {
  const { gridSpacing } = models;
  const { digits, percent, duration } = texts;
  const { show, byId, chart, path, draw, line, mark } = drawing;

  // The largest number of beacons along the radius in the picture.
  const DRAWN = 40;

  // Draws the beacons of the grid around the receiver. The circle of the range always has the same size.
  function drawGrid({ centerX, centerY, radius }, s, spacing) {
    const step = spacing ? Math.max(radius * spacing / s.rangeM, radius / DRAWN) : 2 * radius;
    const dotsPerRadius = Math.floor(radius / step + 1e-9);
    const dots = [];
    for (let row = -dotsPerRadius; row <= dotsPerRadius; row++) {
      for (let column = -dotsPerRadius; column <= dotsPerRadius; column++) {
        if (Math.hypot(row, column) * step <= radius * (1 + 1e-9)) dots.push([centerX + column * step, centerY + row * step]);
      }
    }
    draw("gridDots", spacing ? dots.map(dot => `${path([dot])}h0`).join("") : "");
    byId("rangeName").textContent = `range ${digits(s.rangeM)} m`;
    byId("spacingName").textContent = spacing ? `${digits(spacing)} m apart` : "none";
  }

  function answer(s, plots) {
    const plot = chart(plots.densityCurve), y = plot.up(s.probability).toFixed(2);
    draw("targetLine", `M${plot.left} ${y}L${plot.right} ${y}`);
    byId("targetName").setAttribute("y", (Number(y) + 19).toFixed(2));
    byId("targetName").textContent = `target: ${percent(s.probability)}`;
  }

  function follow(s, plots, result) {
    const plot = chart(plots.densityCurve), spacing = result.beacons ? gridSpacing(result.beacons, s.rangeM) : null;
    show("beaconsInRange", result.beacons, String(result.beacons));
    show("gridSpacingM", spacing, spacing ? `${digits(spacing)} m` : "–");
    draw("densityLine", line(plot, result.curve));
    mark(plot, "densityMarker", result.beacons || null, `${result.beacons} beacons`);
    drawGrid(plots.grid, s, spacing);
  }

  function sentence(s, result) {
    const target = `within ${duration(s.detectWithinS)} in ${percent(s.probability)} of the cases`;
    if (!result.beacons) return `Even a single beacon is not found ${target}.`;
    return `Up to ${result.beacons} beacons in range of one receiver are each found ${target} by ${s.scanner.name}: a square grid of `
      + `${digits(gridSpacing(result.beacons, s.rangeM))} m with a range of ${digits(s.rangeM)} m.`;
  }

  return { answer, steps: latency.largestFleet, follow, sentence };
})();
