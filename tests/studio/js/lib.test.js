// Numbers, texts, names, arrays and ticks: modules of the studio that need no page.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { bytes, cell, interval, measured, number, percent, portion, sentence } from "../../../src/sslart/studio/static/lib/format.js";
import { freeName, isName } from "../../../src/sslart/studio/static/lib/names.js";
import { readNpy } from "../../../src/sslart/studio/static/lib/npy.js";
import { has, t } from "../../../src/sslart/studio/static/lib/texts.js";
import { ticksOf } from "../../../src/sslart/studio/static/lib/ticks.js";
import { changed, choices, rolesOf, settingsOf } from "../../../src/sslart/studio/static/views/table/roles.js";

const STATIC = fileURLToPath(new URL("../../../src/sslart/studio/static/", import.meta.url));

test("numbers have four digits, and whole numbers all of them", () => {
  assert.equal(number(0.123456), "0.1235");
  assert.equal(number(1234567), "1,234,567");
  assert.equal(number(1.5e-7), "1.50e-7");
  assert.equal(number(2.5e12 + 0.5), "2.50e+12");
  assert.equal(number(-Infinity), "-Infinity");
  for (const nothing of [null, undefined, NaN]) assert.equal(number(nothing), "–");
});

test("a year has no comma", () => {
  assert.equal(measured(2024), "2024");
  assert.equal(measured(20240), "20,240");
  assert.equal(measured(20.245), "20.25");
});

test("shares are never rounded to none or all", () => {
  assert.equal(percent(0.256), "26 %");
  assert.equal(percent(0.256, 1), "25.6 %");
  assert.equal(percent(null), "–");
  assert.equal(portion(0), "0 %");
  assert.equal(portion(0.0001), "under 0.1 %");
  assert.equal(portion(0.004), "0.4 %");
  assert.equal(portion(0.9999), "over 99.9 %");
  assert.equal(portion(1), "100 %");
  assert.equal(interval({ value: 0.5, low: 0.4, high: 0.6 }), "50 % (95 % interval 40 % to 60 %)");
});

test("cells are short texts", () => {
  assert.equal(cell(""), "missing");
  assert.equal(cell(null), "missing");
  assert.equal(cell("2024-05-01 00:00:00"), "2024-05-01");
  assert.equal(cell("2024-05-01 07:30:00"), "2024-05-01 07:30:00");
  assert.equal(cell("abcdef", 3), "abc…");
  assert.equal(cell(0), "0");
  assert.equal(cell(false), "false");
});

test("sizes of files, and sentences", () => {
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(1000), "1.00 kB");
  assert.equal(bytes(12_345_678), "12.3 MB");
  assert.equal(bytes(5e13), "5.00e+4 GB");
  assert.equal(sentence("one more"), "One more");
  assert.equal(sentence(""), "");
});

test("texts have values and forms of number", () => {
  assert.equal(t("common.rows", { n: 1 }), "1 row");
  assert.equal(t("common.rows", { n: 2000 }), "2,000 rows");
  assert.equal(t("common.under", {}), "under {share}");
  assert.ok(has("common.close"));
  assert.ok(!has("common.close.more") && !has("nothing.there"));
  assert.throws(() => t("nothing.there"), /There is no text/);
});

test("every text that a module asks for by name is there", () => {
  const files = readdirSync(STATIC, { recursive: true }).map(String);
  const modules = files.filter((name) => name.endsWith(".js") && !name.startsWith("vendor"));
  assert.ok(modules.length > 80);
  const keys = modules.flatMap((name) => {
    const found = readFileSync(STATIC + name, "utf8").matchAll(/\bt\("([\w.]+)"/g);
    return [...found].map(([, key]) => key);
  });
  assert.ok(keys.length > 300);
  assert.deepEqual(keys.filter((key) => !has(key)), []);
});

test("models get names that are free", () => {
  assert.equal(freeName("my table.csv", []), "my-table");
  assert.equal(freeName("my table.csv", ["my-table", "my-table-2"]), "my-table-3");
  assert.equal(freeName("…", []), "table");
  assert.ok(isName("a.b-c_1") && !isName("-a") && !isName("") && !isName("a/b") && !isName("a".repeat(101)));
});

/** A file of NumPy: the header of version 1, at any length, and the bytes. */
function npy(header, data) {
  const text = `{${header}, }\n`;
  const head = [0x93, ...Buffer.from("NUMPY"), 1, 0, text.length & 255, text.length >> 8];
  return Uint8Array.from([...head, ...Buffer.from(text), ...new Uint8Array(data.buffer)]).buffer;
}

test("arrays of NumPy are read at any place", () => {
  for (const space of ["", " ", "  ", "   "]) {
    const header = `'descr': '<f8',${space} 'fortran_order': False, 'shape': (2, 1)`;
    const { shape, data } = readNpy(npy(header, Float64Array.of(0.5, -2)));
    assert.deepEqual(shape, [2, 1]);
    assert.deepEqual([...data], [0.5, -2]);
  }
  const { data } = readNpy(npy("'descr': '|u1', 'fortran_order': False, 'shape': (3,)", Uint8Array.of(1, 2, 255)));
  assert.deepEqual([...data], [1, 2, 255]);
});

test("what is no array is refused", () => {
  assert.throws(() => readNpy(new Uint8Array(12).buffer), /no \.npy file/);
  for (const header of ["'descr': '<f8', 'fortran_order': True, 'shape': (1,)", "'descr': '<U3', 'fortran_order': False, 'shape': (1,)"]) {
    assert.throws(() => readNpy(npy(header, Float64Array.of(1))), /cannot be read/);
  }
});

test("ticks are round and lie within", () => {
  assert.deepEqual(ticksOf(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticksOf(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticksOf(-7, 12, 4), [-5, 0, 5, 10]);
  assert.deepEqual(ticksOf(0, 10, 4, [1, 2, 2.5, 5, 10]), [0, 2.5, 5, 7.5, 10]);
  assert.deepEqual(ticksOf(3, 3, 5), [3]);
  assert.deepEqual(ticksOf(1e6, 1e6 + 4, 2), [1e6, 1e6 + 2, 1e6 + 4]);
});

test("only one column has a role of which there is one", () => {
  const columns = [{ name: "a", role: "feature", kind: "number" }, { name: "b", role: "label", kind: "text" }, { name: "c", role: "left out", kind: "text" }];
  const roles = rolesOf(columns, { category: ["a"] });
  assert.deepEqual(roles, { a: "category", b: "label", c: "left out" });
  const next = changed(roles, "a", "label");
  assert.deepEqual(next, { a: "label", b: "feature", c: "left out" });
  assert.deepEqual(changed(next, "c", "feature"), { a: "label", b: "feature", c: "feature" });
  const settings = settingsOf(changed(next, "c", "feature"), columns, {});
  assert.deepEqual(settings, { label: "a", id: null, group: null, ignore: [], category: [], use: ["c"] });
  assert.ok(choices(columns[0], "feature").includes("category") && !choices(columns[1], "label").includes("category"));
  assert.equal(choices(columns[2], "left out")[0], "left out");
});
