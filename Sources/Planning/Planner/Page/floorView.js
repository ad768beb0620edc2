"use strict";

// The drawing of a floor that is being edited: which part of it is shown, and everything on it except the colours.
const floorView = (() => {
  const { digits } = texts;
  const { byId, path, draw } = drawing;
  const { KINDS, items, points, get, listOf, nameOf } = siteFile;

  const ROUND = [1, 2, 5], LEAST_SCALE = 0.02, LARGEST_SCALE = 2000, MARGIN = 28;
  // Pixels for one metre, and the place of the upper left corner in m.
  let scale = 20, left = -1, top = 21, width = 600, height = 400;

  const toScreen = ([x, y]) => [(x - left) * scale, (top - y) * scale];
  const toFloor = ([x, y]) => [left + x / scale, top - y / scale];
  const metres = pixels => pixels / scale;
  const middle = () => toFloor([width / 2, height / 2]);

  function resize() {
    const box = byId("drawing").getBoundingClientRect(), centre = middle();
    ({ width, height } = box);
    left = centre[0] - width / 2 / scale;
    top = centre[1] + height / 2 / scale;
    byId("drawing").setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  function fit(bounds) {
    const { left: west, right: east, bottom: south, top: north } = bounds ?? { left: 0, right: 20, bottom: 0, top: 12 };
    const room = size => Math.max(40, size - 2 * MARGIN);
    scale = Math.min(room(width) / Math.max(1, east - west), room(height) / Math.max(1, north - south));
    scale = Math.min(LARGEST_SCALE, Math.max(LEAST_SCALE, scale));
    left = (west + east) / 2 - width / 2 / scale;
    top = (south + north) / 2 + height / 2 / scale;
  }

  // Enlarges the drawing by a factor around a place in pixels.
  function zoom(factor, [x, y] = [width / 2, height / 2]) {
    const [atX, atY] = toFloor([x, y]);
    scale = Math.min(LARGEST_SCALE, Math.max(LEAST_SCALE, scale * factor));
    left = atX - x / scale;
    top = atY + y / scale;
  }

  function pan(dx, dy) {
    left -= dx / scale;
    top += dy / scale;
  }

  // Moves the drawing so that a place is visible.
  function reveal(point) {
    const [x, y] = toScreen(point), over = (value, size) => Math.min(0, value - MARGIN) + Math.max(0, value - size + MARGIN);
    pan(-over(x, width), -over(y, height));
  }

  // The largest round length in m that takes at most `pixels` pixels.
  function roundLength(pixels) {
    const most = pixels / scale, power = 10 ** Math.floor(Math.log10(most));
    return power * ROUND.filter(part => part * power <= most * (1 + 1e-9)).at(-1);
  }

  function element(name, attributes, text) {
    const result = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) result.setAttribute(key, attributes[key]);
    if (text !== undefined) result.textContent = text;
    return result;
  }

  const line = list => path(list.map(toScreen));
  const circle = (place, radius, style) => {
    const [cx, cy] = toScreen(place);
    return element("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: radius, class: style });
  };
  const square = (place, half, style) => {
    const [x, y] = toScreen(place);
    return element("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, class: style });
  };
  const text = ([x, y], words, style) =>
    element("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "middle", class: `label ${style}` }, words);

  // Draws grid lines at round numbers of metres, each with its number at the edge.
  function drawGrid() {
    const step = roundLength(100), parts = [], names = [];
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const name = value => value.toFixed(decimals).replace(/^-0$/, "0");
    const [right, bottom] = toFloor([width, height]);
    for (let k = Math.ceil(left / step); k * step <= right; k++) {
      const x = toScreen([k * step, 0])[0].toFixed(1);
      parts.push(`M${x} 0V${height}`);
      if (x > 24) names.push(element("text", { x, y: 12, "text-anchor": "middle", class: "tick label" }, name(k * step)));
    }
    for (let k = Math.ceil(bottom / step); k * step <= top; k++) {
      const y = toScreen([0, k * step])[1];
      parts.push(`M0 ${y.toFixed(1)}H${width}`);
      if (y > 24 && y < height - 24) names.push(element("text", { x: 3, y: (y + 4).toFixed(1), class: "tick label" }, name(k * step)));
    }
    draw("gridLines", parts.join(""));
    byId("gridNames").replaceChildren(...names);
  }

  function drawRule() {
    const length = roundLength(120), end = 12 + length * scale, y = height - 12;
    draw("ruleLine", `M12 ${y - 5}V${y + 5}M12 ${y}H${end}M${end} ${y - 5}V${y + 5}`);
    const name = byId("ruleName");
    name.setAttribute("x", String(end + 8));
    name.setAttribute("y", String(y + 5));
    name.textContent = `${digits(length)} m`;
  }

  // Draws the picture. Its position is its lower left corner.
  function drawPicture({ picture }, image) {
    const shown = byId("picture"), isThere = Boolean(picture && image);
    shown.toggleAttribute("hidden", !isThere);
    if (!isThere) return;
    const wide = picture.widthM, high = wide * image.height / image.width, [x, y] = picture.position ?? [0, 0];
    const [atX, atY] = toScreen([x, y + high]);
    if (shown.getAttribute("href") !== image.address) shown.setAttribute("href", image.address);
    for (const [key, value] of Object.entries({ x: atX, y: atY, width: wide * scale, height: high * scale })) {
      shown.setAttribute(key, value.toFixed(2));
    }
  }

  // Widths of walls: a wall with a higher loss is wider, in steps of 5 dB. Like FloorPlanFigure.
  const WIDTHS = [1.5, 2.5, 3.5, 5];
  const strength = loss => Math.floor(Math.min(19, Math.max(0, loss)) / 5);

  // If there are more things, only the selected thing shows its name.
  const NAMED = 120;

  function thing(file, item) {
    const list = points(file, item), closed = list.length > 2 ? `${line(list)}Z` : line(list);
    if (item.kind === "outline") return [element("path", { d: closed, class: "outline" })];
    if (item.kind === "room") return [element("path", { d: closed, class: "room" })];
    if (item.kind === "path") return [element("path", { d: line(list), class: "way" })];
    if (item.kind === "receiver") return [square(list[0], 6, "receiver")];
    if (item.kind === "mount") return [circle(list[0], 3, "mount")];
    return [circle(list[0], 6, "beacon")];
  }

  function drawThings({ file, selected, corner, fleetBeacons }) {
    const below = [], above = [], names = [], rooms = [], circles = [], walls = WIDTHS.map(() => []), all = items(file);
    const hasNames = all.filter(({ kind }) => kind !== "mount").length <= NAMED;
    const name = (place, words, isSure) => { names.push({ text: words, at: toScreen(place), style: "beaconName", isSure }); };
    for (const item of all) {
      if (item.kind === "wall") {
        walls[strength(get(file, item).attenuationDb)].push(line(points(file, item)));
        continue;
      }
      const isPlace = KINDS[item.kind].position && item.kind !== "mount", list = points(file, item);
      (isPlace ? above : below).push(...thing(file, item));
      if (isPlace) circles.push({ at: toScreen(list[0]), radius: 6 });
      if (!hasNames) continue;
      if (item.kind === "room") {
        const xs = list.map(([x]) => x), room = (Math.max(...xs) - Math.min(...xs)) * scale;
        rooms.push({ text: nameOf(file, item), at: toScreen(geometry.centre(list)), style: "roomName", isWithin: true, room });
      } else if (isPlace) name(list[0], nameOf(file, item), false);
    }
    walls.forEach((parts, i) => { below.push(element("path", { d: parts.join(""), class: "wall", "stroke-width": WIDTHS[i] })); });
    for (const beacon of fleetBeacons) {
      above.push(circle(beacon.position, 6, "beacon"));
      circles.push({ at: toScreen(beacon.position), radius: 6 });
      if (hasNames) name(beacon.position, beacon.name, false);
    }
    if (selected) {
      drawSelection(file, selected, corner, above);
      const list = points(file, selected);
      // The name of the selected thing is placed first, and only once.
      if (KINDS[selected.kind].position) {
        const words = nameOf(file, selected), [x, y] = toScreen(list[0]);
        const other = names.findIndex(({ text: own, at }) => own === words && at[0] === x && at[1] === y);
        if (other >= 0) names.splice(other, 1);
        names.unshift({ text: words, at: [x, y], style: "beaconName", isSure: true });
      }
    }
    const shown = labels.arrange([...names, ...rooms], circles).map(({ at, text: words, style }) => text(at, words, style));
    byId("things").replaceChildren(...below, ...above, ...shown);
  }

  function drawSelection(file, selected, corner, parts) {
    const list = points(file, selected), { isRing, position } = KINDS[selected.kind];
    if (position) {
      parts.push(circle(list[0], 11, "selection"));
      return;
    }
    parts.push(element("path", { d: line(list) + (isRing ? "Z" : ""), class: "selection" }));
    list.forEach((place, i) => { parts.push(square(place, i === corner ? 6 : 4, i === corner ? "handle chosen" : "handle")); });
  }

  // The thing that is being drawn: a line through its corners so far to the place of the pointer, and the length of the
  // last side.
  function drawDraft({ draft, tool, cursor, isKeyboard, isOver }) {
    const parts = [], isDrawing = tool !== "select";
    if (draft.length) {
      const isWhole = tool === "scale" && draft.length === 2, list = cursor && !isWhole ? [...draft, cursor] : draft;
      parts.push(element("path", { d: line(list), class: "draft" }));
      for (const place of draft) parts.push(square(place, 4, "handle"));
      const side = list.length > 1 ? geometry.distance(list.at(-2), list.at(-1)) : 0;
      if (side > 0) {
        const [x, y] = toScreen(geometry.centre(list.slice(-2)));
        parts.push(text([x, y - 10], `${side.toFixed(2)} m`, "length"));
      }
    }
    if (cursor && (isKeyboard || isDrawing && isOver)) {
      const [x, y] = toScreen(cursor);
      parts.push(element("path", { d: `M${x - 9} ${y}H${x + 9}M${x} ${y - 9}V${y + 9}`, class: "cross" }));
    }
    byId("draft").replaceChildren(...parts);
  }

  function render(state) {
    byId("field").setAttribute("transform", `matrix(${scale} 0 0 ${-scale} ${-left * scale} ${top * scale})`);
    const { outline } = state.file;
    draw("clip", Array.isArray(outline) && outline.length > 2 ? `${path(outline)}Z` : "M-1e6 -1e6H1e6V1e6H-1e6Z");
    drawPicture(state.file, state.image);
    drawGrid();
    drawThings(state);
    drawDraft(state);
    drawRule();
  }

  // Returns the thing that is at most `pixels` pixels from a place: a corner of the selected thing, a beacon or
  // receiver, a line, or the room around the place.
  function hit({ file, selected }, point, pixels) {
    const reach = metres(pixels);
    const near = (list, most) => {
      let best = null;
      list.forEach((place, i) => {
        const away = geometry.distance(place, point);
        if (away <= most && (!best || away < best.away)) best = { away, i };
      });
      return best;
    };
    if (selected && !KINDS[selected.kind].position) {
      const found = near(points(file, selected), reach);
      if (found) return { item: selected, corner: found.i };
    }
    for (const kind of ["beacon", "receiver", "mount"]) {
      const found = near(listOf(file, kind).map((_, index) => points(file, { kind, index })[0] ?? [Infinity, Infinity]), reach);
      if (found) return { item: { kind, index: found.i } };
    }
    let best = null;
    for (const item of items(file)) {
      const { position, isRing } = KINDS[item.kind];
      if (position) continue;
      const list = points(file, item), ends = isRing ? [...list.slice(1), list[0]] : list.slice(1);
      ends.forEach((end, i) => {
        const away = geometry.nearest(point, list[i], end).distance;
        if (away <= reach && (!best || away < best.away - 1e-9)) best = { item, away, side: i };
      });
    }
    if (best) return best;
    const room = items(file).find(item => item.kind === "room" && geometry.contains(points(file, item), point));
    return room ? { item: room } : null;
  }

  return { toScreen, toFloor, metres, middle, resize, fit, zoom, pan, reveal, render, hit };
})();
