"use strict";

// Loads the page's models into Node as the page does: one script of several files, here without those that only draw.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const sources = join(__dirname, "..", "..", "Sources");
const planner = ["models.js", "losses.js", "latency.js", "text.js", "drawing.js", "site.js", "geometry.js", "field.js",
  "siteFile.js", "labels.js"].map(file => join("Planning", "Planner", "Page", file));
const files = [...planner, join("Hub", "Rehearsal", "Page", "replay.js")];
const script = files.map(file => readFileSync(join(sources, file), "utf8")).join("\n");

module.exports = {
  ...new Function(`${script}\nreturn { models, losses, latency, texts, site, geometry, field, siteFile, labels, replay };`)(),
  vectors: JSON.parse(readFileSync(join(__dirname, "vectors.json"), "utf8")),
  // Within so much of the value.
  isNear: (value, expected, share) => Math.abs(value - expected) <= share * Math.abs(expected),
};
