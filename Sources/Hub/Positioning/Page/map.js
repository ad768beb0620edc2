"use strict";

// Redraws a map's page when a control changes. All data is in the page's JSON element.
(() => {
  const byId = id => document.getElementById(id);
  const { firstLevel, digits, layers, floors, places } = JSON.parse(byId("data").textContent);
  const form = byId("controls");

  // The value of each cell. The levels of a beacon have one character per cell.
  const valuesOf = layer => layer.values || Array.from(layer.levels, digit => firstLevel + digits.indexOf(digit));

  function shade({ bounds, higher }, value) {
    let index = 0;
    while (index < bounds.length - 2 && (higher ? value < bounds[index + 1] : value > bounds[index + 1])) index++;
    return index;
  }

  function drawCells(layer) {
    const values = valuesOf(layer);
    floors.forEach((floor, number) => {
      const paths = layer.shades.map(() => []), { corners, side } = floor;
      floor.cells.forEach((cell, i) => {
        paths[shade(layer, values[cell])].push(`M${corners[2 * i]} ${corners[2 * i + 1]}h${side}v${side}h-${side}z`);
      });
      paths.forEach((parts, i) => { byId(`floor${number}shade${i}`).setAttribute("d", parts.join("")); });
    });
    layer.shades.forEach((name, i) => {
      byId(`shade${i}Name`).textContent = name;
      byId(`shade${i}`).hidden = !name;
    });
    byId("layerName").textContent = layer.name;
    byId("layerCaption").textContent = layer.caption;
    for (const circle of document.querySelectorAll("circle.beacon")) {
      circle.classList.toggle("chosen", layer.beacon !== undefined && circle.id.endsWith(`beacon${layer.beacon}`));
    }
  }

  // The measured level of a beacon at a place, and the difference of this level from the field. Undefined if the beacon
  // was not received there.
  function measured({ levels }, beacon) {
    for (let i = 0; i < levels.length; i += 3) if (levels[i] === beacon) return { level: levels[i + 1], residual: levels[i + 2] };
    return undefined;
  }

  function textOf(place, layer, beside) {
    if (beside === "name") return place.name;
    if (layer.beacon === undefined) return String((layer.unit === "m" ? place.error?.toFixed(1) : place.heard) ?? "");
    const reading = measured(place, layer.beacon);
    if (!reading) return "";
    if (beside === "value") return reading.level.toFixed(0);
    if (reading.residual === null) return "";
    const decibels = Math.round(reading.residual);
    return decibels > 0 ? `+${decibels}` : String(decibels + 0);
  }

  function writePlaces(layer, beside) {
    for (const number in places) {
      const text = byId(`place${number}Text`);
      if (text) text.textContent = textOf(places[number], layer, beside);
    }
  }

  // Draws a line to each place that the chosen place is mistaken for.
  function drawMistakes(chosen) {
    const place = places[chosen], pieces = floors.map(() => []);
    for (const circle of document.querySelectorAll("circle.place")) {
      circle.classList.toggle("chosen", circle.id === `place${chosen}`);
    }
    for (let i = 0; place && i < place.taken.length; i += 2) {
      const other = places[place.taken[i]];
      const number = floors.findIndex(floor => floor.places.includes(place.taken[i]) && floor.places.includes(Number(chosen)));
      if (other && number >= 0) pieces[number].push(`M${place.x} ${place.y}L${other.x} ${other.y}`);
    }
    pieces.forEach((parts, number) => { byId(`floor${number}mistakes`).setAttribute("d", parts.join("")); });
  }

  const percent = share => `${(100 * share).toFixed(share < 0.01 ? 1 : 0)} %`;

  function sentence(chosen) {
    const place = places[chosen];
    if (!place) return "";
    const others = [];
    for (let i = 0; i < place.taken.length; i += 2) {
      const name = places[place.taken[i]]?.name ?? "another place";
      others.push(`${name} (${percent(place.taken[i + 1])})`);
    }
    const error = place.error === null ? "" : ` The mean error there is ${place.error.toFixed(1)} m.`;
    return `${place.name} is ${others.length ? `mistaken for ${others.join(", ")}` : "not mistaken for another place"}.${error}`;
  }

  function update() {
    const layer = layers[Number(byId("layer").value)], chosen = byId("place").value;
    drawCells(layer);
    writePlaces(layer, byId("beside").value);
    drawMistakes(chosen);
    byId("sentence").textContent = sentence(chosen);
    form.dataset.state = "done";
  }

  form.addEventListener("change", update);
  form.addEventListener("submit", event => event.preventDefault());
  document.addEventListener("click", event => {
    const circle = event.target.closest?.("circle.place");
    if (!circle) return;
    byId("place").value = circle.id.slice("place".length);
    update();
  });
  update();
})();
