"use strict";

// What is on the air at any time of a rehearsal: advertising events (in the data: sends), collisions, phones and their
// discoveries. All times are in ms from the beginning of the rehearsal. Nothing here draws.
const replay = (() => {
  const distinct = list => list.filter((value, i) => i === 0 || value !== list[i - 1]);
  const timeOf = ({ time }) => time;

  // The numbers of a column, which is a text.
  const column = text => text ? text.split(" ").map(Number) : [];

  // The page's data with absolute times, and with running sums, from which the counts at any time are read without
  // looking at all events.
  function read({ from, to, beacons, sends, phones, changes }) {
    const steps = column(sends.after), receivers = column(sends.received), losers = column(sends.collided);
    const count = steps.length, times = new Float64Array(count), isCollided = new Uint8Array(count);
    const receivedSum = new Uint32Array(count + 1), collidedSum = new Uint32Array(count + 1);
    const ofBeacon = Uint32Array.from(column(sends.beacon)), isReceived = new Uint8Array(count), collisions = [];
    let time = from;
    for (let i = 0; i < count; i++) {
      time += steps[i];
      times[i] = time;
      isReceived[i] = Number(receivers[i] > 0);
      isCollided[i] = Number(losers[i] > 0);
      receivedSum[i + 1] = receivedSum[i] + isReceived[i];
      collidedSum[i + 1] = collidedSum[i] + isCollided[i];
      if (isCollided[i]) collisions.push(time);
    }
    const walks = phones.map(({ scanner, track }) => {
      const corners = Array.from({ length: track.length / 3 }, (_, i) => track.slice(3 * i, 3 * i + 3));
      return { scanner, times: corners.map(([at]) => at), places: corners.map(([, x, y]) => [x, y]) };
    });
    const discoveries = phones.flatMap(({ found }, phone) => Array.from({ length: found.length / 2 }, (_, i) => ({
      time: found[2 * i], phone, beacon: found[2 * i + 1],
    }))).sort((a, b) => a.time - b.time);
    const inside = list => distinct(list.filter(at => at >= from && at <= to));
    const ordered = [...changes].sort((a, b) => a.time - b.time);
    const events = { change: inside(ordered.map(timeOf)), discovery: inside(discoveries.map(timeOf)), collision: inside(collisions) };
    events.any = distinct([...events.change, ...events.discovery, ...events.collision].sort((a, b) => a - b));
    return { from, to, beaconCount: beacons.length, times, ofBeacon, isReceived, isCollided, receivedSum, collidedSum,
      walks, discoveries, changes: ordered, events };
  }

  // The number of elements of an ascending list that are at or before a time.
  function until(list, time, valueAt = value => value) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (valueAt(list[middle]) <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  // For each beacon: the age in ms of its last event within `length` ms before a time, whether a phone or receiver
  // received this event, and the age of the beacon's last collision. An age is Infinity if there was none.
  function flashes(run, time, length) {
    const sent = new Float64Array(run.beaconCount).fill(Infinity), collided = new Float64Array(run.beaconCount).fill(Infinity);
    const isReceived = new Uint8Array(run.beaconCount);
    for (let i = until(run.times, time) - 1; i >= 0 && run.times[i] > time - length; i--) {
      const beacon = run.ofBeacon[i], age = time - run.times[i];
      if (sent[beacon] === Infinity) {
        sent[beacon] = age;
        isReceived[beacon] = run.isReceived[i];
      }
      if (run.isCollided[i] && collided[beacon] === Infinity) collided[beacon] = age;
    }
    return { sent, isReceived, collided };
  }

  // The numbers of events from the beginning to a time: all, the received, and those with a collision.
  function counts(run, time) {
    const sends = until(run.times, time);
    return { sends, received: run.receivedSum[sends], collided: run.collidedSum[sends] };
  }

  // The position of a phone; null before the start and after the end of its track.
  function place({ times, places }, time) {
    const next = until(times, time);
    if (!next || next === times.length && time > times[next - 1]) return null;
    if (next === times.length) return places[next - 1];
    const share = (time - times[next - 1]) / (times[next] - times[next - 1]);
    const [[x, y], [toX, toY]] = [places[next - 1], places[next]];
    return [x + (toX - x) * share, y + (toY - y) * share];
  }

  // The discoveries until a time: for each beacon the number of phones that have discovered it, for each phone 1 if it
  // has discovered a beacon, and the number of such phones.
  function discovered(run, time) {
    const ofBeacon = new Uint32Array(run.beaconCount), isPhone = new Uint8Array(run.walks.length);
    const pairs = new Set(), end = until(run.discoveries, time, timeOf);
    let phones = 0;
    for (let i = 0; i < end; i++) {
      const { phone, beacon } = run.discoveries[i], pair = phone * run.beaconCount + beacon;
      // A phone that leaves and comes back discovers the beacon once more.
      if (pairs.has(pair)) continue;
      pairs.add(pair);
      ofBeacon[beacon]++;
      if (!isPhone[phone]) phones++;
      isPhone[phone] = 1;
    }
    return { ofBeacon, isPhone, phones };
  }

  // The entries of an ascending list of events within `length` ms before a time, including this time.
  const recent = (list, time, length) => list.slice(until(list, time - length, timeOf), until(list, time, timeOf));

  // The time of the next event of a kind after a time, or of the last event before the time; null for none.
  function next(run, kind, time, isBack = false) {
    const list = run.events[kind];
    if (!isBack) return list[until(list, time)] ?? null;
    const index = until(list, time) - 1;
    return list[list[index] === time ? index - 1 : index] ?? null;
  }

  // A time as hours, minutes and seconds to the millisecond.
  function clock(time) {
    const whole = Math.round(time), two = value => String(Math.floor(value)).padStart(2, "0");
    return `${two(whole / 3_600_000)}:${two(whole / 60_000 % 60)}:${two(whole / 1000 % 60)}.${String(whole % 1000).padStart(3, "0")}`;
  }

  return { read, until, flashes, counts, place, discovered, recent, next, clock };
})();
