"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  const table = document.getElementById("rule-table");
  const rows = all("tbody tr", table);
  const filters = document.getElementById("rule-filters");

  const more = document.getElementById("rule-more");
  const page = 25;
  let limit = page;

  const matches = (row) => row.dataset.left !== "out";

  function showRules() {
    const kept = rows.filter(matches);
    const shown = new Set(kept.slice(0, limit));
    for (const row of rows) row.hidden = !shown.has(row);
    more.hidden = shown.size === kept.length;
    more.textContent = `Show ${Math.min(page, kept.length - shown.size)} more rules`;
    document.getElementById("rule-status").textContent =
      `${kept.length} of ${rows.length} rules` +
      (kept.length ? "" : ": no rule matches these filters") +
      (more.hidden ? "" : `, the first ${shown.size} shown`);
  }

  function filterRules() {
    const { class: label, feature, confidence, shown } = filters.elements;
    shown.value = `${confidence.value} %`;
    for (const row of rows) {
      const out =
        (label.value !== "" && row.dataset.class !== label.value) ||
        (feature.value !== "" && !row.dataset.features.split(" ").includes(feature.value)) ||
        100 * Number(row.dataset.confidence) < Number(confidence.value) - 1e-9;
      row.dataset.left = out ? "out" : "in";
    }
    limit = page;
    showRules();
  }

  function sortRules(head) {
    const key = head.dataset.key;
    const largestFirst = ["confidence", "support", "members"].includes(key);
    const now = head.getAttribute("aria-sort");
    const descending = now ? now === "ascending" : largestFirst;
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    rows.sort((a, b) => (descending ? -1 : 1) * (a.dataset[key] - b.dataset[key]) || a.dataset.number - b.dataset.number);
    table.tBodies[0].append(...rows);
    showRules();
  }

  function followToRule() {
    const row = rows.find((one) => `#${one.id}` === location.hash);
    if (row && row.hidden) {
      filters.reset();
      for (const one of rows) one.dataset.left = "in";
      limit = Math.ceil((rows.indexOf(row) + 1) / page) * page;
      showRules();
    }
    if (row) row.scrollIntoView({ block: "center" });
  }

  more.addEventListener("click", () => {
    const first = rows.filter(matches)[limit];
    limit += page;
    showRules();
    first.tabIndex = -1;
    first.focus();
  });

  filters.addEventListener("input", filterRules);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.elements.all.addEventListener("click", () => {
    filters.reset();
    filterRules();
  });
  for (const head of all("th[data-key]", table)) head.firstElementChild.addEventListener("click", () => sortRules(head));

  const sampleFilters = document.getElementById("sample-filters");
  const list = document.getElementById("sample-list");
  const items = all("li", list);
  const link = (item) => item.firstElementChild;
  const article = (item) => document.getElementById(link(item).hash.slice(1));
  const visible = () => items.filter((item) => !item.hidden);
  let picked = items[0];

  function pick(item) {
    for (const [one, on] of [[picked, false], [item, true]]) {
      article(one).classList.toggle("picked", on);
      if (on) link(one).setAttribute("aria-current", "true");
      else link(one).removeAttribute("aria-current");
    }
    picked = item;
    const top = item.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 2;
    }
    updateStatus();
  }

  function updateStatus() {
    const shown = visible();
    const index = shown.indexOf(picked);
    for (const item of items) link(item).tabIndex = item === (index < 0 ? shown[0] : picked) ? 0 : -1;
    const { previous, next } = sampleFilters.elements;
    previous.disabled = index <= 0;
    next.disabled = index < 0 || index === shown.length - 1;
    document.getElementById("sample-status").textContent = shown.length
      ? `Sample ${link(picked).hash.slice(8)}: ${index + 1} of ${shown.length} shown`
      : "No sample matches these filters";
  }

  function pickByHand(item) {
    pick(item);
    history.replaceState(null, "", link(item).hash);
  }

  function filterSamples() {
    const state = sampleFilters.elements.state.value;
    const wanted = sampleFilters.elements.find.value.trim().toLowerCase();
    const byNumber = /^\d+$/.test(wanted);
    for (const item of items) {
      const text = link(item).textContent.toLowerCase();
      item.hidden =
        (state !== "" && !item.dataset.states.split(" ").includes(state)) ||
        (byNumber ? !link(item).hash.slice(8).startsWith(wanted) && !text.includes(wanted) : !text.includes(wanted));
    }
    const shown = visible();
    const exact = shown.find((item) => link(item).hash === `#sample-${wanted}`);
    if (exact || (shown.length && !shown.includes(picked))) pickByHand(exact || shown[0]);
    else updateStatus();
  }

  function step(by) {
    const shown = visible();
    const item = shown[shown.indexOf(picked) + by];
    if (item) pickByHand(item);
  }

  function follow() {
    const item = items.find((one) => link(one).hash === location.hash);
    if (item) {
      if (item.hidden) {
        sampleFilters.reset();
        filterSamples();
      }
      pick(item);
      article(item).scrollIntoView({ block: "nearest" });
    }
  }

  sampleFilters.addEventListener("input", filterSamples);
  sampleFilters.addEventListener("submit", (event) => event.preventDefault());
  sampleFilters.elements.previous.addEventListener("click", () => step(-1));
  sampleFilters.elements.next.addEventListener("click", () => step(1));
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) {
      event.preventDefault();
      pickByHand(item);
    }
  });
  list.addEventListener("keydown", (event) => {
    const shown = visible();
    const here = shown.indexOf(event.target.closest("li"));
    const targets = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: shown.length - 1 };
    const item = shown[targets[event.key]];
    if (item) {
      event.preventDefault();
      pickByHand(item);
      link(item).focus();
    }
  });
  addEventListener("hashchange", follow);
  addEventListener("hashchange", followToRule);
  addEventListener("beforeprint", () => all("main > section > details").forEach((part) => (part.open = true)));
  filterRules();
  followToRule();
  pick(picked);
  follow();
})();
