// Rows of models and operations: filtered by text and by kind. Content for browsers without scripts is hidden in the
// meantime and stays unchanged.
(() => {
  "use strict";
  const { words, make, sign, models: known } = globalThis.octavoReference;
  const doc = document;
  const all = (selector, from = doc) => [...from.querySelectorAll(selector)];
  const one = (selector, from = doc) => from.querySelector(selector);

  const rowsOf = (label, kinds, draw) => {
    const text = one(".prose"), parts = [...text.children];
    const input = make("input", { type: "search", "aria-label": label, placeholder: label, autocomplete: "off", spellcheck: "false" });
    const told = make("small", { role: "status" });
    const switches = kinds.map((group) => make("div", { class: group.chips ? "row-chips" : "change-kinds", role: "group", "aria-label": group.label }, ...group.entries.map(([kind, ...shown]) =>
      make("button", { type: "button", "data-kind": kind, "aria-pressed": String(kind === group.first) }, ...shown))));
    const finder = make("span", { class: "api-finder" }, sign("search"), input, told);
    const tools = make("div", { class: "row-tools" }, finder, ...switches);
    const results = make("div", { class: "row-results", hidden: true });
    const state = () => switches.map((each) => one("[aria-pressed=true]", each)?.dataset.kind || "");
    const update = async () => {
      const query = input.value.trim().toLowerCase();
      const made = await draw(query, state());
      if (query !== input.value.trim().toLowerCase()) return;
      told.textContent = made ? made.said : "";
      results.replaceChildren(...(made ? made.nodes : []));
      results.hidden = !made;
      for (const part of parts) part.hidden = Boolean(made) && !part.matches(".row-letters, .row-lead");
    };
    input.addEventListener("input", update);
    for (const each of switches) each.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const was = button.ariaPressed === "true";
      for (const other of each.children) other.ariaPressed = "false";
      button.ariaPressed = String(each.matches(".row-chips") ? !was : true);
      update();
    });
    const step = (event) => {
      const links = [...results.querySelectorAll("a")], at = links.indexOf(doc.activeElement);
      if (event.key === "Escape" && input.value) {
        event.preventDefault();
        input.value = "";
        input.focus();
        update();
      } else if (event.key === "Enter" && doc.activeElement === input && links.length) {
        event.preventDefault();
        links[0].click();
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (at >= 0 || doc.activeElement === input)) {
        event.preventDefault();
        (links[at + (event.key === "ArrowDown" ? 1 : -1)] || (event.key === "ArrowUp" ? input : links.at(-1)))?.focus();
      }
    };
    input.addEventListener("keydown", step);
    results.addEventListener("keydown", step);
    return { tools, results, text, update };
  };
  const marked = (text, query) => {
    const at = query ? text.toLowerCase().indexOf(query) : -1;
    return at < 0 ? [text] : [text.slice(0, at), make("mark", {}, text.slice(at, at + query.length)), text.slice(at + query.length)];
  };

  const models = () => {
    const first = one(".prose > .openapi-models");
    if (!first || !known) return;
    let listed = null;
    const head = one("thead", first);
    const table = (rows) => make("div", { class: "table openapi-models" }, make("table", {}, head.cloneNode(true), make("tbody", {}, ...rows)));
    const row = (query, [name, href, kind, about, users, , fields], within) => {
      const found = within ? fields.filter((field) => field.toLowerCase().includes(query)) : [];
      const said = found.length ? found.slice(0, 3).flatMap((field, at) => [...(at ? [", "] : []), make("code", {}, ...marked(field, query))]).concat(found.length > 3 ? [" +" + (found.length - 3)] : [])
        : [...(kind ? [make("code", {}, kind), " "] : []), about];
      return make("tr", {}, make("td", {}, make("a", { href }, ...marked(name, query))), make("td", {}, ...said),
        make("td", { class: "align-end" }, String(fields.length || "–")), make("td", { class: "align-end" }, String(users || "–")));
    };
    const kinds = [{ label: words.find_model, first: "", entries: [["", words.all_kinds], ["s", words.models_sent], ["a", words.models_answered], ["e", words.models_events]] }];
    const { tools, results, text } = rowsOf(words.find_model, kinds, async (query, [kind]) => {
      if (!query && !kind) return null;
      listed ||= fetch(known).then((got) => got.json()).catch(() => { listed = null; return []; });
      const all = await listed, found = [[], [], []];
      for (const each of all) {
        if (kind && !each[5].includes(kind)) continue;
        const at = each[0].slice(each[0].lastIndexOf(".") + 1).toLowerCase().startsWith(query) ? 0 : each[0].toLowerCase().indexOf(query);
        if (at === 0) found[0].push(row(query, each));
        else if (at > 0) found[1].push(row(query, each));
        else if (each[6].some((field) => field.toLowerCase().includes(query))) found[2].push(row(query, each, true));
      }
      const titles = ["", words.found_inside, words.found_field];
      const nodes = found.flatMap((rows, at) => rows.length ? [...(titles[at] ? [make("p", { class: "row-title" }, titles[at])] : []), table(rows.slice(0, 150)), ...(rows.length > 150 ? [make("p", { class: "row-title" }, "+ " + (rows.length - 150))] : [])] : []);
      return { nodes, said: found.flat().length + " / " + all.length };
    });
    const letters = text.firstElementChild;
    if (letters.matches("p")) {
      letters.classList.add("row-letters");
      tools.append(letters);
    }
    text.prepend(tools, results);
  };
  models();

  const operations = () => {
    // Folded lists, such as operations that need a scope, aren't lists of this page's operations.
    if (!one(".prose > .openapi-rows")) return;
    const lists = all(".openapi-rows"), items = lists.flatMap((list) => [...list.children]);
    if (items.length < 8) return;
    const entries = items.map((item, number) => {
      const path = one("code", item).textContent, method = one(".method", item).textContent;
      const fixed = path.replace("…", "").split("/").filter((step) => step && !step.startsWith("{"));
      return { item, number, path, method, resource: fixed.at(-1) || "/", text: item.textContent.toLowerCase() };
    });
    const count = (values) => values.reduce((sums, value) => sums.set(value, (sums.get(value) || 0) + 1), new Map());
    const order = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    const methods = [...count(entries.map((each) => each.method))].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)), resources = count(entries.map((each) => each.resource));
    const groups = [...resources].filter(([, sum]) => sum > 1).length;
    const above = one(".openapi-above");
    const kinds = [
      ...(methods.length > 1 ? [{ chips: true, label: words.find_operation, entries: methods.map(([method, sum]) => [method, make("b", { class: "nav-method " + method.toLowerCase() }, method === "DELETE" ? "DEL" : method), " " + sum]) }] : []),
      // Events have names instead of paths.
      ...(entries.some((each) => each.path.includes("/")) ? [{ label: words.by_resource, first: groups > 1 && entries.length <= 120 ? "resource" : "", entries: [["resource", words.by_resource], ["path", words.by_path], ["", words.as_written]] }] : []),
    ];
    const copy = ({ item }) => {
      const made = item.cloneNode(true);
      made.removeAttribute("id");
      return made;
    };
    const list = (found) => make("ul", { class: "openapi-rows" }, ...found.map(copy));
    const { tools, results, text, update } = rowsOf(words.find_operation, kinds, (query, chosen) => {
      const method = methods.length > 1 ? chosen[0] : "", order = chosen.at(-1);
      if (!query && !method && !order) return null;
      const parts = query.split(/\s+/);
      const found = entries.filter((each) => (!method || each.method === method) && parts.every((part) => each.text.includes(part)));
      const said = query || method ? found.length + " / " + entries.length : "";
      const before = above ? [above.cloneNode(true)] : [];
      if (order === "path") found.sort((a, b) => a.path.localeCompare(b.path) || a.number - b.number);
      if (order !== "resource") return { nodes: [...before, list(found)], said };
      const named = Map.groupBy ? Map.groupBy(found, (each) => each.resource) : found.reduce((map, each) => map.set(each.resource, [...(map.get(each.resource) || []), each]), new Map());
      const name = (resource) => (resource[0].toUpperCase() + resource.slice(1)).replaceAll(/[_-]+/g, " ");
      return { nodes: [...before, ...[...named].flatMap(([resource, rows]) => [make("p", { class: "row-title" }, name(resource) + " ", make("small", {}, String(rows.length))), list(rows)])], said };
    });
    // The description of the tag remains above the rows.
    const start = lists[0].previousElementSibling === above && above ? above : lists[0];
    for (let lead = start.previousElementSibling; lead; lead = lead.previousElementSibling) lead.classList.add("row-lead");
    start.before(tools, results);
    update();
  };
  if (!one(".openapi-head, .openapi-change, .openapi-answer")) operations();
})();
