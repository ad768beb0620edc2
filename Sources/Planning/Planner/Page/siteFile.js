"use strict";

// A site file as the value of its JSON. Values are immutable: a change makes a new value that shares all unchanged
// parts with the old value, so undo restores the old value. Keys that the editor does not know are kept.
const siteFile = (() => {
  const { rounded } = geometry;

  // The kinds of things on a floor: the key of their list, and the key of their points or of their position. A bare
  // thing is a position, not an object.
  const KINDS = {
    outline: { key: "outline", name: "outline", isRing: true, least: 3 },
    wall: { key: "walls", name: "wall", points: "points", least: 2 },
    room: { key: "rooms", name: "room", points: "outline", isRing: true, least: 3 },
    beacon: { key: "beacons", name: "beacon", position: "position" },
    receiver: { key: "receivers", name: "receiver", position: "position" },
    mount: { key: "mounts", name: "mount", position: "position", isBare: true },
    path: { key: "paths", name: "path", points: "points", least: 2 },
  };

  // The text in the style of the program: two spaces for each level; lists of plain values in one line.
  function pretty(value, level = 0) {
    const indent = `\n${"  ".repeat(level + 1)}`, end = `\n${"  ".repeat(level)}`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    if (Array.isArray(value)) {
      const parts = value.map(element => pretty(element, level + 1));
      if (value.every(element => element === null || typeof element !== "object")) return `[${parts.join(", ")}]`;
      return `[${indent}${parts.join(`,${indent}`)}${end}]`;
    }
    const parts = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${pretty(member, level + 1)}`);
    return parts.length ? `{${indent}${parts.join(`,${indent}`)}${end}}` : "{}";
  }
  const text = file => `${pretty(file)}\n`;

  // The object with a value for a key. If the value is undefined, the key is removed. A new key is inserted in the
  // order of `order`.
  function withKey(object, key, value, order = []) {
    const result = {}, rank = order.indexOf(key);
    let isWritten = value === undefined;
    for (const [name, old] of Object.entries(object)) {
      if (!isWritten && !(key in object) && rank >= 0 && order.indexOf(name) > rank) {
        result[key] = value;
        isWritten = true;
      }
      if (name !== key) result[name] = old;
      else if (value !== undefined) {
        result[key] = value;
        isWritten = true;
      }
    }
    if (!isWritten) result[key] = value;
    return result;
  }

  const isPoint = point => Array.isArray(point) && point.length >= 2 && point.every(value => typeof value === "number");
  // The list of the things of a kind; empty if the file has no list, or if a fleet contains the beacons.
  const listOf = (file, kind) => Array.isArray(file[KINDS[kind].key]) ? file[KINDS[kind].key] : [];
  const get = (file, { kind, index }) => kind === "outline" ? file.outline : listOf(file, kind)[index];

  // All things of a floor, in the order of the file.
  function items(file) {
    const result = [];
    for (const kind in KINDS) {
      if (kind !== "outline") listOf(file, kind).forEach((_, index) => { result.push({ kind, index }); });
      else if (Array.isArray(file.outline)) result.push({ kind, index: 0 });
    }
    return result.filter(item => points(file, item).length > 0);
  }

  // The corners of a thing, or its one position. If a ring repeats its first corner at the end, the repetition is left
  // out.
  function points(file, item) {
    const value = get(file, item), { position, points: key, isRing, isBare } = KINDS[item.kind];
    if (!value) return [];
    if (isBare) return isPoint(value) ? [value] : [];
    if (position) return isPoint(value[position]) ? [value[position]] : [];
    const list = item.kind === "outline" ? value : value[key] ?? [value.from, value.to];
    if (!Array.isArray(list) || !list.every(isPoint)) return [];
    const [first, last] = [list[0], list[list.length - 1]];
    return isRing && list.length > 3 && first[0] === last[0] && first[1] === last[1] ? list.slice(0, -1) : list;
  }

  // A point that has moved keeps its height.
  const placed = (point, old) => [...rounded(point.slice(0, 2)), ...(old ?? []).slice(2)];

  function withPoints(file, item, list) {
    const old = points(file, item), value = get(file, item), { position, points: key, isBare } = KINDS[item.kind];
    const moved = list.map((point, i) => list.length === old.length && point === old[i] ? point : placed(point, list.length === old.length ? old[i] : null));
    if (item.kind === "outline") return { ...file, outline: moved };
    if (position) return withItem(file, item, isBare ? moved[0] : { ...value, [position]: moved[0] });
    if (item.kind === "wall" && !value.points) {
      if (moved.length === 2) return withItem(file, item, { ...value, from: moved[0], to: moved[1] });
      const { from, to, ...rest } = value;
      return withItem(file, item, { points: moved, ...rest });
    }
    return withItem(file, item, { ...value, [key]: moved });
  }

  function withItem(file, { kind, index }, value) {
    return { ...file, [KINDS[kind].key]: listOf(file, kind).map((old, i) => i === index ? value : old) };
  }

  // The file with a thing at a whole position: east, north, and its height above the floor if that is known.
  function withPosition(file, item, place) {
    const { position, isBare } = KINDS[item.kind];
    return withItem(file, item, isBare ? place : { ...get(file, item), [position]: place });
  }

  // The index of the mount at the position of a thing; -1 if there is no mount.
  function mountOf(file, item) {
    const [place] = points(file, item);
    return listOf(file, "mount").findIndex(mount => isPoint(mount) && mount[0] === place[0] && mount[1] === place[1]);
  }

  // The file with all distances on the floor multiplied by a factor around the place `fixed`. Heights do not change.
  // With `isPictureOnly` only the picture changes.
  function scaled(file, factor, fixed, isPictureOnly) {
    const moved = place => [...rounded([0, 1].map(axis => fixed[axis] + (place[axis] - fixed[axis]) * factor)), ...place.slice(2)];
    const all = value => isPoint(value) ? moved(value) : Array.isArray(value) ? value.map(all) : value;
    const result = { ...file };
    if (file.picture) {
      const { widthM, position = [0, 0] } = file.picture;
      result.picture = { ...file.picture, widthM: Math.round(widthM * factor * 1000) / 1000, position: moved(position) };
    }
    if (isPictureOnly) return result;
    for (const { key, position, points: name, isBare } of Object.values(KINDS)) {
      if (!Array.isArray(file[key])) continue;
      if (isBare || key === "outline") { result[key] = all(file[key]); continue; }
      const places = position ? [position] : [name, "from", "to"];
      result[key] = file[key].map(value => Object.fromEntries(Object.entries(value).map(([each, own]) => [each, places.includes(each) ? all(own) : own])));
    }
    return result;
  }

  // Returns the file with an additional thing, and this thing. A new outline replaces the old one.
  function add(file, kind, list, values, order) {
    const { key, position, points: name, isBare } = KINDS[kind], corners = list.map(point => rounded(point));
    if (kind === "outline") return [withKey(file, key, corners, order), { kind, index: 0 }];
    const place = position ? { [position]: corners[0] }
      : kind === "wall" && corners.length === 2 ? { from: corners[0], to: corners[1] } : { [name]: corners };
    const { name: called, ...rest } = values, value = { ...(called === undefined ? {} : { name: called }), ...place, ...rest };
    const all = [...listOf(file, kind), isBare ? corners[0] : value];
    return [withKey(file, key, all, order), { kind, index: all.length - 1 }];
  }

  // A list that would be empty is left out, because the format has no empty lists.
  function remove(file, { kind, index }) {
    const rest = kind === "outline" ? [] : listOf(file, kind).filter((_, i) => i !== index);
    return withKey(file, KINDS[kind].key, rest.length ? rest : undefined);
  }

  // A thing with a value for one of its keys; undefined removes the key.
  function change(file, item, key, value, order) {
    return withItem(file, item, withKey(get(file, item), key, value, order));
  }

  // The first free name: beacon-1, beacon-2 and so on.
  function freeName(file, kind) {
    const taken = new Set(listOf(file, kind).map((value, i) => value.name ?? `${kind}-${i + 1}`));
    let number = listOf(file, kind).length + 1;
    while (taken.has(`${kind}-${number}`)) number++;
    return `${kind}-${number}`;
  }

  const nameOf = (file, item) => item.kind === "outline" ? "outline"
    : get(file, item)?.name ?? `${KINDS[item.kind].name} ${item.index + 1}`;

  // The errors of places and names that the program would report: for each, a sentence and the thing.
  function problems(file) {
    const result = [];
    for (const kind of ["beacon", "receiver"]) {
      const names = new Map();
      listOf(file, kind).forEach((value, index) => {
        const name = value.name ?? `${kind}-${index + 1}`;
        if (names.has(name)) result.push({ item: { kind, index }, text: `two ${kind}s have the name ${name}` });
        names.set(name, index);
      });
    }
    for (const item of items(file)) {
      const { isRing } = KINDS[item.kind], fault = isRing ? geometry.fault(points(file, item)) : "";
      if (fault) result.push({ item, text: `${item.kind === "outline" ? "the outline" : `the room ${nameOf(file, item)}`}: ${fault}` });
    }
    return result;
  }

  // The rectangle around all things; null for an empty floor. With `isFloor`, the rectangle for which the planner
  // computes the reception.
  function bounds(file, isFloor = false) {
    const kinds = isFloor ? (file.outline ? ["outline"] : ["wall", "beacon", "path", "mount"]) : Object.keys(KINDS);
    const all = items(file).filter(({ kind }) => kinds.includes(kind)).flatMap(item => points(file, item));
    return around(all);
  }

  function around(all) {
    if (!all.length) return null;
    const xs = all.map(([x]) => x), ys = all.map(([, y]) => y), most = (list, better) => list.reduce((a, b) => better(a, b));
    return { left: most(xs, Math.min), right: most(xs, Math.max), bottom: most(ys, Math.min), top: most(ys, Math.max) };
  }

  return { KINDS, text, withKey, listOf, get, items, points, withPoints, withItem, withPosition, mountOf, scaled, add, remove, change, freeName, nameOf, problems, bounds, around };
})();
