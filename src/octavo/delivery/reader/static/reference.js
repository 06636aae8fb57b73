// Enhancements of API reference pages: samples in other languages, field lists that unfold and can be searched, a
// sticky bar, and the form for trying an operation, which is fetched when first needed.
(() => {
  "use strict";
  const doc = document, own = doc.currentScript.dataset;
  const words = JSON.parse(own.words);
  const all = (selector, from = doc) => [...from.querySelectorAll(selector)];
  const one = (selector, from = doc) => from.querySelector(selector);
  const on = (kind, selector, act) => doc.addEventListener(kind, (event) => {
    const found = event.target.closest?.(selector);
    if (found) act(found, event);
  });
  const make = (name, attributes = {}, ...inside) => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === true) element.setAttribute(key, "");
      else if (value != null && value !== false) element.setAttribute(key, value);
    }
    element.append(...inside);
    return element;
  };
  const sign = (name) => make("span", { class: "i i-" + name, "aria-hidden": "true" });
  const kept = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem("octavo-" + key);
      localStorage.setItem("octavo-" + key, value);
    } catch { /* storage may be disabled */ }
    return null;
  };
  const loading = new Map();
  const load = (src) => {
    if (!loading.has(src)) {
      loading.set(src, new Promise((done, failed) => {
        const script = make("script", { src });
        // In order: each builds on the previous one.
        script.async = false;
        script.addEventListener("load", () => done());
        script.addEventListener("error", () => {
          loading.delete(src);
          failed(new Error(words.unavailable));
        });
        doc.head.append(script);
      }));
    }
    return loading.get(src);
  };

  // Samples: the selected language and library, and the entered values, apply to all of them
  let choice = JSON.parse(kept("sample") || "null");
  const values = JSON.parse(kept("values") || "{}");
  const calls = new WeakMap();
  const bodies = new WeakMap();
  const withBody = (call, text) => text === undefined ? call : { ...call, body: { ...call.body, text } };
  const callOf = (box) => calls.get(box) || withBody(JSON.parse(box.dataset.call), bodies.get(box));
  const withValues = (call) => ({ ...call, params: Object.fromEntries(Object.entries(call.params || {}).map(([name, value]) => [name, values[name] || value])) });
  const ownOf = (box) => JSON.parse(box.dataset.own || "[]");
  const hole = (box) => (name, value) => {
    // If a form has the values, they are edited there.
    if (calls.has(box)) return make("span", { class: "hole" }, value);
    const button = make("button", { type: "button", class: "hole", "data-hole": name }, value);
    button.addEventListener("click", () => change(box, button, name));
    return button;
  };
  const change = (box, button, name) => {
    const input = make("input", { type: "text", class: "hole", "aria-label": name, value: values[name] || callOf(box).params?.[name], spellcheck: "false", autocomplete: "off", maxlength: 200 });
    const end = (isTaken) => {
      if (!input.isConnected) return;
      if (isTaken) {
        values[name] = input.value.trim();
        if (!values[name]) delete values[name];
        kept("values", JSON.stringify(values));
      }
      input.replaceWith(button);
      all(".openapi-sample").forEach((each) => show(each));
      one(`[data-hole="${CSS.escape(name)}"]`, box)?.focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === "Enter");
    });
    input.addEventListener("blur", () => end(true));
    button.replaceWith(input);
    input.size = Math.max(input.value.length, 6);
    input.select();
  };
  const drawSample = (box, call) => {
    const given = ownOf(box), [language, library] = choice || [];
    const samples = globalThis.octavoSamples;
    const written = library === "" || !choice ? given.find(([label]) => label === language) || (choice ? null : given[0]) : null;
    const template = written ? null : samples.find(language || "cURL", library, call) || samples.find("cURL", "", call);
    const source = written ? written[2] : samples.write(template, call, true);
    const lines = [make("span", { class: "line" })];
    for (const node of samples.draw(source, written ? written[1] : template.syntax, hole(box))) {
      const parts = node.nodeType === 1 && !node.className.includes("hole") || node.nodeType === 3 ? node.textContent.split("\n") : null;
      if (!parts || parts.length === 1) lines.at(-1).append(node);
      else parts.forEach((text, number) => {
        if (number) {
          lines.at(-1).append("\n");
          lines.push(make("span", { class: "line" }));
        }
        if (text) lines.at(-1).append(node.nodeType === 3 ? text : samples.element(node.className, text));
      });
    }
    one("code", box).replaceChildren(...lines);
    const shown = written ? [written[0], ""] : [template.language, template.library];
    one("pre", box).setAttribute("aria-label", shown[0]);
    const caption = one(".code-language", box);
    if (caption) caption.textContent = shown[0];
    return shown;
  };
  const mark = (box, [language, library]) => {
    let shown = null;
    for (const button of all("[data-language]", box)) {
      const is = button.dataset.language === language && (button.dataset.library === "") === (library === "");
      button.setAttribute("aria-pressed", is);
      if (is) shown = button;
    }
    const menu = one(".sample-bar > details", box);
    menu?.classList.toggle("chosen", Boolean(shown?.closest("details")));
    // Libraries of the language
    one(".sample-libraries", box)?.remove();
    const libraries = JSON.parse(box.dataset.libraries || "[]").find(([name]) => name === language)?.slice(1);
    if (!libraries || library === "") return;
    const select = make("select", { class: "sample-libraries", "aria-label": language },
      ...libraries.map((name) => make("option", { selected: name === library }, name)));
    select.addEventListener("change", () => choose(language, select.value));
    one(".sample-bar", box).append(select);
  };
  // Show a sample with the given call, or else with its own.
  const show = async (box, call) => {
    if (call) calls.set(box, call);
    await load(own.samples);
    mark(box, drawSample(box, call || withValues(callOf(box))));
  };
  const choose = (language, library) => {
    choice = [language, library];
    kept("sample", JSON.stringify(choice));
    all(".openapi-sample").forEach((box) => show(box, calls.get(box)));
  };
  on("click", "[data-language]", (button) => {
    button.closest("details")?.removeAttribute("open");
    choose(button.dataset.language, button.dataset.library);
  });
  // Named examples: of a body, and of a response
  const chooser = (names, act) => {
    const select = make("select", { "aria-label": words.example }, ...names.map((name, number) => make("option", { value: number }, name)));
    select.addEventListener("change", () => act(Number(select.value)));
    return make("div", { class: "sample-example" }, make("span", { "aria-hidden": "true" }, words.example), select);
  };
  for (const box of all(".openapi-sample[data-examples]")) {
    const given = JSON.parse(box.dataset.examples);
    box.append(chooser(given.map(([name]) => name), (number) => {
      bodies.set(box, given[number][1]);
      show(box);
    }));
  }
  for (const box of all(".openapi-examples")) {
    const shown = [...box.children];
    const choose = (number) => shown.forEach((each, at) => { each.hidden = at !== number; });
    choose(0);
    box.prepend(chooser(JSON.parse(box.dataset.names), choose));
  }
  const boxes = all(".openapi-sample");
  const isOther = (box) => choice && (choice[0] !== "cURL" || ownOf(box).length) || Object.keys(callOf(box).params || {}).some((name) => values[name]);
  boxes.forEach((box) => {
    const first = one("[data-language]", box);
    if (first) mark(box, [first.dataset.language, first.dataset.library]);
    if (isOther(box)) show(box);
  });
  // A click on the path is the first sign that the reader wants to edit it.
  on("pointerover", ".openapi-sample", (box) => { if (!calls.has(box) && !one(".hole", box)) show(box); });
  on("focusin", ".openapi-sample", (box) => { if (!calls.has(box) && !one(".hole", box)) show(box); });

  // Trying: the form covers text and code, and has its own URL, so that Back leaves it
  let panel = null, opener = null;
  const buttons = () => all("[data-try]").filter((button) => !button.closest(".api-bar"));
  const hashOf = (button) => "#try" + (buttons().indexOf(button) > 0 ? "-" + (buttons().indexOf(button) + 1) : "");
  const shut = () => {
    if (!panel) return;
    panel.hidden = true;
    one("main").inert = false;
    doc.documentElement.classList.remove("trying");
    panel = null;
    opener?.setAttribute("aria-expanded", "false");
    opener?.focus({ preventScroll: true });
  };
  const opened = new WeakMap();
  const open = async (button) => {
    shut();
    opener = button;
    button.setAttribute("aria-busy", "true");
    button.parentElement.querySelector(".try-trouble")?.remove();
    try {
      if (!opened.has(button)) {
        if (!one("link[href*='/try.css']")) doc.head.append(make("link", { rel: "stylesheet", href: own.formStyle }));
        const [got] = await Promise.all([fetch(button.dataset.try), load(own.samples), load(own.access), load(own.form)]);
        if (!got.ok) throw new Error(words.unavailable);
        const sample = one(".openapi-sample", button.closest(".openapi-head")?.nextElementSibling?.parentElement || doc);
        const columns = [...button.closest(".prose, body").querySelectorAll(".openapi-columns")];
        const near = columns.find((each) => button.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
        opened.set(button, globalThis.octavoTry(await got.json(), button.dataset.try, one(".openapi-sample", near || doc) || sample));
      }
    } catch {
      button.after(make("p", { class: "try-trouble" }, words.unavailable));
      if (location.hash.startsWith("#try")) history.replaceState(null, "", location.pathname + location.search);
      return;
    } finally {
      button.removeAttribute("aria-busy");
    }
    panel = opened.get(button);
    if (!panel.isConnected) doc.body.append(panel);
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    one("main").inert = true;
    doc.documentElement.classList.add("trying");
    place();
    panel.dispatchEvent(new Event("opened"));
    (one("input:not([type=checkbox]), textarea", panel) || one("button", panel))?.focus({ preventScroll: true });
  };
  const place = () => {
    if (!panel) return;
    const box = one("main").getBoundingClientRect();
    const isBeside = box.left > 200 || box.right < innerWidth - 200;
    panel.style.setProperty("--before", (isBeside ? Math.round(getComputedStyle(panel).direction === "rtl" ? innerWidth - box.right : box.left) - 24 : 0) + "px");
    panel.style.setProperty("--above", Math.max(0, Math.round(one(".top").getBoundingClientRect().bottom)) + "px");
  };
  addEventListener("resize", place);
  const follow = () => {
    const number = /^#try(?:-(\d+))?$/.exec(location.hash);
    const button = number && buttons()[(number[1] || 1) - 1];
    if (button && button !== (panel && opener)) open(button);
    else if (!button) shut();
  };
  const leave = () => {
    if (history.state?.octavoTry) history.back();
    else {
      history.replaceState(null, "", location.pathname + location.search);
      follow();
    }
  };
  addEventListener("popstate", follow);
  on("click", "[data-try]", (button) => {
    const real = button.closest(".api-bar") ? buttons()[0] : button;
    history.pushState({ octavoTry: true }, "", hashOf(real));
    follow();
  });
  doc.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && panel && !event.defaultPrevented && !one("dialog[open], details.picker[open]")) leave();
  });

  // A bar with method, path, and button after the heading has scrolled away; on phones, with the code behind it
  const heads = all(".openapi-head");
  if (heads.length === 1 && one(".openapi-columns")) {
    const [head] = heads, path = one(".endpoint", head).cloneNode(true), button = one("[data-try]", head);
    one(".server", path)?.remove();
    const code = make("button", { type: "button", class: "button secondary small api-code" }, words.code);
    const bar = make("div", { class: "api-bar", hidden: true }, path, code);
    if (button) bar.append(make("button", { type: "button", class: "button primary small", "data-try": button.dataset.try }, sign("play"), words.try_it));
    one("main").append(bar);
    const narrow = matchMedia("(max-width: 767px)");
    const watcher = new IntersectionObserver(([entry]) => {
      bar.classList.toggle("past", !entry.isIntersecting && entry.boundingClientRect.top < 100);
      bar.hidden = !narrow.matches && !bar.classList.contains("past");
    }, { rootMargin: "-60px 0px 0px" });
    watcher.observe(head);
    narrow.addEventListener("change", () => { bar.hidden = !narrow.matches && !bar.classList.contains("past"); });
    // The sheet contains the page's own samples.
    const column = one(".openapi-columns > .column + .column"), home = column?.parentElement;
    doc.documentElement.classList.add("sheets");
    const sheet = make("dialog", { class: "api-sheet", "aria-label": words.code });
    const shutter = make("button", { type: "button", class: "plain", "aria-label": words.close }, sign("close"));
    sheet.append(make("header", {}, make("strong", {}, words.code), shutter));
    doc.body.append(sheet);
    code.hidden = !column;
    code.addEventListener("click", () => {
      sheet.append(column);
      sheet.showModal();
    });
    shutter.addEventListener("click", () => sheet.close());
    sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
    sheet.addEventListener("close", () => home.append(column));
  }

  // Deeper fields are on a page with all of them, which another script fetches
  const later = () => one(".openapi-later");
  const complete = async () => {
    if (!later()) return;
    await load(own.fields);
    await globalThis.octavoAllFields();
  };
  if (later() || (location.hash.includes(".") && !one(":target"))) load(own.fields).catch(() => { /* the links still work */ });

  // Fields: unfold all, find one
  const sections = all(".openapi-columns .openapi-part[data-part]");
  for (const part of sections) {
    const area = [];
    for (let next = part.nextElementSibling; next && !next.matches(".openapi-part[data-part]"); next = next.nextElementSibling) area.push(next);
    const inside = (selector) => area.flatMap((each) => [...(each.matches(selector) ? [each] : []), ...all(selector, each)]);
    const folds = () => inside("details.openapi-fold, details.openapi-more, details.openapi-answer, .openapi-later");
    const count = inside(".openapi-field").length || inside(".openapi-fields > li").length;
    if (!folds().length && count < 12) continue;
    const said = make("span", {}, words.expand_all);
    const unfold = make("button", { type: "button", class: "plain api-tool" }, sign("unfold"), said);
    unfold.addEventListener("click", async () => {
      const isOpen = said.textContent === words.expand_all;
      await complete().catch(() => { /* unfold the fields that are loaded */ });
      for (const each of folds()) {
        let depth = 0;
        for (let up = each.parentElement.closest("details"); up; up = up.parentElement.closest("details")) depth++;
        each.open = isOpen && depth < 4;
      }
      said.textContent = isOpen ? words.fold_all : words.expand_all;
    });
    const tools = make("span", { class: "api-tools" }, unfold);
    part.append(tools);
    if (count < 8) continue;
    const magnifier = make("button", { type: "button", class: "plain api-tool", "aria-label": words.find_field, title: words.find_field }, sign("search"));
    magnifier.addEventListener("click", () => Promise.all([load(own.fields), complete()]).then(() => globalThis.octavoFind(magnifier, inside)).catch(() => { /* the browser's own search still works */ }));
    tools.prepend(magnifier);
  }

  // The filter above the navigation: one list for all pages, fetched on the first input
  const filter = one(".nav-filter"), told = one(".nav-told"), results = one(".nav-found");
  if (filter) {
    const input = one("input", filter), tree = one(".side .tree");
    let listed = null;
    const draw = async () => {
      const parts = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      results.hidden = !parts.length;
      if (tree) tree.parentElement.hidden = parts.length > 0;
      told.textContent = "";
      if (!parts.length) return;
      listed ||= fetch(filter.dataset.filter).then((got) => got.json()).catch(() => { listed = null; return []; });
      const all = await listed, found = all.filter((each) => parts.every((part) => each.slice(0, 3).join(" ").toLowerCase().includes(part)));
      if (results.hidden) return;
      const rows = found.slice(0, 100).map(([method, path, title, href]) => make("li", {}, make("a", { href },
        make("span", {}, title, make("code", {}, path)), make("b", { class: "nav-method " + method.toLowerCase() }, method === "DELETE" ? "DEL" : method))));
      told.textContent = filter.dataset.told.replace("{found}", found.length).replace("{all}", all.length);
      results.replaceChildren(make("ul", { class: "tree" }, ...rows));
    };
    const step = (event) => {
      const links = [...results.querySelectorAll("a")], at = links.indexOf(doc.activeElement);
      const to = { ArrowDown: links[at + 1], ArrowUp: at >= 0 && (links[at - 1] || input), Enter: at < 0 && links[0] }[event.key];
      if (event.key === "Escape" && input.value) {
        event.stopPropagation();
        input.value = "";
        input.focus();
        draw();
      } else if (!to) return;
      else if (event.key === "Enter") to.click();
      else to.focus();
      event.preventDefault();
    };
    input.addEventListener("input", draw);
    input.addEventListener("keydown", step);
    results.addEventListener("keydown", step);
  }

  // Text and code are linked: a field highlights its line, and a line links to its field
  const pathsOf = (lines) => {
    const stack = [];
    return lines.map((line) => {
      const text = line.textContent.trim();
      const key = /^"((?:\\.|[^"\\])*)"\s*:/.exec(text)?.[1];
      if (/^[}\]]/.test(text)) stack.pop();
      const path = [...stack, key].filter((name) => name !== undefined && name !== "[]").join(".");
      if (/[{[]$/.test(text)) stack.push(key ?? "[]");
      return key === undefined ? null : path;
    });
  };
  const codeOf = (id) => {
    const [, status, path] = /^(?:body|response\.(\w+))\.(.+)$/.exec(id) || [];
    if (!path) return [];
    const column = one(".openapi-columns > .column + .column");
    if (!column) return [];
    const code = status
      ? all("[role=tab]", column).map((tab) => tab.textContent.trim() === status && doc.getElementById(tab.getAttribute("aria-controls"))).find(Boolean)
      : one(".openapi-sample", column);
    const lines = code ? all(".line", one(".openapi-examples > figure:not([hidden])", code) || code) : [];
    const begin = status ? 0 : lines.findIndex((line) => /^[{[]$/.test(line.textContent.trim()));
    return begin < 0 ? [] : pathsOf(lines.slice(begin)).map((each, number) => [lines[begin + number], each, path]);
  };
  let lit = [];
  const light = (field) => {
    lit.forEach((line) => line.classList.remove("lit"));
    lit = field ? codeOf(field.id).filter(([, each, path]) => each === path).map(([line]) => line).slice(0, 1) : [];
    lit.forEach((line) => line.classList.add("lit"));
  };
  on("pointerover", ".openapi-columns .column:first-child", (column, event) => light(event.target.closest("li[id]")));
  on("focusin", ".openapi-columns .column:first-child", (column, event) => light(event.target.closest("li[id]")));
  on("click", ".openapi-columns > .column + .column .line .nt", (key) => {
    const line = key.closest(".line"), listing = key.closest("[role=tabpanel]");
    const tab = listing && doc.getElementById(listing.getAttribute("aria-labelledby"));
    const lines = all(".line", line.parentElement);
    const begin = listing ? 0 : lines.findIndex((each) => /^[{[]$/.test(each.textContent.trim()));
    const path = pathsOf(lines.slice(begin))[lines.indexOf(line) - begin];
    const id = (tab ? "response." + tab.textContent.trim() : "body") + "." + path;
    if (path && (doc.getElementById(id) || later())) location.hash = id;
  });
  // The path of a field in code, next to the link to it.
  const pathOf = (field) => {
    const names = [];
    for (let up = field; up; up = up.parentElement.closest(".openapi-fields > li[id]")) {
      const name = one(":scope > .openapi-name > code", up)?.textContent;
      const isList = up !== field && /^array\b/.test(one(":scope > .openapi-name", up).textContent.slice(name.length).trim());
      names.unshift(name + (isList ? "[]" : ""));
    }
    return names.join(".");
  };
  const offerPath = (column, event) => {
    const head = event.target.closest(".openapi-fields > li[id]")?.querySelector(":scope > .openapi-name");
    if (!head || one(":scope > .copy-path", head)) return;
    head.append(make("button", { type: "button", class: "copy-path", "aria-label": words.copy, title: words.copy, "data-done": words.copied, "data-copy-text": pathOf(head.parentElement) }, sign("copy")));
  };
  on("pointerover", ".openapi-columns .column:first-child", offerPath);
  on("focusin", ".openapi-columns .column:first-child", offerPath);
  // A row of a response and its tab open together.
  doc.addEventListener("toggle", (event) => {
    const row = event.target;
    if (!row.matches?.("details.openapi-answer[open]")) return;
    const status = one(".status", row)?.textContent.trim();
    all(".column + .column [role=tab]", row.closest(".openapi-columns")).find((tab) => tab.textContent.trim() === status && tab.ariaSelected !== "true")?.click();
  }, true);

  // The changelog has a separate script
  if (one(".openapi-change")) load(own.changes);

  // An authentication page asks for the reader's credentials
  if (own.asks) load(own.access).then(() => globalThis.octavoAccess.lay(own.asks, own.formStyle)).catch(() => { /* the page is complete without it */ });

  // A separate script filters rows of models and operations
  if (own.models || all(".prose > .openapi-rows > li").length >= 8) {
    if (!own.models) doc.head.append(make("link", { rel: "stylesheet", href: own.rowsStyle }));
    load(own.rows);
  }

  // Keyboard shortcuts: try, copy, expand, next and previous operation
  doc.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, [contenteditable], dialog, .try")) return;
    const act = {
      t: () => buttons()[0]?.click(),
      c: () => one(".openapi-sample .copy")?.click(),
      e: () => one(".api-tools > .api-tool:last-child")?.click(),
      f: () => one(".nav-filter input")?.focus(),
      n: () => one("a[rel=next]")?.click(),
      p: () => one("a[rel=prev]")?.click(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  globalThis.octavoReference = { words, models: own.models, make, sign, show, withValues, values, leave, callOf, copied: globalThis.octavoCopied };
  follow();
})();
