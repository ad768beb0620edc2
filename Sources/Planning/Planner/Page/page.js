"use strict";

// Computes the numbers when a control moves, and resets the page. It uses no network, stores nothing, and changes only
// elements with an `id`.
(() => {
  const { STEP } = models;
  const { byId } = drawing;
  const plan = JSON.parse(byId("plan").textContent), form = byId("controls"), question = { fleet, battery, walk, density, site }[plan.kind];
  const inSteps = value => Math.round(value / STEP) * STEP;
  // Each field with a slider: its ends and its values.
  const sliders = plan.sliders;

  function slide(name) {
    const { low, high, isLogarithmic } = sliders[name], slider = byId(`${name}Slider`);
    const value = Math.min(high, Math.max(low, Number(byId(name).value)));
    const part = isLogarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    slider.value = Math.round(1000 * part);
    slider.setAttribute("aria-valuetext", byId(name).value);
  }

  function slid(name, part) {
    const { low, high, isLogarithmic, step } = sliders[name];
    const value = isLogarithmic ? low * (high / low) ** part : low + (high - low) * part;
    const fitting = step === "interval" ? inSteps(value) : Math.round(value / step) * step;
    return Math.min(high, Math.max(low, Number(fitting.toPrecision(12))));
  }

  // The present settings; null for a field without a valid value.
  function settings() {
    if (!form.checkValidity()) return null;
    const s = { ...plan.settings };
    for (const name in sliders) s[name] = Number(byId(name).value);
    for (const name in sliders) if (sliders[name].step === 1) s[name] = Math.round(s[name]);
    for (const name of plan.choices) {
      const { value } = byId(name), list = plan.lists[name], number = value === "" ? null : Number(value);
      s[name] = list ? list.find(one => one.name === value) : number;
    }
    return s;
  }

  let running = 0;
  function update() {
    const s = settings(), turn = ++running;
    for (const name in sliders) byId(name).setAttribute("aria-invalid", String(!byId(name).checkValidity()));
    if (!s) {
      byId("sentence").textContent = "One of the fields has an invalid value: no controller can send with it.";
      return;
    }
    question.answer(s, plan.plots);
    const steps = question.steps(s);
    if (steps) follow(s, steps, turn); else finish(s, null);
  }

  // Long computations continue between frames, and show their results so far.
  function follow(s, steps, turn) {
    const area = byId("latencyNumbers");
    area.setAttribute("aria-busy", "true");
    const proceed = () => {
      if (turn !== running) return;
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
    byId("sentence").textContent = question.sentence(s, result);
    form.dataset.state = "done";
  }

  let isAsked = false;
  function changed() {
    form.dataset.state = "busy";
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; update(); });
  }

  for (const name in sliders) {
    byId(`${name}Slider`).addEventListener("input", event => {
      byId(name).value = slid(name, Number(event.target.value) / 1000);
      event.target.setAttribute("aria-valuetext", byId(name).value);
      changed();
    });
    byId(name).addEventListener("input", () => { slide(name); changed(); });
  }
  form.addEventListener("change", changed);
  form.addEventListener("submit", event => event.preventDefault());
  // The fields get their first values back only after this event.
  form.addEventListener("reset", () => {
    form.dataset.state = "busy";
    setTimeout(() => { Object.keys(sliders).forEach(slide); changed(); }, 0);
  });
  Object.keys(sliders).forEach(slide);
  form.dataset.state = "busy";
  update();
})();
