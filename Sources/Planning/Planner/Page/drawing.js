"use strict";

// The numbers, lines and markers that change when a control moves. The geometry of each chart is in the page's data.
const drawing = (() => {
  const { isNumber } = texts;
  const byId = id => document.getElementById(id);

  // Shows a number, and stores all its digits in an attribute. With the settings of the program's question, the
  // program's text is kept: the page computes with coarser steps, so its number could differ.
  function show(id, value, computed) {
    const element = byId(id);
    element.dataset.own ??= element.textContent;
    const text = byId("controls").dataset.isOwn === "true" && element.dataset.own || computed;
    if (element.textContent !== text) element.textContent = text;
    if (isNumber(value)) element.dataset.value = String(value); else delete element.dataset.value;
  }

  // Shows that a number is still being computed, or the text of the program if it is known.
  function wait(element) {
    element.dataset.own ??= element.textContent;
    if (byId("controls").dataset.isOwn !== "true" || !element.dataset.own) element.textContent = "computing…";
  }

  const axis = ({ low, high, start, end, isLogarithmic }) => value => {
    const bounded = Math.min(high, Math.max(low, value));
    const part = isLogarithmic ? Math.log(bounded / low) / Math.log(high / low) : (bounded - low) / (high - low);
    return start + (end - start) * part;
  };

  // The conversion from values to positions on one chart of the page.
  function chart({ x, y, samples }) {
    const across = axis(x), up = axis(y);
    const at = i => x.isLogarithmic ? x.low * (x.high / x.low) ** (i / (samples - 1))
      : x.low + (x.high - x.low) * i / (samples - 1);
    return { across, up, left: x.start, right: x.end, bottom: y.start, values: Array.from({ length: samples }, (_, i) => at(i)) };
  }

  const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  const draw = (id, line) => byId(id).setAttribute("d", line);

  // A line through the values of one chart. The line is interrupted where a value is not a number.
  function line(plot, values) {
    let isDown = false;
    return values.map(([x, y]) => {
      if (!isNumber(y)) { isDown = false; return ""; }
      const step = `${isDown ? "L" : "M"}${plot.across(x).toFixed(2)} ${plot.up(y).toFixed(2)}`;
      isDown = true;
      return step;
    }).join("");
  }

  // Draws a vertical line at a value, and its name on the side with more room.
  function mark(plot, id, value, text) {
    const rule = byId(id), name = byId(`${id}Name`), isThere = isNumber(value), x = isThere ? plot.across(value) : -100;
    const isLeft = x > (plot.left + plot.right) / 2;
    rule.setAttribute("x1", x.toFixed(2));
    rule.setAttribute("x2", x.toFixed(2));
    name.setAttribute("x", (isThere ? x + (isLeft ? -6 : 6) : x).toFixed(2));
    name.setAttribute("text-anchor", isLeft ? "end" : "start");
    name.textContent = isThere ? text : "";
  }

  // The width of a letter on a phone and the distance of a name from its line; the first row of names, and the height
  // of a row.
  const LETTER = 12.5, DISTANCE = 6, FIRST_ROW = 20, ROW = 22;

  // Returns the markers in the order of their rows, each with the side of its name. Each name is next to its line, and
  // no other line crosses the name. MarkerLayout in PlotArea.swift does the same.
  function places(markers, width) {
    const widthOf = ({ text }) => text.length * LETTER + DISTANCE;
    const order = [...markers].sort((a, b) => a.x - b.x), left = [];
    let limit = width;
    for (const marker of [...order].reverse()) {
      if (marker.x + widthOf(marker) <= limit || marker.x - widthOf(marker) < 0) continue;
      left.push(marker);
      limit = Math.min(limit, marker.x);
    }
    return [...left, ...order.filter(marker => !left.includes(marker))].map(marker => ({ ...marker, isLeft: left.includes(marker) }));
  }

  // Draws several vertical lines with their names. `list` has the id, the value and the text of each line.
  function marks(plot, list) {
    const known = list.map(([id, value, text]) => ({ id, text, x: isNumber(value) ? plot.across(value) : NaN }));
    for (const { id, x } of known) if (!isNumber(x)) mark(plot, id, null, "");
    places(known.filter(({ x }) => isNumber(x)), plot.right + 14).forEach(({ id, text, x, isLeft }, row) => {
      const rule = byId(id), name = byId(`${id}Name`), y = FIRST_ROW + row * ROW;
      rule.setAttribute("x1", x.toFixed(2));
      rule.setAttribute("x2", x.toFixed(2));
      rule.setAttribute("y1", String(y - 12));
      name.setAttribute("x", (x + (isLeft ? -DISTANCE : DISTANCE)).toFixed(2));
      name.setAttribute("y", String(y));
      name.setAttribute("text-anchor", isLeft ? "end" : "start");
      name.textContent = text;
    });
  }

  // Writes the labels of the axis below a chart, except labels that would touch the previous label.
  function writeTicks(id, plot, values, textOf) {
    const parts = [];
    let free = 0;
    const add = (name, attributes, text) => {
      const element = document.createElementNS(byId(id).namespaceURI, name);
      for (const key in attributes) element.setAttribute(key, attributes[key]);
      if (text) element.textContent = text;
      parts.push(element);
    };
    for (const value of values) {
      const x = plot.across(value), text = textOf(value), half = text.length * 6.4 + 4;
      add("line", { class: "axis", x1: x.toFixed(2), x2: x.toFixed(2), y1: plot.bottom, y2: plot.bottom + 5 });
      const place = Math.min(x, plot.right + 14 - half);
      if (place - half < free) continue;
      add("text", { class: "tick", x: place.toFixed(2), y: plot.bottom + 27, "text-anchor": "middle" }, text);
      free = place + half;
    }
    byId(id).replaceChildren(...parts);
  }

  return { byId, show, wait, chart, path, draw, line, mark, marks, places, writeTicks };
})();
