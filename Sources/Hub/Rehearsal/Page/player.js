"use strict";

// Replays the period of a rehearsal that the page contains: draws what happens at the shown time over the floor. If no
// time is shown, the floor shows the result of the whole rehearsal.
(() => {
  const byId = id => document.getElementById(id);
  const { play: data } = JSON.parse(byId("data").textContent);
  if (!data) return;
  const { percent, sentence } = texts;
  const run = replay.read(data), { from, to } = run, { beacons, radius, ring } = data;
  const slider = byId("time"), speeds = [...byId("speed").options].map(option => Number(option.value));
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)"), isDark = matchMedia("(prefers-color-scheme: dark)");
  const air = byId("air").getContext("2d"), strip = byId("strip").getContext("2d");

  // How long a flash, a discovery and a change can be seen, in ms of real time.
  const FLASH = 380, DISCOVERY = 1200, CHANGE = 3500;
  // The growth of a flash, and its steady size for calm pages, as multiples of a beacon's radius.
  const GROWTH = 2.3, CALM_GROWTH = 1;
  // If more discoveries than this are shown at once, their lines are thinner.
  const MANY = 30;
  // The longest time in ms that one frame advances, so that the time does not jump after the page was in the
  // background.
  const LONGEST_FRAME = 250;
  // The list next to the floor has this many events.
  const LOGGED = 6;
  const NAMES = ["ink", "card", "soft", "line", "gold", "blue", "teal", "rose", "amber", "wash"];

  // The shown time in ms; null while the result is shown. `lastFrame` is the time of the last frame; null while paused.
  let moment = null, lastFrame = null, colours = {}, isAsked = false;

  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    colours = Object.fromEntries(NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
  };
  const isPlaying = () => lastFrame !== null;
  const speed = () => Number(byId("speed").value);

  // Makes a canvas as sharp as the screen, and empties it. Returns its size in pixels of the page.
  function prepare(context) {
    const { canvas } = context, { width, height } = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { width, height };
  }

  function circle(x, y, size, { fill, stroke, width = 2 }) {
    air.beginPath();
    air.arc(x, y, size, 0, 2 * Math.PI);
    if (fill) { air.fillStyle = fill; air.fill(); }
    if (stroke) { air.strokeStyle = stroke; air.lineWidth = width; air.stroke(); }
  }

  function cross(x, y, half, colour) {
    air.beginPath();
    for (const turn of [1, -1]) {
      air.moveTo(x - half, y - turn * half);
      air.lineTo(x + half, y + turn * half);
    }
    air.strokeStyle = colour;
    air.lineWidth = 2.6;
    air.stroke();
  }

  // The strength with which something of this age is drawn, from 1 down to 0.
  const fading = (age, length) => age >= length ? 0 : isCalm.matches ? 1 : 1 - age / length;

  function drawAir() {
    prepare(air);
    if (moment === null) return;
    // The drawing in pixels of the canvas: it may be narrower than its element.
    const box = air.canvas.getBoundingClientRect(), matrix = byId("drawing").getScreenCTM(), scale = matrix.a;
    const at = ([x, y]) => [matrix.a * x + matrix.e - box.left, matrix.d * y + matrix.f - box.top];
    const spots = beacons.map(({ x, y }) => x === null ? null : at([x, y]));
    const places = run.walks.map(walk => { const place = replay.place(walk, moment); return place && at(place); });
    const found = replay.discovered(run, moment);
    air.lineCap = "round";
    drawShares(spots, found, scale);
    drawDiscoveries(spots, places);
    drawFlashes(spots, scale);
    drawPhones(places, found, scale);
    drawChanges(spots);
    air.globalAlpha = 1;
  }

  function drawShares(spots, { ofBeacon }, scale) {
    spots.forEach((spot, i) => {
      if (!spot || !run.walks.length) return;
      const size = ring * scale, share = ofBeacon[i] / run.walks.length;
      circle(...spot, size, { stroke: colours.line, width: 2.6 * scale });
      if (!share) return;
      air.beginPath();
      air.arc(...spot, size, -Math.PI / 2, 2 * Math.PI * share - Math.PI / 2);
      air.strokeStyle = colours.blue;
      air.lineWidth = 2.6 * scale;
      air.stroke();
    });
  }

  function drawFlashes(spots, scale) {
    const length = FLASH * speed(), { sent, isReceived, collided } = replay.flashes(run, moment, length);
    spots.forEach((spot, i) => {
      const strength = spot ? fading(sent[i], length) : 0, lost = spot ? fading(collided[i], length) : 0;
      if (strength) {
        const growth = radius * (isCalm.matches ? CALM_GROWTH : GROWTH * (1 - strength)), colour = isReceived[i] ? colours.gold : colours.soft;
        air.globalAlpha = strength;
        if (isReceived[i]) circle(...spot, radius * scale, { fill: colours.gold });
        circle(...spot, (radius + growth) * scale, { stroke: colour, width: 2.5 });
      }
      if (lost) {
        air.globalAlpha = lost;
        cross(spot[0], spot[1] - (ring + 3) * scale, Math.max(3.5, 3.2 * scale), colours.rose);
      }
    });
    air.globalAlpha = 1;
  }

  function drawDiscoveries(spots, places) {
    const length = DISCOVERY * speed(), recent = replay.recent(run.discoveries, moment, length);
    for (const { time, phone, beacon } of recent) {
      if (!spots[beacon] || !places[phone]) continue;
      air.globalAlpha = fading(moment - time, length);
      air.beginPath();
      air.moveTo(...places[phone]);
      air.lineTo(...spots[beacon]);
      air.strokeStyle = colours.blue;
      air.lineWidth = recent.length > MANY ? 1.2 : 2.5;
      air.stroke();
    }
    air.globalAlpha = 1;
  }

  function drawPhones(places, { isPhone }, scale) {
    const size = Math.max(3.5, 4.2 * scale);
    places.forEach((place, i) => {
      if (place) circle(...place, size, { fill: isPhone[i] ? colours.blue : colours.card, stroke: isPhone[i] ? colours.card : colours.blue, width: 1.8 });
    });
  }

  // Writes each change next to its beacon, or at the top of the floor if it is not about one beacon.
  function drawChanges(spots) {
    const length = CHANGE * speed(), { width } = air.canvas.getBoundingClientRect();
    air.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
    air.textBaseline = "middle";
    replay.recent(run.changes, moment, length).forEach(({ time, beacon, text }, row) => {
      const shown = fitting(text, width - 24), wide = air.measureText(shown).width + 14, spot = spots[beacon];
      const x = Math.min(width - wide - 2, Math.max(2, (spot?.[0] ?? width / 2) - wide / 2)), y = spot ? Math.max(14, spot[1] - 34) : 14 + 26 * row;
      air.globalAlpha = Math.min(1, 2 * fading(moment - time, length));
      air.fillStyle = colours.amber;
      air.beginPath();
      air.roundRect(x, y - 11, wide, 22, 6);
      air.fill();
      air.fillStyle = colours.card;
      air.fillText(shown, x + 7, y + 1);
    });
  }

  // The text, cut to a width in pixels.
  function fitting(text, width) {
    let shown = text;
    while (shown.length > 4 && air.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
    return shown;
  }

  // The numbers of advertising events, and of events with collisions, in equal parts of the time.
  let bars = [];
  function barsOf(count) {
    if (bars.length === count) return bars;
    const sums = Array.from({ length: count + 1 }, (_, i) => replay.counts(run, i ? from + (to - from) * i / count : from - 1));
    bars = sums.slice(1).map((sum, i) => ({ sends: sum.sends - sums[i].sends, collided: sum.collided - sums[i].collided }));
    return bars;
  }

  // Draws the numbers of advertising events over time, the changes and the shown time.
  function drawStrip() {
    const { width, height } = prepare(strip), count = Math.max(1, Math.floor(width / 4)), length = Math.max(1, to - from);
    const most = Math.max(1, ...barsOf(count).map(({ sends }) => sends)), room = height - 10;
    barsOf(count).forEach(({ sends, collided }, i) => {
      const x = width * i / count, wide = width / count - 1;
      strip.fillStyle = colours.line;
      strip.fillRect(x, height - room * sends / most, wide, room * sends / most);
      strip.fillStyle = colours.rose;
      strip.fillRect(x, height - room * collided / most, wide, room * collided / most);
    });
    strip.fillStyle = colours.amber;
    for (const { time } of run.changes) {
      if (time < from || time > to) continue;
      const x = Math.min(width - 5, Math.max(5, width * (time - from) / length));
      strip.beginPath();
      strip.moveTo(x - 5, 0);
      strip.lineTo(x + 5, 0);
      strip.lineTo(x, 8);
      strip.fill();
    }
    if (moment === null) return;
    strip.fillStyle = colours.ink;
    strip.fillRect(Math.min(width - 2, width * (moment - from) / length), 0, 2, height);
  }

  const share = (part, whole) => whole ? percent(part / whole) : "–";
  const text = (id, value) => { if (byId(id).textContent !== value) byId(id).textContent = value; };

  function write() {
    const isShown = moment !== null, time = moment ?? from, { sends, received, collided } = replay.counts(run, time);
    for (const [id, isHidden] of [["still", isShown], ["moving", !isShown], ["now", !isShown]]) byId(id).hidden = isHidden;
    byId("summary").toggleAttribute("hidden", isShown);
    byId("result").disabled = !isShown;
    slider.value = String(Math.round(time));
    slider.setAttribute("aria-valuetext", replay.clock(time));
    text("play", isPlaying() ? "Pause" : "Play");
    if (!isShown) {
      text("sentence", "");
      return;
    }
    const { phones } = replay.discovered(run, time);
    text("clock", replay.clock(time));
    text("sendsNow", String(sends));
    text("receivedNow", share(received, sends));
    text("collidedNow", share(collided, sends));
    text("phonesNow", `${phones} of ${run.walks.length}`);
    writeLog(time);
    // Screen readers read the sentence only while the player is paused.
    if (isPlaying()) return;
    const changeText = replay.recent(run.changes, time, 1000).map(change => ` ${change.text}.`).join("");
    text("sentence", sentence(`At ${replay.clock(time)}: ${sends} advertising events, ${share(received, sends)} received, ${share(collided, sends)} with collisions; `
      + `${phones} of ${run.walks.length} phones have discovered a beacon.${changeText}`));
  }

  function writeLog(time) {
    const changes = run.changes.slice(0, replay.until(run.changes, time, change => change.time)).slice(-LOGGED);
    const end = replay.until(run.discoveries, time, discovery => discovery.time);
    const found = run.discoveries.slice(Math.max(0, end - LOGGED), end)
      .map(({ time: at, phone, beacon }) => ({ time: at, text: `phone ${phone + 1} discovers ${beacons[beacon]?.name ?? ""}` }));
    const rows = [...changes, ...found].sort((a, b) => b.time - a.time).slice(0, LOGGED);
    const key = rows.map(row => `${row.time} ${row.text}`).join("\n");
    if (byId("log").dataset.key === key) return;
    byId("log").dataset.key = key;
    byId("log").replaceChildren(...rows.map(({ time: at, text: what }) => {
      const row = document.createElement("li"), clock = document.createElement("time");
      clock.textContent = replay.clock(at);
      row.append(clock, ` ${what}`);
      return row;
    }));
  }

  function draw() {
    write();
    drawAir();
    drawStrip();
    byId("controls").dataset.state = "done";
  }

  // Draws in the next frame, once for all requests until then.
  function ask() {
    if (isAsked) return;
    isAsked = true;
    byId("controls").dataset.state = "busy";
    requestAnimationFrame(() => { isAsked = false; draw(); });
  }

  function show(time) {
    moment = time === null ? null : Math.min(to, Math.max(from, time));
    ask();
  }

  function nextFrame(now) {
    if (!isPlaying()) return;
    // A frame may have begun before the button was pressed.
    moment = Math.min(to, moment + Math.min(LONGEST_FRAME, Math.max(0, now - lastFrame)) * speed());
    lastFrame = now;
    if (moment >= to) lastFrame = null;
    draw();
    if (isPlaying()) requestAnimationFrame(nextFrame); else remember();
  }

  function start() {
    if (moment === null || moment >= to) moment = from;
    lastFrame = performance.now();
    requestAnimationFrame(nextFrame);
    ask();
  }

  function pause() {
    if (!isPlaying()) return;
    lastFrame = null;
    remember();
    ask();
  }

  function jump(isBack) {
    pause();
    const time = replay.next(run, byId("kindOfEvent").value, moment ?? (isBack ? from : from - 1), isBack);
    if (time === null) {
      text("sentence", isBack ? "No such event before this time." : "No such event after this time.");
      return;
    }
    show(time);
    remember();
  }

  function seek(time) {
    show(time);
    remember();
  }

  function showResult() {
    pause();
    show(null);
    remember();
  }

  function changeSpeed(by) {
    byId("speed").value = String(speeds[Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(speed()) + by))]);
    ask();
  }

  // Writes the shown time to the page's address, so that a link opens the page at this time.
  function remember() {
    const address = moment === null ? location.pathname + location.search : `#at=${Math.round(moment)}`;
    if (!isPlaying()) history.replaceState(null, "", address);
  }

  function recall() {
    const given = new URLSearchParams(location.hash.slice(1)).get("at"), time = given === null || given === "" ? Number.NaN : Number(given);
    show(Number.isFinite(time) ? time : null);
  }

  const KEYS = {
    " ": () => isPlaying() ? pause() : start(), n: () => jump(false), p: () => jump(true), "+": () => changeSpeed(1), "-": () => changeSpeed(-1),
    Escape: showResult, Home: () => seek(from), End: () => seek(to),
    ArrowLeft: event => seek((moment ?? from) - (event.shiftKey ? 1000 : 100)),
    ArrowRight: event => seek((moment ?? from) + (event.shiftKey ? 1000 : 100)),
  };

  function press(event) {
    const { target, key } = event, action = KEYS[key.length === 1 ? key.toLowerCase() : key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    // Lists and buttons keep their own keys.
    if (target.matches("select") || target.matches("button") && key === " ") return;
    event.preventDefault();
    action(event);
  }

  Object.assign(slider, { min: String(from), max: String(to) });
  text("begin", replay.clock(from));
  text("end", replay.clock(to));
  byId("controls").hidden = false;
  byId("stage").tabIndex = 0;
  byId("stage").setAttribute("role", "group");
  byId("stage").setAttribute("aria-label", "The floor. Space plays; the keys are below.");
  for (const id of ["stage", "controls"]) byId(id).addEventListener("keydown", press);
  byId("controls").addEventListener("submit", event => event.preventDefault());
  byId("play").addEventListener("click", () => isPlaying() ? pause() : start());
  byId("previous").addEventListener("click", () => jump(true));
  byId("next").addEventListener("click", () => jump(false));
  byId("result").addEventListener("click", showResult);
  byId("speed").addEventListener("change", ask);
  slider.addEventListener("input", () => show(Number(slider.value)));
  slider.addEventListener("change", remember);
  byId("strip").addEventListener("click", event => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    seek(from + (to - from) * (event.clientX - left) / width);
  });
  for (const query of [isDark, isCalm]) query.addEventListener("change", () => { readColours(); ask(); });
  new ResizeObserver(ask).observe(byId("stage"));
  // On paper, the page shows the result of the whole rehearsal.
  addEventListener("beforeprint", () => byId("summary").removeAttribute("hidden"));
  addEventListener("afterprint", ask);
  addEventListener("hashchange", recall);
  readColours();
  recall();
})();
