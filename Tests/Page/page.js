"use strict";

// Loads the page's models into Node as the page does: one script of several files, here without those that only draw.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const folder = join(__dirname, "..", "..", "Sources", "Planning", "Planner", "Page");
const files = ["models.js", "losses.js", "latency.js", "text.js", "drawing.js", "site.js", "geometry.js", "field.js",
  "siteFile.js"];
const script = files.map(file => readFileSync(join(folder, file), "utf8")).join("\n");

module.exports = {
  ...new Function(`${script}\nreturn { models, losses, latency, texts, site, geometry, field, siteFile };`)(),
  vectors: JSON.parse(readFileSync(join(__dirname, "vectors.json"), "utf8")),
  // Within so much of the value.
  isNear: (value, expected, share) => Math.abs(value - expected) <= share * Math.abs(expected),
};
