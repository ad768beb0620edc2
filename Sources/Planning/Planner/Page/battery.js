"use strict";

// The battery life of a beacon: the controls of an energy page.
const battery = (() => {
  const { clear, energy } = models;
  const { digits, percent, milliseconds } = texts;
  const { show, chart, draw, line, mark } = drawing;

  // The time in days after which a battery is no longer usable, even without load.
  const SHELF_LIFE = 3652.5;
  const charge = x => x < 730 ? `${digits(x)} days` : `${digits(x / 365.25)} years`;
  const days = x => x > SHELF_LIFE ? "about ten years" : charge(x);
  // The line is interrupted where values are outside the chart.
  const inside = ({ y }, x) => x >= y.low && x <= y.high ? x : null;

  function answer(s, plots) {
    const result = energy(s, s.intervalMs), p = clear(s, s.intervalMs);
    show("lifeDays", result.days, days(result.days));
    show("meanCurrentMicroamperes", result.current, `${digits(result.current)} µA`);
    show("microjoulePerReceived", result.microjoules, p < 1e-9 ? "–" : `${digits(result.microjoules)} µJ`);
    show("collisionFreeProbability", p, percent(p));
    show("eventMicrocoulombs", result.event, `${digits(result.event)} µC`);
    const life = chart(plots.lifeCurve), cost = chart(plots.costCurve);
    draw("lifeLine", line(life, life.values.map(T => [T, inside(plots.lifeCurve, energy(s, T).days)])));
    draw("costLine", line(cost, cost.values.map(T => [T, inside(plots.costCurve, energy(s, T).microjoules)])));
    mark(life, "lifeMarker", s.intervalMs, `${milliseconds(s.intervalMs)}: ${charge(result.days)}`);
    mark(cost, "costMarker", s.intervalMs, `${milliseconds(s.intervalMs)}: ${digits(result.microjoules)} µJ`);
    for (const row of document.querySelectorAll("#lifeCurve tbody tr")) {
      const T = Number(row.cells[0].textContent);
      row.cells[1].textContent = digits(energy(s, T).days, 4);
    }
    for (const row of document.querySelectorAll("#costCurve tbody tr")) {
      row.cells[1].textContent = digits(energy(s, Number(row.cells[0].textContent)).microjoules, 4);
    }
  }

  function sentence(s) {
    const now = energy(s, s.intervalMs).days, use = `with ${s.chip.name} sending every ${milliseconds(s.intervalMs)}`;
    if (now > SHELF_LIFE) {
      return `A ${s.battery.name} lasts about ten years, as long as a battery is usable: its charge would be enough for ${charge(now)} ${use}.`;
    }
    const twice = 2 * s.intervalMs <= 10240 ? `; at twice that interval ${days(energy(s, 2 * s.intervalMs).days)}` : "";
    return `A ${s.battery.name} lasts ${days(now)} ${use}${twice}.`;
  }

  return { answer, steps: () => null, sentence };
})();
