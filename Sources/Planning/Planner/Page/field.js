"use strict";

// What is received at each place of a floor, like SiteModel.swift and SiteCoverage.swift: the strongest beacon, the
// share of its packets that do not collide, and the share of cases in which it is found within the target time. Times
// in ms.
const field = (() => {
  const { J, STEP, airtime, normal } = models;
  const { meets } = geometry;

  // The probability of reception below which beacons are ignored, and the longest link in m.
  const LEAST = 1e-5, FARTHEST = 500;

  const logarithmic = (atOneMetre, exponent, closest) => d => atOneMetre + 10 * exponent * Math.log10(Math.max(d, closest));
  // The loss in dB over a distance in m.
  const FORMULAS = {
    "log-distance": p => logarithmic(p.lossAt1mDb, p.exponent, 0.1),
    heydon: () => logarithmic(40, 2.5, 0.1),
    itu: p => logarithmic(20 * Math.log10(2426) + p.floorLossDb - 28, p.coefficient / 10, 1),
    thesis: () => d => d < 20 ? 32 - 0.01721 * d * d + 19.8256 * Math.log1p(d) : 85,
  };

  // The values of an object of the file, with the defaults of its schema.
  function filled(object, { properties }) {
    const result = {};
    for (const key in properties) result[key] = object?.[key] ?? properties[key].default;
    return result;
  }

  // The load of the channels as one number. If each channel has its own load, the result destroys as many packets on
  // average.
  const evenLoad = load => typeof load !== "object" ? load
    : 1 - Math.sqrt([37, 38, 39].reduce((sum, channel) => sum + (1 - (load[channel] ?? 0)) ** 2, 0) / 3);

  // The values of a site file on which reception depends, except the floor and its beacons. `schema` has the defaults
  // of the format, and `presets` the known scanners.
  function airOf(file, { schema, presets, target }) {
    const keys = schema.properties, loss = filled(file.pathLoss, keys.pathLoss);
    const named = scanner => typeof scanner === "object" ? { ...scanner, channels: 3 }
      : presets.find(({ name }) => name === scanner) ?? presets[0];
    const parts = file.scanners ?? [{ scanner: file.scanner ?? presets[0].name, weight: 1 }];
    const whole = parts.reduce((sum, { weight }) => sum + weight, 0);
    return {
      loss: (FORMULAS[loss.model] ?? FORMULAS["log-distance"])(loss), shadowing: loss.shadowingDb,
      sensitivity: file.receiverSensitivityDbm ?? keys.receiverSensitivityDbm.default,
      backgroundLoad: evenLoad(file.backgroundLoad ?? keys.backgroundLoad.default),
      scanners: parts.map(({ scanner, weight }) => ({ scanner: named(scanner), share: weight / whole })),
      target: file.target ?? target, defaults: filled(file.defaults, keys.defaults),
    };
  }

  // A beacon of the file with all of its values.
  function beaconOf(beacon, defaults) {
    const value = key => beacon[key] ?? defaults[key];
    return {
      x: beacon.position[0], y: beacon.position[1], intervalMs: Math.round(value("intervalMs") / STEP) * STEP,
      payloadOctets: value("payloadOctets"), radioPowerDbm: value("radioPowerDbm"), companions: beacon.companions ?? [],
    };
  }

  // The distance in m up to which a beacon of this power may be received.
  function reachOf(air, power) {
    const acceptableLoss = power - air.sensitivity + 4 * air.shadowing;
    if (air.loss(FARTHEST) <= acceptableLoss) return FARTHEST;
    let near = 0, far = FARTHEST;
    for (let k = 0; k < 40; k++) {
      const middle = (near + far) / 2;
      if (air.loss(middle) > acceptableLoss) far = middle; else near = middle;
    }
    return far;
  }

  function audibility(air, power) {
    const margin = power - air.sensitivity;
    if (air.shadowing <= 0) return margin >= 0 ? 1 : 0;
    const x = margin / air.shadowing;
    return x < -5 ? 0 : x > 8 ? 1 : normal(x);
  }

  // The places of a square grid over a rectangle: at most about `limit`, at least half a metre apart, row by row.
  function grid({ left, right, bottom, top }, limit) {
    const width = right - left, height = top - bottom;
    const spacing = Math.max(0.5, Math.sqrt(Math.max(width * height, 1e-6) / limit), Math.max(width, height, 1e-3) / limit);
    const columns = Math.floor(width / spacing) + 1, rows = Math.floor(height / spacing) + 1;
    const x = left + (width - (columns - 1) * spacing) / 2, y = bottom + (height - (rows - 1) * spacing) / 2, places = [];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) places.push([x + column * spacing, y + row * spacing]);
    }
    return { places, spacing, columns, rows };
  }

  // Keeps the mean powers of all beacons at all places, in one column for each beacon: the values of the beacon at all
  // places. After a change it computes only the affected values again: the column of a beacon that moved, or the losses
  // of a wall that moved.
  function receiver() {
    let places = null, air = null, walls = new Set(), columns = new Map();

    // Adds the losses of some walls to a column; a sign of -1 removes them.
    function addWalls(column, { x, y }, segments, sign) {
      for (const [ax, ay, bx, by, loss] of segments) {
        for (let i = 0; i < places.length; i++) {
          if (meets(x, y, places[i][0], places[i][1], ax, ay, bx, by)) column.walls[i] += sign * loss;
        }
      }
      column.isOld = true;
    }

    function measure(column, { x, y, radioPowerDbm }, reach) {
      for (let i = 0; i < places.length; i++) {
        const power = radioPowerDbm - column.losses[i] - column.walls[i];
        column.powers[i] = power;
        column.audible[i] = Math.hypot(places[i][0] - x, places[i][1] - y) <= reach ? audibility(air, power) : 0;
      }
      column.isOld = false;
    }

    // Returns the strongest beacon at each place; null if no beacon is received. The places, the air, the beacons and
    // the walls (lists of x, y, x, y, dB) must be the same objects as in the previous call if they have not changed.
    function receive(floor) {
      measureAll(floor);
      return received();
    }

    // Returns, for each place, the share of cases in which the beacon of rank `count` is found: null if no beacon is
    // received, undefined if a share is not known yet. Like BeaconRanking.swift.
    function receiveSeveral(floor, count, shareOf) {
      measureAll(floor);
      const beacons = [...columns.keys()], list = [...columns.values()];
      return floor.places.map((_, i) => {
        const heard = beacons.map((beacon, n) => ({ beacon, audible: list[n].audible[i] })).filter(({ audible }) => audible > LEAST);
        if (!heard.length) return null;
        heard.sort((one, other) => other.audible - one.audible);
        const losses = new Map(), best = [];
        for (const { beacon, audible } of heard) {
          if (best.length >= count && best[count - 1] >= audible) break;
          const tau = airtime(beacon.payloadOctets);
          if (!losses.has(tau)) losses.set(tau, heard.reduce((sum, other) => sum + collisions(other, tau), 0));
          const share = shareOf(beacon, Math.exp(2 * Math.log1p(-air.backgroundLoad) + losses.get(tau) - collisions({ beacon, audible }, tau)));
          if (share === null) return undefined;
          best.push(audible * share);
          best.sort((one, other) => other - one);
        }
        return best[count - 1] ?? 0;
      });
    }

    // The logarithm of the share of packets with the airtime `tau` that a beacon does not destroy, with all of its
    // advertisements.
    function collisions({ beacon, audible }, tau) {
      let sum = 0;
      for (const { payloadOctets, intervalMs } of [beacon, ...beacon.companions]) {
        sum += Math.log1p(-Math.min(1 - 1e-15, audible * (tau + airtime(payloadOctets)) / (intervalMs + J / 2)));
      }
      return sum;
    }

    function measureAll(floor) {
      if (places !== floor.places || air !== floor.air) columns = new Map();
      ({ places, air } = floor);
      const now = new Set(floor.walls), gone = [...walls].filter(wall => !now.has(wall)), added = floor.walls.filter(wall => !walls.has(wall));
      if (gone.length + added.length > 8) columns = new Map();
      const reach = reachOf(air, floor.beacons.reduce((most, beacon) => Math.max(most, beacon.radioPowerDbm), -Infinity));
      const kept = new Map();
      for (const beacon of floor.beacons) {
        let column = columns.get(beacon);
        if (column) {
          for (const wall of gone) addWalls(column, beacon, wall, -1);
          for (const wall of added) addWalls(column, beacon, wall, 1);
        } else {
          const size = places.length;
          column = { losses: new Float64Array(size), walls: new Float64Array(size), powers: new Float64Array(size), audible: new Float64Array(size) };
          for (let i = 0; i < size; i++) column.losses[i] = air.loss(Math.hypot(places[i][0] - beacon.x, places[i][1] - beacon.y));
          for (const wall of floor.walls) addWalls(column, beacon, wall, 1);
          column.isOld = true;
        }
        if (column.isOld || column.reach !== reach) measure(column, beacon, reach);
        column.reach = reach;
        kept.set(beacon, column);
      }
      columns = kept;
      walls = now;
    }

    // Returns, for each place, the strongest beacon, and the share of this beacon's packets that do not collide.
    function received() {
      const count = places.length, beacons = [...columns.keys()], best = new Int32Array(count).fill(-1);
      const audible = new Float64Array(count), powers = new Float64Array(count).fill(-Infinity);
      beacons.forEach((beacon, n) => {
        const column = columns.get(beacon);
        for (let i = 0; i < count; i++) {
          const a = column.audible[i];
          if (a > LEAST && (a > audible[i] || (a === audible[i] && column.powers[i] > powers[i]))) {
            best[i] = n;
            audible[i] = a;
            powers[i] = column.powers[i];
          }
        }
      });
      const times = beacons.map(({ payloadOctets }) => airtime(payloadOctets)), sums = new Float64Array(count).fill(2 * Math.log1p(-air.backgroundLoad));
      beacons.forEach((beacon, n) => {
        const column = columns.get(beacon);
        for (const { payloadOctets, intervalMs } of [beacon, ...beacon.companions]) {
          const tau = airtime(payloadOctets), period = intervalMs + J / 2;
          for (let i = 0; i < count; i++) {
            const a = column.audible[i];
            if (a > LEAST && best[i] !== n) sums[i] += Math.log1p(-Math.min(1, a * (times[best[i]] + tau) / period));
          }
        }
      });
      return Array.from(best, (n, i) => n < 0 ? null : { beacon: beacons[n], power: powers[i], audible: audible[i], clear: Math.exp(sums[i]) });
    }

    return { receive, receiveSeveral };
  }

  // The time to detection is computed for a series of numbers of beacons. Returns the two numbers of the series between
  // which a number of beacons lies. Like DetectionTimes in SiteModel.swift.
  function neighbors(beacons) {
    for (let few = 1; ;) {
      const next = few + Math.floor(few / 10) + 1;
      if (next > beacons) return [few, next];
      few = next;
    }
  }

  // The share of cases in which a scanner in range finds a beacon within the target time. Any mixture of beacons counts
  // as the number of equal beacons with the same share of clear packets. Losses to other beacons come in runs, and losses
  // to the background do not, so the background does not count as beacons. To compute the latencies takes a while: `work`
  // computes missing latencies step by step. Until then, the nearest known latencies are used.
  function detection(air) {
    const known = new Map(), missing = new Map();
    const keyOf = beacon => `${beacon.intervalMs}/${beacon.payloadOctets}`;

    function rowOf(beacon) {
      const key = keyOf(beacon);
      if (!known.has(key)) known.set(key, new Map());
      return known.get(key);
    }

    function shareAt(row, n) {
      if (row.has(n)) return row.get(n);
      let near = null;
      for (const other of row.keys()) if (near === null || Math.abs(other - n) < Math.abs(near - n)) near = other;
      return near === null ? null : row.get(near);
    }

    // Returns the share for a beacon of which the share `clear` of the packets arrives; null if no latency is known
    // yet.
    function share(beacon, clear) {
      if (clear <= 0) return 0;
      const hit = 2 * airtime(beacon.payloadOctets) / (beacon.intervalMs + J / 2);
      if (hit >= 1) return 0;
      const clearOfBeacons = clear / (1 - air.backgroundLoad) ** 2;
      const beacons = 1 + Math.log(Math.min(1, clearOfBeacons)) / Math.log1p(-hit);
      if (beacons >= 1e6) return 0;
      const row = rowOf(beacon), [few, many] = neighbors(beacons);
      for (const n of beacons > few ? [few, many] : [few]) {
        if (!row.has(n)) missing.set(`${keyOf(beacon)}/${n}`, { beacon, n });
      }
      const low = shareAt(row, few), high = shareAt(row, many);
      if (low === null || beacons <= few) return low;
      // The logarithm of the share that is not found is interpolated by the share of packets clear of other beacons.
      const part = Math.expm1((beacons - few) * Math.log1p(-hit)) / Math.expm1((many - few) * Math.log1p(-hit));
      return 1 - (1 - low) ** (1 - part) * (1 - high) ** part;
    }

    function* work() {
      while (missing.size) {
        const [[key, { beacon, n }]] = missing;
        let sum = 0;
        for (const { scanner, share: part } of air.scanners) {
          const settings = {
            intervalMs: beacon.intervalMs, payloadOctets: beacon.payloadOctets, backgroundLoad: air.backgroundLoad,
            backgroundAirtimeMs: 0,
            copySpacingMs: 1, detectWithinS: air.target.detectWithinS, scanner,
          };
          sum += part * (yield* latency.shareOf(settings, n));
        }
        rowOf(beacon).set(n, Math.min(1, sum));
        missing.delete(key);
        yield null;
      }
    }

    return { share, work, isComplete: () => missing.size === 0 };
  }

  return { airOf, beaconOf, grid, receiver, detection };
})();
