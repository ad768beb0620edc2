"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { texts, vectors } = require("./page.js");

test("numbers are written as the program writes them", () => {
  for (const { value, significant, percent, duration } of vectors.texts) {
    assert.equal(texts.digits(value), significant);
    assert.equal(texts.percent(value), percent, `${value}`);
    assert.equal(texts.duration(value), duration);
  }
});

test("what is no number is a dash", () => {
  for (const value of [null, undefined, NaN, Infinity]) {
    for (const write of [texts.digits, texts.percent, texts.duration, texts.milliseconds]) assert.equal(write(value), "–");
  }
});
