"use strict";

// The colours of a floor that is being edited: how likely a beacon is found at each place, computed again whenever
// something moves. During a move, the places are farther apart, so that the colours change at once.
const reception = (() => {
  const { digits, percent, duration, sentence } = texts;
  const { byId, draw } = drawing;
  const { listOf, points, bounds } = siteFile;

  // FINE is the number of places while nothing moves, COARSE the numbers while something moves: a smaller number is
  // used if the computation takes longer than BUDGET. SLICE is the time for one part of a long computation. Times in
  // ms.
  const FINE = 2000, COARSE = [700, 400, 200, 100], BUDGET = 20, SLICE = 12;
  const KEYS = ["pathLoss", "receiverSensitivityDbm", "backgroundLoad", "scanner", "scanners", "target", "defaults"];

  let plan = null, air = null, before = {}, times = null, beacons = new WeakMap(), walls = new WeakMap(), isWorking = false;
  let coarse = 0, lastFile = null;
  const grids = {}, receivers = { fine: field.receiver(), coarse: field.receiver() };

  function airOf(file) {
    if (!air || KEYS.some(key => before[key] !== file[key])) {
      before = file;
      air = field.airOf(file, plan);
      times = field.detection(air);
      beacons = new WeakMap();
    }
    return air;
  }

  function kept(map, key, make) {
    if (!map.has(key)) map.set(key, make(key));
    return map.get(key);
  }

  // The straight parts of a wall with their losses; none for a wall without a loss.
  function segments(file, index) {
    const item = { kind: "wall", index };
    return kept(walls, listOf(file, "wall")[index], ({ attenuationDb }) => {
      const list = points(file, item);
      return attenuationDb > 0 ? list.slice(1).map((end, i) => [list[i][0], list[i][1], end[0], end[1], attenuationDb]) : [];
    });
  }

  // The places of a grid. Places just outside the outline are drawn but not counted. The places do not change while
  // something moves.
  function gridOf(file, isMoving) {
    const name = isMoving ? "coarse" : "fine", old = grids[name], limit = isMoving ? COARSE[coarse] : FINE;
    if (old && isMoving && old.limit === limit && !old.isReplaced) return old;
    const box = bounds(file, true);
    if (!box) return null;
    const key = JSON.stringify([box, limit]);
    if (old?.key === key && old.outline === file.outline) return old;
    const { places, spacing, columns } = field.grid(box, rectangleLimit(file, box, limit));
    const ring = Array.isArray(file.outline) ? points(file, { kind: "outline", index: 0 }) : [];
    const inside = places.map(place => !ring.length || geometry.contains(ring, place)), indices = new Map(), used = [];
    places.forEach((_, i) => {
      const around = [-columns - 1, -columns, -columns + 1, -1, 0, 1, columns - 1, columns, columns + 1];
      if (!around.some(step => inside[i + step])) return;
      indices.set(i, used.length);
      used.push(i);
    });
    const half = spacing / 2 + spacing / 100, short = value => Number(value.toFixed(3));
    const grid = {
      key, limit, outline: file.outline, spacing, places: used.map(i => places[i]), counts: used.map(i => inside[i]),
      pieces: used.map((i, k) => [short(places[i][0] - half), short(places[i][1] - half), short(2 * half), short(2 * half), k]),
      squares: used.map(i => [i, i + 1, i + columns + 1, i + columns])
        .filter(corners => (corners[0] + 1) % columns && corners.every(i => indices.has(i))).map(corners => corners.map(i => indices.get(i))),
    };
    grids[name] = grid;
    return grid;
  }

  // The number of places in the whole rectangle, of which about `limit` are inside the outline. Like
  // SiteQuestion.swift.
  function rectangleLimit(file, { left, right, bottom, top }, limit) {
    const ring = Array.isArray(file.outline) ? points(file, { kind: "outline", index: 0 }) : [];
    const share = ring.length > 2 ? (right - left) * (top - bottom) / Math.max(geometry.area(ring), 1e-6) : 1;
    return Math.min(limit * Math.max(1, share), 4 * limit);
  }

  // For each place, the share of cases in which a beacon is found in time: null if no beacon is received, undefined if
  // the share is not known yet.
  function shares(file, fleetBeacons, isMoving) {
    const grid = gridOf(file, isMoving);
    if (!grid) return null;
    const present = airOf(file), make = beacon => field.beaconOf(beacon, present.defaults);
    const known = [...listOf(file, "beacon").filter((_, index) => points(file, { kind: "beacon", index }).length), ...fleetBeacons];
    const floor = {
      air: present, places: grid.places, beacons: known.map(beacon => kept(beacons, beacon, make)),
      walls: listOf(file, "wall").map((_, index) => segments(file, index)).filter(parts => parts.length),
    };
    const receiver = receivers[isMoving ? "coarse" : "fine"], count = present.target.beacons ?? 1;
    if (count > 1) return { grid, found: receiver.receiveSeveral(floor, count, times.share) };
    const inTime = one => {
      const share = times.share(one.beacon, one.clear);
      return share === null ? undefined : one.audible * share;
    };
    return { grid, found: receiver.receive(floor).map(one => one && inTime(one)) };
  }

  function paint({ grid, found }, isMoving) {
    if (found.includes(undefined)) return;
    const { detectWithinS, probability, beacons: wanted = 1 } = air.target, counted = found.filter((_, i) => grid.counts[i]);
    const ends = site.bounds(found.filter(value => value !== null), probability);
    ends.target = probability;
    site.drawCells(grid, found, ends);
    site.drawContour(grid, found, probability);
    draw("silent", grid.pieces.filter(piece => found[piece[4]] === null).map(([x, y, w, h]) => `M${x} ${y}h${w}v${h}h-${w}z`).join(""));
    byId("legendSilent").hidden = !found.includes(null);
    const share = counted.length ? site.reached(counted, probability) : 0;
    byId("reached").dataset.value = String(share);
    byId("reached").textContent = sentence(`At ${percent(share)} of the places a receiver finds ${wanted > 1 ? `${wanted} beacons, each` : "a beacon"} within ${duration(detectWithinS)} in `
      + `${percent(probability)} of the cases.`);
    byId("spacing").textContent = sentence(isMoving
      ? `Coarser while something moves: places ${digits(grid.spacing)} m apart.` : `Computed at ${counted.length} places, ${digits(grid.spacing)} m apart.`);
  }

  function clear() {
    for (let i = 0; i < 8; i++) draw(`shade${i}`, "");
    draw("silent", "");
    draw("contour", "");
    byId("reached").textContent = "Draw an outline and a beacon to see what is received.";
    delete byId("reached").dataset.value;
    byId("spacing").textContent = "";
  }

  // Colours the floor of a file. Returns the time in ms that it took.
  function update(file, fleetBeacons, isMoving) {
    const start = performance.now();
    lastFile = [file, fleetBeacons];
    const hasBeacons = listOf(file, "beacon").length + fleetBeacons.length > 0, result = hasBeacons ? shares(file, fleetBeacons, isMoving) : null;
    if (result) paint(result, isMoving); else clear();
    byId("receptionCard").setAttribute("aria-busy", String(Boolean(result && !times.isComplete())));
    const taken = performance.now() - start;
    if (isMoving && taken > BUDGET && coarse < COARSE.length - 1) {
      coarse++;
      if (grids.coarse) grids.coarse.isReplaced = true;
    }
    if (result && !isMoving) {
      if (!times.isComplete()) proceed();
      // The values that a move will need are computed before the move begins.
      if (grids.coarse) grids.coarse.isReplaced = true;
      setTimeout(() => { if (lastFile[0] === file) shares(file, fleetBeacons, true); }, 0);
    }
    return taken;
  }

  // Computes missing times between frames, and then colours the floor again.
  function proceed() {
    if (isWorking) return;
    isWorking = true;
    const timesAtStart = times, steps = times.work();
    if (!byId("reached").dataset.value) byId("reached").textContent = "Computing…";
    const slice = () => {
      if (timesAtStart !== times) { isWorking = false; update(...lastFile, false); return; }
      const until = performance.now() + SLICE;
      let isDone = false;
      while (!isDone && performance.now() < until) isDone = Boolean(steps.next().done);
      if (!isDone) { setTimeout(slice, 0); return; }
      isWorking = false;
      update(...lastFile, false);
    };
    setTimeout(slice, 0);
  }

  return { start: data => { plan = data; }, update };
})();
