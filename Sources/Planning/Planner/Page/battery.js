"use strict";

// The battery life of a beacon: the controls of an energy page.
const battery = (() => {
  const { clear, energy } = models;
  const { digits, percent, milliseconds } = texts;
  const { show, chart, draw, line, mark } = drawing;

  const days = x => x < 730 ? `${digits(x)} days` : `${digits(x / 365.25)} years`;

  function answer(s, plots) {
    const result = energy(s, s.intervalMs), p = clear(s, s.intervalMs);
    show("lifeDays", result.days, days(result.days));
    show("meanCurrentMicroamperes", result.current, `${digits(result.current)} µA`);
    show("microjoulePerReceived", result.microjoules, p < 1e-9 ? "–" : `${digits(result.microjoules)} µJ`);
    show("collisionFreeProbability", p, percent(p));
    show("eventMicrocoulombs", result.event, `${digits(result.event)} µC`);
    const life = chart(plots.lifeCurve), cost = chart(plots.costCurve);
    draw("lifeLine", line(life, life.values.map(T => [T, energy(s, T).days])));
    draw("costLine", line(cost, cost.values.map(T => [T, energy(s, T).microjoules])));
    mark(life, "lifeMarker", s.intervalMs, `${milliseconds(s.intervalMs)}: ${days(result.days)}`);
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
    const now = energy(s, s.intervalMs).days, twice = energy(s, Math.min(10240, 2 * s.intervalMs)).days;
    return `A ${s.battery.name} lasts ${days(now)} with ${s.chip.name} sending every ${milliseconds(s.intervalMs)}; `
      + `at twice that interval ${days(twice)}.`;
  }

  return { answer, steps: () => null, sentence };
})();
