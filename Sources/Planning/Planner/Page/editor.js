"use strict";

// The editor of a floor: tools, pointer, keyboard, undo, and the saving of the file.
(() => {
  const { byId } = drawing;
  const { KINDS, items, points, get, nameOf, listOf } = siteFile;
  const { make } = properties;
  const data = JSON.parse(byId("plan").textContent), schema = JSON.parse(data.schema), order = Object.keys(schema.properties);
  const stage = byId("stage"), isServed = data.saves === "program";
  const target = { detectWithinS: data.detectWithinS, probability: data.probability };

  const UNDO_LIMIT = 1000, MOUSE_REACH = 10, TOUCH_REACH = 22, LISTED = 400;

  const state = {
    file: data.text === null ? { version: 1, name: "floor" } : JSON.parse(data.text), saved: null, past: [], future: [],
    selected: null, corner: null, tool: "select", draft: [], cursor: null, isKeyboard: false, isOver: false,
    loss: data.wallLoss, image: data.picture, fleetBeacons: data.fleetBeacons, fingerprint: data.fingerprint,
    drag: null, held: null,
  };
  state.saved = state.file;
  reception.start({ schema, presets: data.scanners, target });
  properties.start({ schema, materials: data.materials });

  // MARK: What is shown

  function say(text) {
    byId("status").textContent = text;
  }

  const grid = () => Number(byId("grid").value);
  const isEqual = (one, other) => one?.kind === other?.kind && one?.index === other?.index;

  let isFrameRequested = false, firstEvent = 0;

  // Draws again with the next frame. `event` is the pointer movement that caused this.
  function redraw(event) {
    if (event && !firstEvent) firstEvent = event.timeStamp;
    if (isFrameRequested) return;
    isFrameRequested = true;
    requestAnimationFrame(() => {
      isFrameRequested = false;
      const isMoving = Boolean(state.drag?.isMoving || state.held);
      floorView.render(state);
      if (state.colored !== state.file || state.isCoarse !== isMoving) {
        reception.update(state.file, state.fleetBeacons, isMoving);
        state.colored = state.file;
        state.isCoarse = isMoving;
      }
      if (firstEvent && isMoving) {
        const taken = performance.now() - firstEvent;
        stage.dataset.answerMs = String(Math.max(Number(stage.dataset.answerMs ?? 0), taken));
      }
      firstEvent = 0;
    });
  }

  // Updates all parts of the page except the drawing. They change less often than the drawing.
  function refresh() {
    byId("undo").disabled = !state.past.length;
    byId("redo").disabled = !state.future.length;
    const isSaved = state.saved === state.file;
    byId("save").disabled = isServed && isSaved;
    byId("saved").textContent = !isSaved ? "Not saved" : state.fingerprint === "new" ? "New" : "Saved";
    stage.dataset.isSaved = String(isSaved);
    document.title = `${isSaved ? "" : "• "}${state.file.name ?? "floor"} – Pharos`;
    byId("siteName").textContent = state.file.name ?? "floor";
    showProperties();
    showList();
    showProblems(siteFile.problems(state.file).map(({ item, text }) => ({ item, text: `${text[0].toUpperCase()}${text.slice(1)}.` })));
    redraw();
  }

  function showProperties() {
    const focused = document.activeElement?.id, { selected } = state;
    const isThere = selected && points(state.file, selected).length;
    byId("propertiesTitle").textContent = isThere ? title(selected) : "The site";
    const parts = isThere
      ? properties.ofItem(state.file, selected, state.corner, { commit, setCorner: stepCorner, addCorner, removeCorner, removeItem: removeSelected })
      : properties.ofSite(state.file, { commit, order, target });
    byId("properties").replaceChildren(...parts);
    if (focused) byId("properties").querySelector(`#${CSS.escape(focused)}`)?.focus();
  }

  const title = item => {
    const name = nameOf(state.file, item), kind = KINDS[item.kind].name;
    const text = name === `${kind} ${item.index + 1}` || name === kind ? name : `${kind} ${name}`;
    return `${text[0].toUpperCase()}${text.slice(1)}`;
  };

  const number = value => String(Math.round(value * 100) / 100);
  const placeText = ([x, y]) => `${number(x)} m east, ${number(y)} m north`;
  const heightText = ([, , height]) => height === undefined ? "" : `, ${number(height)} m high`;

  function describe(item) {
    const list = points(state.file, item);
    if (KINDS[item.kind].position) return `${title(item)}, ${placeText(list[0])}${heightText(list[0])}`;
    const loss = item.kind === "wall" ? `, ${get(state.file, item).attenuationDb} dB` : "";
    return `${title(item)}${loss}, ${list.length} corners from ${placeText(list[0])}`;
  }

  function showList() {
    const all = items(state.file), list = byId("thingList");
    const rows = all.slice(0, LISTED).map(item => {
      const button = make("button", { type: "button", "aria-pressed": String(isEqual(item, state.selected)) }, describe(item));
      button.addEventListener("click", () => select(item, null));
      return make("li", {}, button);
    });
    if (all.length > LISTED) rows.push(make("li", { class: "hint" }, `and ${all.length - LISTED} more`));
    const fleet = state.fleetBeacons.length;
    if (fleet) rows.push(make("li", { class: "hint" }, `${fleet} beacons of the fleet ${state.file.beacons.fleet}; change them there`));
    if (!rows.length) rows.push(make("li", { class: "hint" }, "Nothing yet: choose a tool and draw."));
    list.replaceChildren(...rows);
    byId("count").textContent = `${all.length}`;
  }

  // Shows problems, each with the thing that has it. Problems from the program name the thing by its path, such as
  // walls[3].attenuationDb.
  function showProblems(list) {
    const rows = list.map(({ item, text }) => {
      if (!item) return make("li", {}, text);
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => select(item, null));
      return make("li", {}, button);
    });
    byId("problems").replaceChildren(...rows);
    byId("problemsCard").hidden = !rows.length;
  }

  function itemAt(path) {
    if (/^outline\b/.test(path)) return { kind: "outline", index: 0 };
    const found = /^(\w+)\[(\d+)\]/.exec(path), kind = Object.keys(KINDS).find(name => KINDS[name].key === found?.[1]);
    return kind ? { kind, index: Number(found[2]) } : null;
  }

  function showPosition(snapped) {
    const place = state.cursor;
    byId("position").textContent = place ? placeText(place) + (snapped ? `, on the ${snapped}` : "") : "";
  }

  // MARK: Changes

  function commit(file, words) {
    if (file === state.file) return;
    state.past.push(state.file);
    if (state.past.length > UNDO_LIMIT) state.past.shift();
    state.future = [];
    state.file = file;
    check();
    refresh();
    if (words) say(words);
  }

  // Clears the selection or the chosen corner if it no longer exists.
  function check() {
    if (!state.selected) return;
    const list = points(state.file, state.selected);
    if (!list.length) state.selected = null;
    if (!list.length || state.corner >= list.length) state.corner = null;
  }

  function undo() {
    if (state.draft.length) { withDraft(state.draft.slice(0, -1)); say("Point removed"); return; }
    if (!state.past.length) { say("Nothing to undo"); return; }
    drop();
    state.future.push(state.file);
    state.file = state.past.pop();
    check();
    refresh();
    say("Undone");
  }

  function redo() {
    if (!state.future.length) { say("Nothing to redo"); return; }
    state.past.push(state.file);
    state.file = state.future.pop();
    check();
    refresh();
    say("Redone");
  }

  function select(item, corner) {
    state.selected = item;
    state.corner = corner ?? null;
    if (item) {
      const list = points(state.file, item), place = list[corner ?? 0];
      if (state.isKeyboard || document.activeElement !== stage) floorView.reveal(place);
      state.cursor = place.slice(0, 2);
      showPosition("");
      say(corner === null || corner === undefined ? `Selected: ${describe(item)}` : `Corner ${corner + 1} of ${list.length}, ${placeText(place)}`);
    }
    refresh();
  }

  function stepItem(step) {
    const all = items(state.file);
    if (!all.length) { say("There is nothing on the floor"); return; }
    const now = all.findIndex(item => isEqual(item, state.selected));
    select(all[(now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step + all.length) % all.length], null);
  }

  function stepCorner(step) {
    if (!state.selected || KINDS[state.selected.kind].position) return;
    const count = points(state.file, state.selected).length, now = state.corner ?? (step > 0 ? -1 : 0);
    select(state.selected, (now + step + count) % count);
  }

  // Adds a corner in the middle of the side after the chosen corner.
  function addCorner() {
    const { selected } = state, list = points(state.file, selected), at = state.corner ?? 0;
    const next = list[at + 1] ?? (KINDS[selected.kind].isRing ? list[0] : null);
    const from = next ? at : at - 1, between = geometry.centre([list[from], list[from + 1] ?? list[0]].map(place => place.slice(0, 2)));
    state.corner = from + 1;
    commit(siteFile.withPoints(state.file, selected, [...list.slice(0, from + 1), between, ...list.slice(from + 1)]), "Corner added");
  }

  function removeCorner() {
    const { selected, corner } = state, list = points(state.file, selected);
    if (list.length <= KINDS[selected.kind].least) { say(`A ${KINDS[selected.kind].name} has at least ${KINDS[selected.kind].least} corners`); return; }
    state.corner = null;
    commit(siteFile.withPoints(state.file, selected, list.filter((_, i) => i !== corner)), "Corner deleted");
  }

  function removeSelected() {
    const { selected } = state;
    if (!selected) return;
    const words = `Deleted: ${title(selected)}`;
    state.selected = state.corner = null;
    commit(siteFile.remove(state.file, selected), words);
  }

  // MARK: Drawing

  function choose(tool) {
    if (state.draft.length) say("The unfinished drawing is removed");
    state.draft = [];
    state.tool = tool;
    byId(`tool-${tool}`).checked = true;
    byId("wallTool").hidden = tool !== "wall";
    byId("scaleTool").hidden = tool !== "scale";
    if (tool === "scale") showScale();
    byId("toolHint").textContent = byId(`tool-${tool}`).dataset.hint;
    redraw();
  }

  const isFleet = () => state.file.beacons !== undefined && !Array.isArray(state.file.beacons);

  function place(point) {
    const { tool, draft } = state, kind = KINDS[tool];
    if (tool === "scale") { measure(point); return; }
    if (kind.position) {
      if (tool === "beacon" && isFleet()) { say(`The beacons come from the fleet ${state.file.beacons.fleet}: change them there`); return; }
      const named = kind.isBare ? {} : { name: siteFile.freeName(state.file, tool) };
      const [file, item] = siteFile.add(state.file, tool, [point], named, order);
      state.selected = item;
      state.corner = null;
      commit(file, `Added: ${tool} at ${placeText(point)}`);
      return;
    }
    const close = (one, other) => geometry.distance(one, other) < 0.005;
    if (draft.length && close(draft.at(-1), point) || kind.isRing && draft.length >= kind.least && close(draft[0], point)) { finish(); return; }
    draft.push(point);
    say(`Point ${draft.length} at ${placeText(point)}`);
    redraw();
  }

  // Sets the ends of a line of known length. After the second end, the field for the length gets the focus.
  function measure(point) {
    if (state.draft.length === 2) state.draft = [];
    if (state.draft.length && geometry.distance(state.draft[0], point) < 0.005) { say("The line has no length: place its other end elsewhere"); return; }
    state.draft.push(point);
    showScale();
    redraw();
    if (state.draft.length < 2) { say(`The line begins at ${placeText(point)}`); return; }
    say("Enter the length of the line");
    const field = byId("scaleLength");
    field.focus();
    field.select();
  }

  function showScale() {
    const [from, to] = state.draft, isDrawn = Boolean(to), drawnLength = isDrawn ? geometry.distance(from, to) : 0;
    const field = properties.field("scaleLength", "Length of the line", isDrawn ? Number(drawnLength.toFixed(2)) : undefined, {
      type: "number", unit: "m", minimum: 0.01, maximum: 100000, take: length => setScale(from, length / drawnLength, length),
    });
    field.querySelector("input").disabled = !isDrawn;
    byId("scaleField").replaceChildren(field);
    byId("scaleChoice").hidden = !state.file.picture;
  }

  function withDraft(list) {
    state.draft = list;
    if (state.tool === "scale") showScale();
    redraw();
  }

  // Scales the floor so that the line has the given length, as one step for undo.
  function setScale(fixed, factor, length) {
    const isPictureOnly = Boolean(state.file.picture) && byId("scalePicture").checked;
    const file = siteFile.scaled(state.file, factor, fixed, isPictureOnly), { minimum, maximum } = properties.declared("picture", "widthM");
    const width = file.picture?.widthM;
    if (width !== undefined && (width < minimum || width > maximum)) {
      say(`The picture would be ${number(width)} m wide: enter another length`);
      return;
    }
    const fleet = state.fleetBeacons.length && !isPictureOnly ? "; the beacons of the fleet stay where they are" : "";
    state.draft = [];
    choose("select");
    commit(file, `Scale set: the line is ${number(length)} m long${width === undefined ? "" : `, and the picture ${number(width)} m wide`}${fleet}`);
    stage.focus({ preventScroll: true });
  }

  function finish() {
    const { tool, draft } = state, kind = KINDS[tool];
    if (tool === "select" || tool === "scale" || !draft.length) return;
    if (draft.length < kind.least) { say(`A ${kind.name} has at least ${kind.least} corners`); return; }
    const named = tool === "room" || tool === "path" ? { name: siteFile.freeName(state.file, tool) } : {};
    const values = tool === "wall" ? { attenuationDb: state.loss } : named;
    const [file, item] = siteFile.add(state.file, tool, draft, values, order);
    state.draft = [];
    state.selected = item;
    state.corner = null;
    commit(file, `Added: ${kind.name} with ${draft.length} corners`);
  }

  function cancel() {
    if (state.held) { release(true); return; }
    if (state.drag?.isMoving) { state.file = state.drag.file; state.drag = null; refresh(); return; }
    if (state.draft.length) { withDraft([]); say("Drawing removed"); return; }
    if (state.tool !== "select") { choose("select"); return; }
    if (state.corner !== null) { state.corner = null; refresh(); return; }
    state.selected = null;
    refresh();
    say("Nothing selected");
  }

  // The place of a pointer, snapped to corners, right angles and the grid. Holding Alt prevents this.
  function snapped(event, options = {}) {
    const raw = pointOf(event);
    if (event.altKey) return { point: geometry.rounded(raw), to: "" };
    const reach = floorView.metres(event.pointerType === "touch" ? TOUCH_REACH : MOUSE_REACH);
    return geometry.snap(raw, {
      points: byId("snapCorners").checked ? options.points ?? [] : [], from: options.from, before: options.before, reach,
      grid: options.isFree ? 0 : grid(), isRight: !options.isFree && byId("snapRight").checked,
    });
  }

  const onMount = ({ point, to }) => ({ point, to: to === "corner" ? "mount" : to });

  // The corners to which a point snaps: the corners of all things except one, and of the thing that is being drawn.
  const corners = except => [
    ...items(state.file).filter(({ kind }) => !KINDS[kind].position).flatMap(item => isEqual(item, except?.item)
      ? points(state.file, item).filter((_, i) => except.corner !== undefined && i !== except.corner) : points(state.file, item)),
    ...state.draft,
  ];

  function pointOf(event) {
    const box = byId("drawing").getBoundingClientRect();
    return floorView.toFloor([event.clientX - box.left, event.clientY - box.top]);
  }

  // The mounts. Beacons and receivers snap to them.
  const mounts = kind => kind === "mount" ? [] : listOf(state.file, "mount");

  const drawn = event => KINDS[state.tool]?.position ? onMount(snapped(event, { points: mounts(state.tool) }))
    // The ends of a known distance are places in the picture, so they do not snap to the grid or right angles.
    : state.tool === "scale" ? snapped(event, { points: corners(null), isFree: true })
    : snapped(event, { points: corners(null), from: state.draft.at(-1), before: state.draft.at(-2) });

  // MARK: Pointer

  const pointers = new Map();
  let pinch = null;

  function pressed(event) {
    if (event.target.closest?.("button")) return;
    stage.focus({ preventScroll: true });
    state.isKeyboard = false;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    event.preventDefault();
    if (pointers.size === 2) {
      if (state.drag?.isMoving) state.file = state.drag.file;
      state.drag = null;
      pinch = spread();
      return;
    }
    if (pointers.size > 2) return;
    const at = [event.clientX, event.clientY], reach = event.pointerType === "touch" ? TOUCH_REACH : MOUSE_REACH;
    state.drag = { at, last: at, start: pointOf(event), file: state.file, isMoving: false, isPan: true };
    if (event.button !== 0 || state.tool !== "select") return;
    const found = floorView.hit(state, pointOf(event), reach);
    if (!found) return;
    Object.assign(state.drag, { isPan: false, item: found.item, corner: found.corner });
    if (!isEqual(found.item, state.selected) || found.corner !== state.corner) select(found.item, found.corner ?? null);
  }

  function spread() {
    const [one, other] = [...pointers.values()].map(event => [event.clientX, event.clientY]), box = byId("drawing").getBoundingClientRect();
    return { length: Math.hypot(one[0] - other[0], one[1] - other[1]), at: [(one[0] + other[0]) / 2 - box.left, (one[1] + other[1]) / 2 - box.top] };
  }

  function moved(event) {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event);
    if (pinch && pointers.size === 2) {
      const now = spread();
      floorView.pan(now.at[0] - pinch.at[0], now.at[1] - pinch.at[1]);
      floorView.zoom(now.length / Math.max(1, pinch.length), now.at);
      pinch = now;
      redraw();
      return;
    }
    const { drag } = state, at = [event.clientX, event.clientY];
    state.isOver = true;
    if (drag) {
      if (!drag.isMoving && Math.hypot(at[0] - drag.at[0], at[1] - drag.at[1]) < 4) return;
      if (drag.isPan) {
        floorView.pan(at[0] - drag.last[0], at[1] - drag.last[1]);
        drag.isPanned = true;
      } else {
        if (!drag.isMoving) delete stage.dataset.answerMs;
        drag.isMoving = true;
        dragTo(event);
      }
      drag.last = at;
      redraw(event);
      return;
    }
    if (state.tool === "select") { state.cursor = geometry.rounded(pointOf(event)); showPosition(""); return; }
    const { point, to } = drawn(event);
    state.cursor = point;
    state.isKeyboard = false;
    showPosition(to);
    redraw();
  }

  function dragTo(event) {
    const { item, corner, start, file } = state.drag, list = points(file, item);
    if (corner !== undefined) {
      const { isRing } = KINDS[item.kind], count = list.length;
      const beside = step => list[isRing ? (corner + step + count) % count : corner + step];
      const from = beside(-1) ?? beside(1), before = beside(-1) ? beside(-2) : beside(2);
      const { point, to } = snapped(event, { points: corners({ item, corner }), from, before });
      state.file = siteFile.withPoints(file, item, list.map((old, i) => i === corner ? [...point, ...old.slice(2)] : old));
      state.cursor = point;
      showPosition(to);
      return;
    }
    // A thing that is moved as a whole keeps its form: only its first corner snaps to the grid.
    const now = pointOf(event), goal = [list[0][0] + now[0] - start[0], list[0][1] + now[1] - start[1]];
    const isPlace = KINDS[item.kind].position && byId("snapCorners").checked, reach = floorView.metres(MOUSE_REACH);
    const first = event.altKey ? { point: geometry.rounded(goal), to: "" }
      : geometry.snap(goal, { points: isPlace ? mounts(item.kind) : [], reach: isPlace ? reach : 0, grid: grid() });
    moveBy(file, item, [first.point[0] - list[0][0], first.point[1] - list[0][1]], undefined);
    showPosition(first.to === "corner" ? "mount" : "");
  }

  function moveBy(file, item, [dx, dy], corner) {
    const list = points(file, item).map((old, i) => corner === undefined || corner === null || i === corner ? [old[0] + dx, old[1] + dy, ...old.slice(2)] : old);
    state.file = siteFile.withPoints(file, item, list);
    state.cursor = points(state.file, item)[corner ?? 0].slice(0, 2);
  }

  function released(event) {
    pointers.delete(event.pointerId);
    if (pinch) { if (pointers.size < 2) pinch = null; state.drag = null; return; }
    const { drag } = state;
    state.drag = null;
    if (!drag) return;
    if (drag.isMoving) { settle(drag.file, "Moved"); return; }
    if (drag.isPanned) { redraw(); return; }
    if (event.button !== 0) return;
    if (state.tool !== "select") { place(drawn(event).point); return; }
    if (!drag.item) { state.selected = state.corner = null; refresh(); }
  }

  // Ends a move that began with the file `before`. The whole move is one step for undo.
  function settle(before, words) {
    const file = state.file;
    state.file = before;
    commit(file, `${words}: ${state.selected ? placeText(points(file, state.selected)[state.corner ?? 0]) : ""}`);
    refresh();
  }

  function wheeled(event) {
    event.preventDefault();
    const box = byId("drawing").getBoundingClientRect();
    floorView.zoom(2 ** (-event.deltaY / (event.deltaMode ? 10 : 400)), [event.clientX - box.left, event.clientY - box.top]);
    redraw();
  }

  // MARK: Keyboard

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const TOOLS = { v: "select", o: "outline", w: "wall", r: "room", b: "beacon", e: "receiver", t: "mount", p: "path", s: "scale" };

  function arrow([dx, dy], event) {
    const step = event.ctrlKey ? 0.01 : (grid() || 0.1) * (event.shiftKey ? 10 : 1);
    state.isKeyboard = true;
    state.cursor ??= geometry.snap(floorView.middle(), { reach: 0, grid: grid() }).point;
    if (state.held) {
      moveBy(state.file, state.held.item, [dx * step, dy * step], state.held.corner);
    } else {
      // The next line of the grid after the cursor.
      const next = (value, sign) => !sign ? value : event.ctrlKey ? value + sign * step
        : sign > 0 ? (Math.floor(value / step + 1e-6) + 1) * step : (Math.ceil(value / step - 1e-6) - 1) * step;
      state.cursor = geometry.rounded([next(state.cursor[0], dx), next(state.cursor[1], dy)]);
    }
    floorView.reveal(state.cursor);
    showPosition("");
    byId("spokenPosition").textContent = placeText(state.cursor);
    redraw();
  }

  // Starts to move the selected thing with the arrow keys. Ends the move if it has already begun.
  function hold() {
    if (state.held) { release(false); return; }
    if (!state.selected) { say("Select something first: N selects the next thing"); return; }
    state.held = { item: state.selected, corner: state.corner, file: state.file };
    say("Arrows move the selected thing; Enter puts it down, Escape puts it back");
    redraw();
  }

  function release(isBack) {
    const { file } = state.held;
    state.held = null;
    if (isBack) { state.file = file; refresh(); say("Put back"); return; }
    settle(file, "Moved");
  }

  // Ends a move with the arrow keys, if there is one.
  function drop() {
    if (state.held) release(false);
  }

  function enter() {
    state.isKeyboard = true;
    state.cursor ??= geometry.snap(floorView.middle(), { reach: 0, grid: grid() }).point;
    if (state.held) { release(false); return; }
    if (state.tool !== "select") { place(state.cursor); return; }
    const found = floorView.hit(state, state.cursor, MOUSE_REACH);
    if (found) select(found.item, found.corner ?? null); else say("There is nothing at the cursor");
  }

  function editFields() {
    byId("properties").querySelector("input, select")?.focus();
  }

  // Handles a key in the drawing. Returns false for a key that the drawing does not use.
  function stageKey(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (ARROWS[key]) { arrow(ARROWS[key], event); return true; }
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (TOOLS[key]) { drop(); choose(TOOLS[key]); say(`Tool: ${TOOLS[key]}`); return true; }
    switch (key) {
      case "Enter": case " ": if (event.shiftKey) finish(); else enter(); return true;
      case "f": finish(); return true;
      case "Escape": cancel(); return true;
      case "n": drop(); stepItem(event.shiftKey ? -1 : 1); return true;
      case ".": case ">": drop(); stepCorner(1); return true;
      case ",": case "<": drop(); stepCorner(-1); return true;
      case "a": if (state.selected && !KINDS[state.selected.kind].position) addCorner(); return true;
      case "m": hold(); return true;
      case "i": editFields(); return true;
      case "Delete": case "Backspace":
        if (state.draft.length) undo(); else if (state.corner !== null) removeCorner(); else removeSelected();
        return true;
      case "+": case "=": floorView.zoom(1.25, state.cursor ? floorView.toScreen(state.cursor) : undefined); redraw(); return true;
      case "-": floorView.zoom(0.8, state.cursor ? floorView.toScreen(state.cursor) : undefined); redraw(); return true;
      case "0": fit(); return true;
      case "?": byId("keys").open = true; byId("keys").querySelector("summary").focus(); return true;
      default: return false;
    }
  }

  // Handles Tab in the properties. After a value has changed, all fields are created again, so the next field is
  // searched afterwards.
  function leaveField(event) {
    if (event.key !== "Tab" || event.ctrlKey || event.altKey) return;
    const { id } = event.target;
    event.target.blur();
    const fields = [...byId("properties").querySelectorAll("input, select, button")], now = fields.findIndex(field => field.id === id);
    const next = fields[now + (event.shiftKey ? -1 : 1)];
    if (now < 0 || !next) { fields[now]?.focus(); return; }
    event.preventDefault();
    next.focus();
    next.select?.();
  }

  // Keys that work everywhere on the page.
  function pageKey(event) {
    const key = event.key.toLowerCase(), isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "radio";
    if (event.ctrlKey || event.metaKey) {
      if (key === "s") { event.target.blur?.(); save(); stage.focus({ preventScroll: true }); return true; }
      if (isField) return false;
      if (key === "z") { if (event.shiftKey) redo(); else undo(); return true; }
      if (key === "y") { redo(); return true; }
    }
    if (event.key === "Escape" && byId("properties").contains(event.target)) { event.target.blur(); stage.focus(); return true; }
    if (event.key === "Escape" && byId("scaleTool").contains(event.target)) { withDraft([]); stage.focus(); say("The scale is unchanged"); return true; }
    return false;
  }

  function fit() {
    const { picture } = state.file, all = siteFile.bounds(state.file), places = all ? [[all.left, all.bottom], [all.right, all.top]] : [];
    for (const { position } of state.fleetBeacons) places.push(position);
    if (picture && state.image) {
      const [x, y] = picture.position ?? [0, 0];
      places.push([x, y], [x + picture.widthM, y + picture.widthM * state.image.height / state.image.width]);
    }
    floorView.fit(siteFile.around(places));
    redraw();
  }

  // MARK: The file

  const MEDIA = { "Content-Type": "application/json" };

  async function save() {
    drop();
    const wrong = siteFile.problems(state.file);
    if (!isServed) {
      if (wrong.length) { say(`Not saved: ${wrong[0].text}`); return; }
      await saveHere();
      return;
    }
    await put(state.fingerprint);
  }

  async function put(fingerprint) {
    const file = state.file;
    byId("conflict").hidden = true;
    let answer = null, body = {};
    try {
      answer = await fetch("file", { method: "PUT", headers: { ...MEDIA, "If-Match": `"${fingerprint}"` }, body: siteFile.text(file) });
      body = await answer.json();
    } catch {
      say("Not saved: pharos does not answer. Save a copy with Download, then start it again.");
      byId("download").hidden = false;
      return;
    }
    const problems = (body.problems ?? []).map(({ path, message, severity }) => ({
      item: itemAt(path), text: `${severity === "warning" ? "Warning: " : ""}${path ? `${path}: ` : ""}${message}`,
    }));
    if (answer.ok) {
      state.fingerprint = body.fingerprint;
      state.saved = file;
      refresh();
      showProblems(problems);
      say(`Saved ${data.fileName}`);
    } else if (answer.status === 412) {
      state.fingerprintOnDisk = body.fingerprint;
      byId("conflict").hidden = false;
      byId("reload").focus();
      say(`Not saved: ${body.message}`);
    } else {
      showProblems(problems.length ? problems : [{ item: null, text: body.message }]);
      say(`Not saved: ${body.message}`);
    }
  }

  let handle = null;

  // Saves on a page without the program: writes the file if the browser allows this, and otherwise downloads it.
  async function saveHere() {
    const text = siteFile.text(state.file), name = `${state.file.name ?? "floor"}.json`;
    try {
      if (!handle && window.showSaveFilePicker) {
        handle = await showSaveFilePicker({ suggestedName: name, types: [{ description: "Site file", accept: { "application/json": [".json"] } }] });
      }
      if (handle) {
        const stream = await handle.createWritable();
        await stream.write(text);
        await stream.close();
        state.saved = state.file;
        refresh();
        say(`Saved ${handle.name}`);
        return;
      }
    } catch (error) {
      if (error.name === "AbortError") { say("Not saved"); return; }
      handle = null;
    }
    download();
  }

  function download() {
    const link = make("a", { download: `${state.file.name ?? "floor"}.json` });
    link.href = URL.createObjectURL(new Blob([siteFile.text(state.file)], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    state.saved = state.file;
    refresh();
    say(`Downloaded ${link.download}`);
  }

  async function openFile() {
    if (!window.showOpenFilePicker) { byId("openFile").click(); return; }
    try {
      const [chosen] = await showOpenFilePicker({ types: [{ description: "Site file", accept: { "application/json": [".json"] } }] });
      if (read(await (await chosen.getFile()).text(), chosen.name)) handle = chosen;
    } catch (error) {
      if (error.name !== "AbortError") byId("openFile").click();
    }
  }

  function read(text, name) {
    let file = null;
    try { file = JSON.parse(text); } catch { say(`${name} is not JSON`); return false; }
    if (file === null || typeof file !== "object" || Array.isArray(file) || file.version !== 1) { say(`${name} is not a site file`); return false; }
    Object.assign(state, { file, saved: file, past: [], future: [], selected: null, corner: null, draft: [], fleetBeacons: [] });
    fit();
    refresh();
    say(file.picture && !state.image ? `Opened ${name}; open its picture ${file.picture.file}, too` : `Opened ${name}`);
    return true;
  }

  function readPicture(chosen) {
    const address = URL.createObjectURL(chosen), picture = new Image();
    picture.onerror = () => { say(`${chosen.name} is not a picture`); };
    picture.onload = () => {
      state.image = { address, width: picture.naturalWidth, height: picture.naturalHeight };
      if (!state.file.picture) commit(siteFile.withKey(state.file, "picture", { file: chosen.name, widthM: 20, position: [0, 0] }, order));
      state.selected = null;
      fit();
      refresh();
      say(`Picture opened, ${number(state.file.picture.widthM)} m wide: set its width under The site`);
    };
    picture.src = address;
  }

  async function close() {
    if (state.saved !== state.file && !confirm("Close without saving?")) return;
    state.saved = state.file;
    try { await fetch("close", { method: "POST" }); } catch { /* pharos has ended already */ }
    document.body.replaceChildren(make("main", {}, make("p", { class: "answer", role: "status" }, "The editor is closed. You can close this page.")));
    document.title = "Closed – Pharos";
  }

  // MARK: Start

  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  byId("save").addEventListener("click", save);
  byId("download").addEventListener("click", download);
  byId("close").addEventListener("click", close);
  byId("reload").addEventListener("click", () => { state.saved = state.file; location.reload(); });
  byId("overwrite").addEventListener("click", () => put(state.fingerprintOnDisk));
  byId("open").addEventListener("click", openFile);
  byId("openPicture").addEventListener("click", () => byId("pictureFile").click());
  byId("openFile").addEventListener("change", async event => {
    const [chosen] = event.target.files;
    if (chosen && read(await chosen.text(), chosen.name)) handle = null;
    event.target.value = "";
  });
  byId("pictureFile").addEventListener("change", event => {
    if (event.target.files[0]) readPicture(event.target.files[0]);
    event.target.value = "";
  });
  byId("finish").addEventListener("click", () => { finish(); stage.focus(); });
  byId("zoomIn").addEventListener("click", () => { floorView.zoom(1.25); redraw(); });
  byId("zoomOut").addEventListener("click", () => { floorView.zoom(0.8); redraw(); });
  byId("fit").addEventListener("click", fit);
  for (const tool of ["select", "scale", ...Object.keys(KINDS)]) byId(`tool-${tool}`).addEventListener("change", () => choose(tool));
  stage.addEventListener("pointerdown", pressed);
  stage.addEventListener("pointermove", moved);
  stage.addEventListener("pointerup", released);
  stage.addEventListener("pointercancel", released);
  stage.addEventListener("pointerleave", () => { state.isOver = false; if (!state.isKeyboard && !state.drag) redraw(); });
  stage.addEventListener("wheel", wheeled, { passive: false });
  stage.addEventListener("keydown", event => { if (stageKey(event)) { event.preventDefault(); event.stopPropagation(); } });
  stage.addEventListener("blur", drop);
  byId("properties").addEventListener("keydown", leaveField);
  addEventListener("keydown", event => { if (pageKey(event)) event.preventDefault(); });
  addEventListener("beforeunload", event => { if (state.saved !== state.file) event.preventDefault(); });
  new ResizeObserver(() => { floorView.resize(); floorView.render(state); }).observe(stage);

  function setLoss(value) {
    state.loss = value;
    byId("wallTool").replaceChildren(...properties.material("newWall", value, setLoss));
  }

  setLoss(state.loss);
  byId("open").hidden = byId("openPicture").hidden = isServed;
  byId("close").hidden = !isServed;
  byId("wholePage").textContent = isServed ? `pharos saves ${data.fileName}.` : "This page is complete and uses no network.";
  floorView.resize();
  fit();
  choose("select");
  refresh();
  showProblems(data.problems.map(({ path, text }) => ({ item: itemAt(path), text })));
  say(data.isNew ? `${data.fileName} does not exist yet: it is created when you save.` : listOf(state.file, "wall").length || state.file.outline ? "Ready" : "Ready: choose a tool and draw.");
  stage.dataset.state = "ready";
})();
