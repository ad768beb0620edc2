"use strict";

// The fields of the selected thing, or of the site if nothing is selected. Their ranges come from the file's format.
const properties = (() => {
  const { digits } = texts;
  const { KINDS, get, points, change, withKey, withItem, withPosition, mountOf, listOf, nameOf } = siteFile;

  let schema = null, materials = [];

  // The declaration of a key of a thing or of an object of the site in the file's format.
  function declared(kind, key) {
    const whole = name => schema.properties[name], list = whole(KINDS[kind]?.key ?? kind);
    const resolve = node => node?.$ref ? { ...schema.$defs[node.$ref.split("/").at(-1)], ...node } : node;
    const element = list?.items ?? list?.anyOf?.find(({ items }) => items)?.items ?? list;
    return resolve(resolve(element)?.properties?.[key]) ?? {};
  }

  function make(name, attributes = {}, ...children) {
    const result = document.createElement(name);
    for (const key in attributes) if (attributes[key] !== undefined) result.setAttribute(key, attributes[key]);
    result.append(...children);
    return result;
  }

  // A field with its label. `take` is called with the valid value, or with undefined if the field is empty and may be
  // empty.
  function field(id, label, value, { unit, minimum, maximum, type, pattern, maxLength, isOptional, preset, hint, take }) {
    const isNumber = type === "number" || type === "integer";
    const name = unit ? `${label} (${unit})` : label;
    const input = make("input", {
      id, type: "text", inputmode: isNumber ? "decimal" : undefined, autocomplete: "off", spellcheck: "false",
      placeholder: preset, "aria-describedby": `${id}Problem`, title: hint,
    });
    const problem = make("p", { id: `${id}Problem`, class: "problem", hidden: "" });
    input.value = value === undefined ? "" : String(value);
    const wrong = text => {
      problem.textContent = text;
      problem.hidden = !text;
      input.setAttribute("aria-invalid", String(Boolean(text)));
      return Boolean(text);
    };
    input.addEventListener("change", () => {
      const raw = input.value.trim();
      if (raw === "") {
        if (isOptional) { wrong(""); take(undefined); } else wrong(`${label}: enter ${isNumber ? "a number" : "a text"}.`);
        return;
      }
      if (!isNumber) {
        if (pattern && !new RegExp(pattern, "u").test(raw)) { wrong(`${label}: use letters, digits, “.”, “_” and “-”.`); return; }
        if (maxLength && raw.length > maxLength) { wrong(`${label}: use at most ${maxLength} characters.`); return; }
        wrong("");
        take(raw);
        return;
      }
      const number = Number(raw.replace(",", ".")), isWhole = type !== "integer" || Number.isInteger(number);
      if (!Number.isFinite(number) || !isWhole || number < minimum || number > maximum) {
        wrong(`${label}: enter a${type === "integer" ? " whole" : ""} number from ${minimum} to ${maximum}.`);
        return;
      }
      wrong("");
      take(number);
    });
    return make("div", { class: "control" }, make("label", { for: id }, name), input, problem);
  }

  function button(id, text, action) {
    const result = make("button", { id, type: "button" }, text);
    result.addEventListener("click", action);
    return result;
  }

  // A list of materials, and a field for another loss in dB.
  function material(id, value, take) {
    const select = make("select", { id: `${id}Material` });
    for (const { name, attenuationDb } of materials) select.append(make("option", { value: String(attenuationDb) }, `${name}: ${attenuationDb} dB`));
    select.append(make("option", { value: "" }, "another loss"));
    const known = materials.find(one => one.attenuationDb === value);
    select.value = known ? String(known.attenuationDb) : "";
    const source = make("p", { class: "hint", id: `${id}Source` }, known?.source ?? "Enter the loss that you have measured or read.");
    select.addEventListener("change", () => { if (select.value !== "") take(Number(select.value)); });
    return [
      make("div", { class: "control" }, make("label", { for: `${id}Material` }, "Material"), select, source),
      field(id, "Loss of one crossing", value, { ...declared("wall", "attenuationDb"), unit: "dB", take }),
    ];
  }

  // The fields of a thing. `commit(file, words)` is called with the changed file.
  function ofItem(file, item, corner, { commit, setCorner, addCorner, removeCorner, removeItem }) {
    const value = get(file, item), { position, least } = KINDS[item.kind], list = points(file, item), parts = [];
    const set = (key, words) => next => commit(change(file, item, key, next, Object.keys(declaredKeys(item.kind))), words);
    const plain = (key, label, options = {}) => parts.push(field(`own-${key}`, label, value[key], {
      ...declared(item.kind, key), hint: declared(item.kind, key).description, take: set(key, `${label} changed`), ...options,
    }));
    if (item.kind !== "outline" && item.kind !== "wall" && item.kind !== "mount") plain("name", "Name", { isOptional: item.kind === "beacon" });
    if (item.kind === "wall") parts.push(...material("own-attenuationDb", value.attenuationDb, set("attenuationDb", "Loss changed")));
    if (item.kind === "beacon") {
      const preset = key => `${file.defaults?.[key] ?? declared("defaults", key).default}`;
      plain("intervalMs", "Interval", { unit: "ms", isOptional: true, preset: preset("intervalMs") });
      plain("payloadOctets", "Data", { unit: "bytes", isOptional: true, preset: preset("payloadOctets") });
      plain("radioPowerDbm", "Radiated power", { unit: "dBm", isOptional: true, preset: preset("radioPowerDbm") });
    }
    if (item.kind === "path") plain("speedMps", "Walking speed", { unit: "m/s", isOptional: true, preset: String(declared("path", "speedMps").default) });
    const chosen = position ? 0 : corner;
    if (!position) {
      const size = item.kind === "outline" || item.kind === "room" ? `${digits(geometry.area(list))} m²` : `${digits(geometry.length(list))} m long`;
      const note = make("p", { class: "hint" }, `${list.length} corners, ${size}. `);
      const steps = make("div", { class: "row" },
        button("previousCorner", "Previous corner", () => setCorner(-1)), button("nextCorner", "Next corner", () => setCorner(1)),
        button("addCorner", "Add a corner", addCorner));
      if (chosen !== null && list.length > least) steps.append(button("removeCorner", "Delete the corner", removeCorner));
      parts.push(note, steps);
      if (chosen !== null) parts.push(make("h3", {}, `Corner ${chosen + 1} of ${list.length}`));
    }
    if (chosen !== null && list[chosen]) {
      const range = schema.$defs.position.items;
      parts.push(...["x", "y"].map((axis, i) => field(`own-${axis}`, axis === "x" ? "East" : "North", list[chosen][i], {
        ...range, unit: "m",
        take: next => commit(siteFile.withPoints(file, item, list.map((place, k) => k === chosen ? place.map((old, n) => n === i ? next : old) : place)), "Moved"),
      })));
    }
    if (position) parts.push(...mounting(file, item, commit));
    parts.push(button("removeThing", `Delete ${item.kind === "outline" ? "the outline" : nameOf(file, item)}`, removeItem));
    return parts;
  }

  // The largest number of mounts in the list. If there are more, a beacon can only be moved to a mount in the drawing.
  const MOUNTS = 400;

  // The height of a thing, and the mount of a beacon.
  function mounting(file, item, commit) {
    const [place] = points(file, item), range = schema.$defs.position.items, all = listOf(file, "mount"), now = mountOf(file, item);
    const parts = [field("own-height", "Height above the floor", place[2], {
      ...range, unit: "m", isOptional: true, hint: "The file keeps the height. The planner computes with distances on the floor.",
      take: next => commit(withPosition(file, item, next === undefined ? place.slice(0, 2) : [place[0], place[1], next]), "Height changed"),
    })];
    if (item.kind !== "beacon" || !all.length || all.length > MOUNTS) return parts;
    const select = make("select", { id: "own-mount" });
    if (now < 0) select.append(make("option", { value: "" }, "not on a listed mount"));
    all.forEach((mount, i) => {
      select.append(make("option", { value: String(i) }, `mount ${i + 1}: ${mount.slice(0, 2).map(value => digits(value)).join(", ")} m`));
    });
    select.value = now < 0 ? "" : String(now);
    select.addEventListener("change", () => {
      if (select.value === "") return;
      const mount = all[Number(select.value)];
      // If the mount has no height, the beacon keeps its own height.
      commit(withPosition(file, item, mount.length > 2 ? mount : [...mount, ...place.slice(2)]), `Moved to mount ${Number(select.value) + 1}`);
    });
    return [...parts, make("div", { class: "control" }, make("label", { for: "own-mount" }, "Mount"), select)];
  }

  function declaredKeys(kind) {
    const list = schema.properties[KINDS[kind].key], element = list.items ?? list.anyOf?.find(({ items }) => items)?.items;
    return (element?.$ref ? schema.$defs[element.$ref.split("/").at(-1)] : element)?.properties ?? {};
  }

  // The fields of the site.
  function ofSite(file, { commit, order, target }) {
    const set = (key, words) => next => commit(withKey(file, key, next, order), words);
    const within = (key, name, label, options) => {
      const old = file[key], value = declared(key, name);
      return field(`site-${key}-${name}`, label, old?.[name], {
        ...value, hint: value.description, isOptional: true, preset: value.default === undefined ? undefined : String(value.default),
        take: next => {
          const changed = withKey(old ?? {}, name, next, Object.keys(schema.properties[key].properties));
          set(key, `${label} changed`)(Object.keys(changed).length ? changed : undefined);
        }, ...options,
      });
    };
    const parts = [field("site-name", "Name of the site", file.name, { ...schema.$defs.name, take: set("name", "Name changed") })];
    const whole = file.target ?? target;
    for (const [name, label, unit] of [["detectWithinS", "Found within", "s"], ["probability", "In this share of the cases", ""]]) {
      parts.push(field(`site-target-${name}`, label, whole[name], {
        ...declared("target", name), unit, take: next => set("target", "Target changed")({ ...whole, [name]: next }),
      }));
    }
    parts.push(field("site-target-beacons", "Beacons to find at each place", whole.beacons, {
      ...declared("target", "beacons"), isOptional: true, preset: String(declared("target", "beacons").default),
      take: next => set("target", "Target changed")(withKey(whole, "beacons", next)),
    }));
    parts.push(make("h3", {}, "Beacons without values of their own"),
      within("defaults", "intervalMs", "Interval", { unit: "ms" }), within("defaults", "radioPowerDbm", "Radiated power", { unit: "dBm" }));
    if (file.picture && schema.properties.picture) {
      const place = file.picture.position ?? [0, 0], range = schema.$defs.position.items;
      parts.push(make("h3", {}, "Picture"), within("picture", "widthM", "Width on the floor", { unit: "m", isOptional: false }));
      parts.push(...["x", "y"].map((axis, i) => field(`site-picture-${axis}`, axis === "x" ? "Left edge, east" : "Lower edge, north", place[i], {
        ...range, unit: "m",
        take: next => set("picture", "Picture moved")({ ...file.picture, position: [i ? place[0] : next, i ? next : place[1]] }),
      })));
    }
    return parts;
  }

  return { start: data => { ({ schema, materials } = data); }, ofItem, ofSite, material, field, declared, make, withItem };
})();
