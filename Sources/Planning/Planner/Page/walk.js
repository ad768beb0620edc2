"use strict";

// A walk past a beacon: the controls of a walk page.
const walk = (() => {
  const { dwell } = models;
  const { digits, percent, duration } = texts;
  const { show, byId, draw } = drawing;
  const { latencyOf, sharesAt } = latency;

  // Draws the path through the circle of the range. The circle always has the same size.
  function drawWay({ centerX, centerY, radius, left, right }, s) {
    const share = s.distanceM / s.rangeM, y = (centerY + Math.min(1.15, share) * radius).toFixed(2);
    const half = share < 1 ? radius * Math.sqrt(1 - share * share) : 0;
    draw("wayLine", `M${left} ${y}L${right} ${y}`);
    draw("wayInRange", half > 0 ? `M${(centerX - half).toFixed(2)} ${y}L${(centerX + half).toFixed(2)} ${y}` : "");
    draw("wayDistance", `M${centerX} ${centerY}L${centerX} ${y}`);
    byId("rangeName").textContent = `range ${digits(s.rangeM)} m`;
    byId("distanceName").textContent = `${digits(s.distanceM)} m`;
    byId("dwellName").textContent = half > 0 ? `in range for ${duration(dwell(s))}` : "never in range";
    byId("dwellName").setAttribute("y", (Number(y) + 26).toFixed(2));
  }

  function answer(s, plots) {
    show("dwellS", dwell(s), duration(dwell(s)));
    drawWay(plots.way, s);
  }

  const inTime = (s, result) => dwell(s) > 0 ? sharesAt(result, [Math.min(dwell(s), s.horizonS)])[0] : 0;

  function follow(s, plots, result) {
    discovery.follow(s, plots, result, [["dwellMarker", dwell(s), `in range ${duration(dwell(s))}`]]);
    const seen = inTime(s, result);
    show("probabilitySeen", seen, percent(seen));
  }

  function sentence(s) {
    if (!dwell(s)) return "0 % of the walks find the beacon: the path stays outside its range.";
    return `At ${digits(s.speedMps)} m/s and a distance of ${digits(s.distanceM)} m the beacon is in range for `
      + `${duration(dwell(s))} and is found in ${byId("probabilitySeen").textContent} of the cases.`;
  }

  return { answer, steps: s => latencyOf({ ...s, untilS: dwell(s) }, s.scanner), follow, sentence };
})();
