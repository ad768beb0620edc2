"use strict";

// The numbers, lines and markers that change when a control moves. The geometry of each chart is in the page's data.
const drawing = (() => {
  const { isNumber } = texts;
  const byId = id => document.getElementById(id);

  // The attribute has all digits of the number.
  function show(id, value, text) {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
    if (isNumber(value)) element.dataset.value = String(value); else delete element.dataset.value;
  }

  const axis = ({ low, high, start, end, isLogarithmic }) => value => {
    const bounded = Math.min(high, Math.max(low, value));
    const part = isLogarithmic ? Math.log(bounded / low) / Math.log(high / low) : (bounded - low) / (high - low);
    return start + (end - start) * part;
  };

  // Places on one chart of the page.
  function chart({ x, y, samples }) {
    const across = axis(x), up = axis(y);
    const at = i => x.isLogarithmic ? x.low * (x.high / x.low) ** (i / (samples - 1))
      : x.low + (x.high - x.low) * i / (samples - 1);
    return { across, up, left: x.start, right: x.end, bottom: y.start, values: Array.from({ length: samples }, (_, i) => at(i)) };
  }

  const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  const draw = (id, line) => byId(id).setAttribute("d", line);

  // A line through values of one chart, which is interrupted if there is no number.
  function line(plot, values) {
    let isDown = false;
    return values.map(([x, y]) => {
      if (!isNumber(y)) { isDown = false; return ""; }
      const step = `${isDown ? "L" : "M"}${plot.across(x).toFixed(2)} ${plot.up(y).toFixed(2)}`;
      isDown = true;
      return step;
    }).join("");
  }

  // A vertical line, and its name on the side with more room.
  function mark(plot, id, value, text) {
    const rule = byId(id), name = byId(`${id}Name`), isThere = isNumber(value), x = isThere ? plot.across(value) : -100;
    const isLeft = x > (plot.left + plot.right) / 2;
    rule.setAttribute("x1", x.toFixed(2));
    rule.setAttribute("x2", x.toFixed(2));
    name.setAttribute("x", (isThere ? x + (isLeft ? -6 : 6) : x).toFixed(2));
    name.setAttribute("text-anchor", isLeft ? "end" : "start");
    name.textContent = isThere ? text : "";
  }

  return { byId, show, chart, path, draw, line, mark };
})();
