"use strict";

// Where in the scanner's cycle an event is within reach. Times in steps of 0.625 ms.
const coverages = (() => {
  const { STEP, airtime } = models;

  // The share of the starts in each step of the cycle whose event has a copy wholly inside a window.
  function coverage(s, scanner) {
    const tau = airtime(s.payloadOctets), cycle = Math.round(scanner.channels * scanner.intervalMs / STEP);
    const isOpen = scanner.channels === 1 && scanner.windowMs === scanner.intervalMs;
    const share = new Float64Array(isOpen ? 1 : cycle), spans = [];
    if (isOpen) share[0] = 1;
    for (let channel = 0; !isOpen && channel < scanner.channels; channel++) {
      const start = channel * (scanner.intervalMs - s.copySpacingMs);
      const end = start + scanner.windowMs - tau;
      if (end > start) spans.push([start / STEP, end / STEP]);
    }
    // Windows meet where the scanner never pauses: no start is counted twice, not even across the cycle's end.
    let reached = spans.length ? spans[spans.length - 1][1] - cycle : 0;
    for (const [from, to] of spans) {
      for (let x = Math.max(from, reached); x < to;) {
        const cell = Math.floor(x), next = Math.min(cell + 1, to);
        share[cell % cycle] += next - x;
        x = next;
      }
      reached = Math.max(reached, to);
    }
    const sums = new Float64Array(share.length + 1);
    for (let i = 0; i < share.length; i++) sums[i + 1] = sums[i] + share[i];
    const total = sums[share.length] / share.length;
    // Covered so nearly without a gap that the phase does not matter.
    return share.length > 1 && total > 0.999
      ? { share: Float64Array.of(total), sums: Float64Array.of(0, total), cycle: 1, total }
      : { share, sums, cycle: share.length, total };
  }

  // Whether anything within `length` steps from `from` on is within reach.
  function meets({ sums, cycle }, from, length) {
    if (length >= cycle) return true;
    const start = from % cycle, end = start + length;
    return end <= cycle ? sums[end] > sums[start] : sums[cycle] > sums[start] || sums[end - cycle] > 0;
  }

  // Starts of paths, as stretches of the covered steps with the share of all starts in each: 15 steps long, shorter
  // in short windows. `window` tells which stretches are neighbors.
  function starts(reach, scanner) {
    const { share, cycle, sums } = reach, length = scanner.windowMs / STEP;
    if (cycle === 1) return { spacing: 1, found: [{ center: 0, mass: 1, window: 0, first: 0, values: [1] }] };
    const spacing = Math.max(1, Math.floor(Math.min(15, length / 32))), found = [];
    let window = 0;
    for (let step = 0; step < cycle;) {
      if (!share[step]) {
        window += step > 0 && share[step - 1] ? 1 : 0;
        step++;
        continue;
      }
      const first = step;
      let mass = 0, moment = 0;
      for (const end = Math.min(cycle, step + spacing); step < end && share[step]; step++) {
        mass += share[step] / sums[cycle];
        moment += share[step] * step / sums[cycle];
      }
      const values = share.slice(first, step).map(value => value / sums[cycle]);
      found.push({ center: moment / mass, mass, window, first, values });
    }
    return { spacing, found };
  }

  return { coverage, meets, starts };
})();
