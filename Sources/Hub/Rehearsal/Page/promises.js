"use strict";

// Shows only the promises of one kind, or the promises whose rows contain some letters. A click on a beacon shows its
// promises.
(() => {
  const byId = id => document.getElementById(id);
  // The column of the kind in the tables of promises.
  const KIND = 2;
  const { kinds } = JSON.parse(byId("data").textContent), tables = [...document.querySelectorAll(".promises")];
  const rows = tables.map(table => [...table.querySelectorAll("tbody tr")].map(row => ({
    row, kind: row.cells[KIND].textContent, text: row.textContent.toLocaleLowerCase(),
  })));

  function update() {
    const kind = byId("kind").value, letters = byId("subject").value.trim().toLocaleLowerCase(), isFiltered = Boolean(kind || letters);
    let shown = 0, all = 0;
    tables.forEach((table, i) => {
      let shownRows = 0;
      for (const { row, kind: rowKind, text } of rows[i]) {
        row.hidden = kind && rowKind !== kind || letters && !text.includes(letters);
        shownRows += Number(!row.hidden);
      }
      table.hidden = !shownRows;
      const folded = table.querySelector("details");
      if (folded && isFiltered) folded.open = true;
      shown += shownRows;
      all += rows[i].length;
    });
    byId("shown").textContent = isFiltered ? `${shown} of ${all} promises are shown.` : "";
  }

  if (!tables.length) return;
  byId("filters").hidden = false;
  byId("kind").append(...kinds.map(name => new Option(name, name)));
  byId("kind").addEventListener("change", update);
  byId("subject").addEventListener("input", update);
  byId("floor")?.addEventListener("click", event => {
    const disc = event.target.closest("circle.disc");
    if (!disc) return;
    byId("subject").value = disc.querySelector("title").textContent.split(":")[0];
    update();
    byId("filters").scrollIntoView({ block: "nearest" });
  });
  update();
})();
