"use strict";

// Computes the numbers when a control moves, and resets the page. It uses no network, stores the settings only in the
// page's address, and changes only elements with an `id`.
(() => {
  const { STEP } = models;
  const { byId } = drawing;
  const plan = JSON.parse(byId("plan").textContent), form = byId("controls"), question = { fleet, battery, walk, density, site }[plan.kind];
  const inSteps = value => Math.round(value / STEP) * STEP;
  // By the name of a field: the ends of its slider, and the values that the field can have.
  const sliders = plan.sliders;

  // A share may also be typed as percent: numbers of 10 or more are read as percent, so 95 means 0.95.
  const LEAST_PERCENT = 10;

  function number(name) {
    const value = Number(byId(name).value);
    return sliders[name].largestShare !== null && value >= LEAST_PERCENT ? value / 100 : value;
  }

  // Moves the slider of a field to the value of the field.
  function moveSlider(name) {
    const { low, high, isLogarithmic } = sliders[name], slider = byId(`${name}Slider`);
    const value = Math.min(high, Math.max(low, number(name)));
    const part = isLogarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    slider.value = Math.round(1000 * part);
    slider.setAttribute("aria-valuetext", byId(name).value);
  }

  // Returns the value of a field for a position of its slider, 0 to 1.
  function sliderValue(name, part) {
    const { low, high, isLogarithmic, step } = sliders[name];
    const value = isLogarithmic ? low * (high / low) ** part : low + (high - low) * part;
    // A round value, so that the field has few digits.
    const round = Number(value.toPrecision(3));
    const fitting = step === "interval" ? inSteps(round) : Math.round(round / step) * step;
    return Math.min(high, Math.max(low, Number(fitting.toPrecision(9))));
  }

  // The current settings; null for a field without a valid value.
  function settings() {
    for (const name in sliders) {
      // A number between the largest share and the smallest percentage is invalid.
      const { largestShare } = sliders[name], isNeither = largestShare !== null && number(name) > largestShare;
      byId(name).setCustomValidity(isNeither ? "neither a share nor percent" : "");
    }
    if (!form.checkValidity()) return null;
    const s = { ...plan.settings };
    for (const name in sliders) s[name] = number(name);
    for (const name in sliders) if (sliders[name].step === 1) s[name] = Math.round(s[name]);
    for (const name of plan.choices) {
      const { value } = byId(name), list = plan.lists[name], number = value === "" ? null : Number(value);
      s[name] = list ? list.find(one => one.name === value) : number;
    }
    return s;
  }

  const say = text => { byId("sentence").textContent = texts.sentence(text); };

  // If the value of a field is invalid, shows the valid values next to the field. Returns the text that it shows.
  function problem(name) {
    const field = byId(name), isWrong = !field.checkValidity(), note = byId(`${name}Problem`), { largestShare } = sliders[name];
    const label = document.querySelector(`label[for="${name}"]`).textContent, whole = field.step === "any" ? "" : " whole";
    const values = largestShare === null ? `${field.min} to ${field.max}`
      : `${field.min} to ${largestShare}, or percent from ${LEAST_PERCENT} to ${field.max}`;
    const text = isWrong ? `${label}: enter a${whole} number from ${values}.` : "";
    field.setAttribute("aria-invalid", String(isWrong));
    note.textContent = text;
    note.hidden = !isWrong;
    return text;
  }

  // The settings that differ from the program's are in the address, so that a link shows them.
  const names = [...Object.keys(sliders), ...plan.choices];
  const original = field => field.defaultValue ?? [...field.options].find(one => one.defaultSelected)?.value ?? field.options[0].value;
  function remember() {
    const changed = names.filter(name => byId(name).value !== original(byId(name)));
    const text = changed.map(name => `${name}=${encodeURIComponent(byId(name).value)}`).join("&");
    if (location.hash.slice(1) !== text) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    form.dataset.isOwn = String(!changed.length);
  }

  function recall() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      const field = byId(name);
      const text = given.get(name) ?? original(field);
      // Browsers print a warning for other text in a field for numbers.
      field.value = field.type === "number" && !Number.isFinite(Number(text)) ? original(field) : text;
      // If the value of the address is invalid for this list or field, the original value is restored.
      if (field.value === "" && given.get(name) !== "") field.value = original(field);
    }
    Object.keys(sliders).forEach(moveSlider);
  }

  let latestRun = 0;
  function update() {
    const s = settings(), run = ++latestRun;
    const problems = Object.keys(sliders).map(problem).filter(text => text);
    if (!s) {
      say(`Not computed. ${problems.join(" ")}`);
      return;
    }
    remember();
    question.answer(s, plan.plots);
    const steps = question.steps(s);
    if (steps) follow(s, steps, run); else finish(s, null);
  }

  // Long computations continue between frames, and show their results so far.
  function follow(s, steps, run) {
    const area = byId("latencyNumbers");
    area.setAttribute("aria-busy", "true");
    say("Computing…");
    area.querySelectorAll("dd span").forEach(drawing.wait);
    const proceed = () => {
      if (run !== latestRun) return;
      const until = performance.now() + 24;
      let result = null;
      do {
        const step = steps.next();
        if (step.done) break;
        result = step.value || result;
      } while (performance.now() < until && !result?.isFinal);
      if (result) question.follow(s, plan.plots, result);
      if (result?.isFinal) {
        area.setAttribute("aria-busy", "false");
        finish(s, result);
      } else {
        setTimeout(proceed, 0);
      }
    };
    proceed();
  }

  function finish(s, result) {
    say(question.sentence(s, result));
    form.dataset.state = "done";
  }

  let isUpdateScheduled = false;
  function changed() {
    form.dataset.state = "busy";
    if (isUpdateScheduled) return;
    isUpdateScheduled = true;
    requestAnimationFrame(() => { isUpdateScheduled = false; update(); });
  }

  for (const name in sliders) {
    byId(`${name}Slider`).addEventListener("input", event => {
      byId(name).value = sliderValue(name, Number(event.target.value) / 1000);
      event.target.setAttribute("aria-valuetext", byId(name).value);
      changed();
    });
    byId(name).addEventListener("input", () => { moveSlider(name); changed(); });
  }
  form.addEventListener("change", changed);
  form.addEventListener("submit", event => event.preventDefault());
  // The browser restores the initial values of the fields only after this event.
  form.addEventListener("reset", () => {
    form.dataset.state = "busy";
    setTimeout(() => { Object.keys(sliders).forEach(moveSlider); changed(); }, 0);
  });
  addEventListener("hashchange", () => { recall(); changed(); });
  recall();
  form.dataset.state = "busy";
  update();
})();
