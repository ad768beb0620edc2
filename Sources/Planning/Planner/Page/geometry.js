"use strict";

// Places on a floor, in metres: distances, crossings, and the snapping of new points.
const geometry = (() => {
  const distance = ([ax, ay], [bx, by]) => Math.hypot(bx - ax, by - ay);

  // The place on the line from a to b that is nearest to p, its distance from p, and its share of the way from a to b.
  function nearest(p, a, b) {
    const dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
    const share = length ? Math.min(1, Math.max(0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length)) : 0;
    const place = [a[0] + share * dx, a[1] + share * dy];
    return { place, distance: distance(p, place), share };
  }

  // True if the line from a to b meets the line from c to d. A meeting point at a counts, a meeting point at b does
  // not. So if two joined lines touch a wall at their common corner, it is met once. Like FloorSegment.meeting in
  // FloorOutline.swift.
  function meets(ax, ay, bx, by, cx, cy, dx, dy) {
    const ux = bx - ax, uy = by - ay, vx = dx - cx, vy = dy - cy, cross = ux * vy - uy * vx;
    if (cross === 0) return false;
    const wx = cx - ax, wy = cy - ay, share = (wx * vy - wy * vx) / cross, other = (wx * uy - wy * ux) / cross;
    return share >= 0 && share < 1 && other >= 0 && other <= 1;
  }

  // The sides of a ring, from each corner to the next.
  const sides = ring => ring.map((corner, i) => [corner, ring[(i + 1) % ring.length]]);
  const area = ring => Math.abs(sides(ring).reduce((sum, [[ax, ay], [bx, by]]) => sum + ax * by - bx * ay, 0)) / 2;
  const length = line => line.slice(1).reduce((sum, corner, i) => sum + distance(line[i], corner), 0);

  function contains(ring, [x, y]) {
    let isInside = false;
    for (const [[ax, ay], [bx, by]] of sides(ring)) {
      if ((ay > y) !== (by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax)) isInside = !isInside;
    }
    return isInside;
  }

  // The fault of a ring as text; "" for a valid ring. Like FloorOutline.swift.
  function fault(ring) {
    if (ring.length < 3) return "it needs at least three corners";
    const all = sides(ring);
    for (let i = 0; i < all.length; i++) {
      for (let k = i + 1; k < all.length; k++) {
        if (k === i + 1 || (i === 0 && k === all.length - 1)) continue;
        if (meets(...all[i][0], ...all[i][1], ...all[k][0], ...all[k][1])) {
          return `its sides after corner ${i + 1} and after corner ${k + 1} cross or touch`;
        }
      }
    }
    return area(ring) > 1e-6 ? "" : "its corners lie on one line";
  }

  const centre = points => [0, 1].map(axis => points.reduce((sum, point) => sum + point[axis], 0) / points.length);

  // Positions are rounded to centimetres.
  const rounded = point => point.map(value => Math.round(value * 100) / 100 + 0);
  const onGrid = (value, grid) => grid ? Math.round(value / grid) * grid : value;

  // A point, snapped to corners, to right angles with the lines that lead to it, and to the grid.
  //  points: corners to snap to. from: the previous point, from which a line leads here.
  //  before: the point before `from`. reach: the distance in m within which a point attracts. grid: in m; 0 for none.
  function snap(point, { points = [], from = null, before = null, reach, grid, isRight }) {
    let best = null;
    for (const corner of points) {
      const away = distance(point, corner);
      if (away <= reach && (!best || away < best.away)) best = { away, corner };
    }
    if (best) return { point: best.corner.slice(0, 2), to: "corner" };
    if (isRight && from) {
      const directions = [[1, 0], [0, 1]];
      const last = before ? distance(before, from) : 0;
      if (last > 0) {
        const along = [(from[0] - before[0]) / last, (from[1] - before[1]) / last];
        if (Math.abs(along[0] * along[1]) > 1e-6) directions.push(along, [-along[1], along[0]]);
      }
      const aligned = directions.map(([ux, uy]) => {
        const dx = point[0] - from[0], dy = point[1] - from[1], run = dx * ux + dy * uy;
        return { ux, uy, run, off: Math.abs(dx * uy - dy * ux) };
      }).filter(({ off, run }) => off <= reach && Math.abs(run) > off).sort((a, b) => a.off - b.off)[0];
      if (aligned) {
        const { ux, uy, run } = aligned;
        // On a line along an axis, the coordinate along the line is put on the grid. On a slanted line, the length
        // becomes a multiple of the grid.
        if (uy === 0) return { point: rounded([onGrid(point[0], grid), from[1]]), to: "right angle" };
        if (ux === 0) return { point: rounded([from[0], onGrid(point[1], grid)]), to: "right angle" };
        const whole = onGrid(run, grid);
        return { point: rounded([from[0] + whole * ux, from[1] + whole * uy]), to: "right angle" };
      }
    }
    return { point: rounded(point.map(value => onGrid(value, grid))), to: grid ? "grid" : "" };
  }

  return { distance, nearest, meets, area, length, contains, fault, centre, rounded, snap };
})();
