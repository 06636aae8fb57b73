// Enhancements of pages; without this script they are complete, but simpler.
(() => {
  "use strict";
  const doc = document, root = doc.documentElement;
  const all = (selector, from = doc) => [...from.querySelectorAll(selector)];
  const one = (selector, from = doc) => from.querySelector(selector);
  const on = (kind, selector, act) => doc.addEventListener(kind, (event) => {
    const found = event.target.closest?.(selector);
    if (found) act(found, event);
  });
  const make = (name, attributes = {}, ...inside) => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value != null) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const store = (area, key, value) => {
    try {
      if (value === undefined) return area().getItem("octavo-" + key);
      area().setItem("octavo-" + key, value);
    } catch { /* storage may be disabled */ }
    return null;
  };
  const local = () => localStorage, session = () => sessionStorage;

  // Theme: system, light, dark
  const themes = ["system", "light", "dark"];
  const toggle = one("[data-theme-toggle]");
  const theme = () => root.dataset.theme || "system";
  const nameTheme = () => {
    const label = toggle.dataset.label + ": " + toggle.dataset.names.split("|")[themes.indexOf(theme())];
    toggle.ariaLabel = toggle.title = label;
  };
  if (toggle) {
    nameTheme();
    toggle.addEventListener("click", () => {
      const next = themes[(themes.indexOf(theme()) + 1) % 3];
      if (next === "system") delete root.dataset.theme;
      else root.dataset.theme = next;
      store(local, "theme", next);
      nameTheme();
    });
  }

  // The side navigation keeps its scroll position across pages
  const side = one(".side");
  if (side) {
    const kept = store(session, "side");
    const current = one("[aria-current=page]", side);
    if (kept) side.scrollTop = +kept;
    if (current?.checkVisibility({ visibilityProperty: true })) {
      const box = current.getBoundingClientRect(), frame = side.getBoundingClientRect();
      if (box.top < frame.top || box.bottom > frame.bottom) side.scrollTop += box.top - frame.top - frame.height / 3;
    }
    addEventListener("pagehide", () => store(session, "side", side.scrollTop));
  }

  // Scroll the current tab into view
  const tabs = one(".sections"), here = tabs && one(".current, [aria-current]", tabs);
  if (here && tabs.scrollWidth > tabs.clientWidth) {
    const box = here.getBoundingClientRect(), frame = tabs.getBoundingClientRect();
    tabs.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
  }

  // The menu on small screens: everything behind it is inert
  const menu = one(".menu");
  if (menu && side) {
    const rest = all("main, .outline, .bottom, .top-inside > :not(.menu)");
    menu.addEventListener("toggle", () => rest.forEach((part) => { part.inert = menu.open; }));
    side.addEventListener("click", (event) => { if (event.target.closest("a")) menu.open = false; });
    matchMedia("(min-width: 768px)").addEventListener("change", () => { menu.open = false; });
    doc.addEventListener("keydown", (event) => {
      if (!menu.open) return;
      const stops = [one("summary", menu), ...all("a, summary, input", side).filter((e) => e.checkVisibility())];
      if (event.key === "Escape") {
        menu.open = false;
        stops[0].focus();
      } else if (event.key === "Tab") {
        const at = stops.indexOf(doc.activeElement) + (event.shiftKey ? -1 : 1);
        stops.at(at % stops.length).focus();
        event.preventDefault();
      }
    });
  }

  // Menus close on Escape, on a click elsewhere, when they lose focus, and when another one opens
  const close = (except) => all("details.picker[open]").forEach((p) => { if (p !== except) p.open = false; });
  for (const kind of ["click", "focusin"]) doc.addEventListener(kind, (event) => close(event.target.closest("details.picker")));
  on("click", ".outline-fold a, .on-page a", (link) => { link.closest("details").open = false; });
  on("keydown", "details.picker[open]", (picker, event) => {
    if (event.key !== "Escape") return;
    picker.open = false;
    one("summary", picker).focus();
  });

  // "On this page" follows the scroll position
  const lines = new Map(all(".outline a").map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
  if (lines.size) {
    const heads = [...lines.keys()].map((id) => doc.getElementById(id)).filter(Boolean);
    const seen = new Set();
    let shown;
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target);
        else seen.delete(entry.target);
      }
      // The current section is that of the last heading above the line, even after a long jump.
      const at = Math.max(heads.findLastIndex((head) => seen.has(head)), 0);
      if (heads[at] === shown) return;
      if (shown) lines.get(shown.id).removeAttribute("aria-current");
      shown = heads[at];
      const line = lines.get(shown.id), box = one(".outline");
      line.setAttribute("aria-current", "true");
      if (box.scrollHeight > box.clientHeight) box.scrollTop = line.offsetTop - box.clientHeight / 2;
    }, { rootMargin: "1000000px 0px -66% 0px" });
    heads.forEach((head) => watcher.observe(head));
  }

  // Tabs: selecting one selects it in all groups that have it, on every page
  const nameOf = (tab) => tab.dataset.slug || tab.textContent.trim().toLowerCase().replaceAll(" ", "-");
  const choose = (tab, { focus = false, keep = true } = {}) => {
    for (const other of tab.parentElement.children) {
      const chosen = other === tab, panel = doc.getElementById(other.getAttribute("aria-controls"));
      other.setAttribute("aria-selected", chosen);
      other.tabIndex = panel.tabIndex = chosen ? 0 : -1;
      if (chosen) panel.removeAttribute("hidden");
      else panel.setAttribute("hidden", "until-found");
    }
    if (focus) tab.focus();
    if (!keep) return;
    const name = nameOf(tab), before = tab.getBoundingClientRect().top;
    const names = (store(local, "tabs") || "").split("\n").filter((n) => n && n !== name).slice(0, 19);
    store(local, "tabs", [name, ...names].join("\n"));
    for (const same of all("[role=tab]")) {
      if (same !== tab && same.parentElement !== tab.parentElement && nameOf(same) === name) choose(same, { keep: false });
    }
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
  };
  const chosen = (store(local, "tabs") || "").split("\n");
  if (chosen[0]) for (const strip of all("[role=tablist]")) {
    const ranks = [...strip.children].map((t) => chosen.indexOf(nameOf(t)));
    const best = Math.min(...ranks.filter((r) => r >= 0));
    if (best < Infinity) choose(strip.children[ranks.indexOf(best)], { keep: false });
  }
  on("click", "[role=tab]", (tab) => choose(tab));
  on("click", "[data-select]", ({ dataset }) => {
    const tab = all("[role=tab]").find((one) => nameOf(one) === dataset.select);
    if (tab) choose(tab);
  });
  on("keydown", "[role=tab]", (tab, event) => {
    const tabs = [...tab.parentElement.children], step = getComputedStyle(tab).direction === "rtl" ? -1 : 1;
    const at = { ArrowRight: tabs.indexOf(tab) + step, ArrowLeft: tabs.indexOf(tab) - step, Home: 0, End: -1 }[event.key];
    if (at === undefined) return;
    event.preventDefault();
    choose(tabs.at(at % tabs.length), { focus: true });
  });
  const reveal = (element) => {
    for (let up = element; up; up = up.parentElement) {
      if (up.matches("details")) up.open = true;
      if (up.matches("[role=tabpanel][hidden]")) choose(doc.getElementById(up.getAttribute("aria-labelledby")), { keep: false });
    }
  };
  doc.addEventListener("beforematch", (event) => reveal(event.target));
  const land = () => {
    const target = location.hash && doc.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.matches("details")) target.open = true;
    if (target.checkVisibility()) return;
    reveal(target);
    target.scrollIntoView();
  };
  addEventListener("hashchange", land);
  land();

  // Copying, folding
  // Without TLS, or if the clipboard is refused, only the old API works. The text is placed next to the button,
  // because text outside an open dialog can't be selected.
  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const box = make("textarea", { class: "hidden-text", readonly: "" }, text);
      button.after(box);
      box.select();
      const done = doc.execCommand("copy");
      box.remove();
      button.focus();
      return done;
    }
  };
  const copied = async (button, text) => {
    if (!await copy(button, text)) return;
    const label = button.ariaLabel, words = button.childElementCount ? null : button.textContent;
    button.classList.add("done");
    if (label && button.dataset.done) button.ariaLabel = button.title = button.dataset.done;
    if (words) button.textContent = button.dataset.done;
    setTimeout(() => {
      button.classList.remove("done");
      if (label) button.ariaLabel = button.title = label;
      if (words) button.textContent = words;
    }, 1600);
  };
  globalThis.octavoCopied = copied;
  on("click", "[data-copy]", (button) => {
    const source = button.dataset.copy ? one(button.dataset.copy) : one("code", button.closest(".code"));
    copied(button, source.textContent);
  });
  on("click", "[data-copy-from]", async (button) => copied(button, await (await fetch(button.dataset.copyFrom)).text()));
  on("click", "[data-copy-text]", (button) => copied(button, button.dataset.copyText));
  on("click", "[data-print]", (button) => {
    button.closest("details").open = false;
    print();
  });
  on("click", ".code-more", (button) => {
    const open = button.closest(".code").classList.toggle("open");
    button.ariaExpanded = open;
    button.textContent = open ? button.dataset.less : button.dataset.more;
  });

  // Zoomed images, players
  on("click", "a.zoom", (link, event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const shown = all("img", link).find((i) => i.checkVisibility());
    const viewer = make("dialog", { class: "viewer", "aria-label": shown.alt || null }, make("img", { src: shown.currentSrc || shown.src, alt: shown.alt }));
    viewer.addEventListener("click", () => viewer.close());
    viewer.addEventListener("close", () => viewer.remove());
    doc.body.append(viewer);
    viewer.showModal();
  });
  on("click", "a.player", (link, event) => {
    event.preventDefault();
    const frame = make("iframe", {
      src: link.dataset.frame, title: link.dataset.title, class: [...link.classList].at(-1),
      allow: "fullscreen; picture-in-picture; encrypted-media; clipboard-write", referrerpolicy: "strict-origin-when-cross-origin",
      sandbox: "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-forms",
    });
    link.replaceWith(frame);
    frame.focus();
  });

  // Search
  const box = one(".search-box[data-search]"), finder = one("dialog.finder");
  if (box && finder) {
    const input = one("input", finder), found = one("#found"), status = one("[role=status]", finder);
    const answers = new Map();
    let at = -1, moved = false, wanted = "", timer;
    const recent = () => (store(local, "recent") || "").split("\n").filter(Boolean);
    const remember = () => {
      const words = input.value.trim();
      if (words) store(local, "recent", [words, ...recent().filter((r) => r !== words)].slice(0, 5).join("\n"));
    };
    const rows = () => all("a", found);
    const point = (next) => {
      const links = rows();
      at = links.length ? (next + links.length) % links.length : -1;
      links.forEach((link, i) => link.setAttribute("aria-selected", i === at));
      if (at >= 0) links[at].scrollIntoView({ block: "nearest" });
      if (at >= 0) input.setAttribute("aria-activedescendant", links[at].id);
      else input.removeAttribute("aria-activedescendant");
    };
    const parts = (excerpt) => (excerpt || []).map((p) => (p.marked ? make("mark", {}, p.text) : p.text));
    const row = (href, title, path, excerpt, deep) => make("a", { href, role: "option", class: deep ? "deep" : null, tabindex: -1 },
      ...(path ? [make("small", {}, path)] : []), make("b", {}, title), ...(excerpt?.length ? [make("span", {}, ...parts(excerpt))] : []));
    const wordRow = (word) => {
      const link = row("?q=" + encodeURIComponent(word), word);
      link.dataset.word = word;
      return link;
    };
    // ask.js adds questions here.
    const asks = (link, query) => {
      link.href = finder.dataset.ask + "?q=" + encodeURIComponent(query);
      link.dataset.query = query;
      one("b", link).textContent = finder.dataset.askThis.replace("{query}", query);
      return link;
    };
    const askRow = (query) => {
      if (!finder.dataset.ask) return [];
      const link = row("", "");
      link.className = "ask";
      link.dataset.action = "ask";
      return [asks(link, query)];
    };
    const show = (nodes, said = "", start = 0) => {
      if (!input.value.trim()) chips.replaceChildren();
      // A late response must not move the reader away from the selected row.
      const same = (link) => link?.dataset.action || link?.href, kept = moved && same(rows()[at]);
      found.replaceChildren(...nodes);
      rows().forEach((link, i) => { link.id = "found-" + i; });
      input.setAttribute("aria-expanded", rows().length > 0);
      status.textContent = said;
      const again = kept ? rows().findIndex((link) => same(link) === kept) : -1;
      point(again >= 0 ? again : rows()[0]?.dataset.word ? -1 : start);
      if (at < 0) rows().forEach((l) => l.setAttribute("aria-selected", "false"));
    };
    const idle = () => {
      const words = recent();
      show(words.length ? [make("p", {}, finder.dataset.recent), ...words.map(wordRow)] : []);
    };
    // API results: operations, fields, and models, a few of each until one kind is selected
    let kind = "";
    const kinds = () => JSON.parse(finder.dataset.kinds);
    const chips = make("div", { class: "kinds", role: "group", "aria-label": finder.ariaLabel });
    found.before(chips);
    const lit = (text) => {
      const wanted = input.value.trim().split(/[\s/{}.]+/).filter((word) => word.length > 1).map((word) => word.replace(/[\\^$*+?()[\]|]/g, "\\$&"));
      return wanted.length ? text.split(new RegExp("(" + wanted.join("|") + ")", "i")).map((part, number) => ({ text: part, marked: number % 2 > 0 })) : [{ text }];
    };
    const apiRow = (hit) => {
      const link = row(hit.href, "", null, hit.path || hit.about ? lit(hit.path || hit.about) : null);
      link.classList.add("api");
      one("b", link).append(...parts(lit(hit.title)));
      if (hit.method) {
        link.prepend(make("em", { class: "method " + hit.method }, hit.method === "delete" ? "DEL" : hit.method.toUpperCase()));
        link.dataset.try = hit.href.replace(/#.*/, "") + "#try";
        link.append(make("i", { "aria-hidden": "true" }, finder.dataset.tryIt, make("kbd", {}, "Alt ↵")));
      }
      return link;
    };
    const apiNodes = (answer, pages) => {
      const groups = ["operations", "fields", "models"].map((name) => [name, (answer[name] || []).map(apiRow)]).concat([["pages", pages]]);
      const full = groups.filter(([, rows]) => rows.length);
      chips.replaceChildren();
      if (full.length < 2 && (!full[0] || full[0][0] === "pages")) return pages;
      if (!full.some(([name]) => name === kind)) kind = "";
      chips.append(...[["", []], ...full].map(([name, rows]) => {
        const chip = make("button", { type: "button", "aria-pressed": name === kind }, kinds()[name || "all"], ...(name ? [" ", make("small", {}, name === "pages" ? answer.hits.length : rows.length)] : []));
        chip.addEventListener("click", () => { kind = name; draw(answer); input.focus(); });
        return chip;
      }));
      return [...full.filter(([name]) => !kind || name === kind).flatMap(([name, rows]) => [make("p", {}, kinds()[name]), ...(kind || name === "pages" ? rows : rows.slice(0, 3))])];
    };
    const draw = (answer) => {
      const pages = answer.hits.flatMap((hit) => [
        row(hit.href, hit.title, (hit.crumbs || []).join(" › "), hit.excerpt),
        ...(hit.sections || []).map((s) => row(s.href, s.title, null, s.excerpt, true)),
      ]);
      const nodes = apiNodes(answer, pages);
      const first = askRow(answer.query), start = /[?？؟]$/.test(answer.query) ? 0 : first.length;
      if (nodes.length) return show([...first, ...nodes], finder.dataset.count.replace("{count}", answer.hits.length), start);
      const none = finder.dataset.none.replace("{query}", answer.query);
      const near = (answer.suggestions || []).map(wordRow);
      show([...first, make("p", {}, near.length ? none + ". " + finder.dataset.near + ":" : none), ...near], none);
    };
    const ask = async () => {
      const query = wanted = input.value.trim();
      if (!query) return idle();
      if (!answers.has(query)) {
        const got = await fetch(box.dataset.search + "?q=" + encodeURIComponent(query)).catch(() => null);
        if (!got?.ok) return;
        answers.set(query, await got.json());
      }
      if (query === wanted) draw(answers.get(query));
    };
    const open = (query) => {
      if (!finder.open) finder.showModal();
      if (query) input.value = query;
      input.select();
      ask();
    };
    input.addEventListener("input", () => {
      // Search requests are debounced, but the question is always the current input.
      const asking = one(".ask", found), query = input.value.trim();
      moved = false;
      if (asking && query) asks(asking, query);
      clearTimeout(timer);
      timer = setTimeout(ask, answers.has(input.value.trim()) ? 0 : 40);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        moved = true;
        point(event.key === "ArrowDown" ? at + 1 : Math.max(at, 0) - 1);
      } else if (event.key === "Escape") {
        event.preventDefault(); // a search field would only empty itself
        finder.close();
      } else if (event.key === "Enter" && at >= 0) {
        event.preventDefault();
        remember();
        if (event.altKey && rows()[at].dataset.try) location.href = rows()[at].dataset.try;
        else rows()[at].click();
      }
    });
    found.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link) return;
      remember();
      if (link.dataset.action) return;
      if (link.dataset.word) {
        event.preventDefault();
        open(link.dataset.word);
      } else {
        tell({ type: "search_open_result", query: wanted, path: link.pathname });
        finder.close();
      }
    });
    finder.addEventListener("click", (event) => { if (event.target === finder) finder.close(); });
    one("form", finder).addEventListener("submit", remember);
    const field = one("input", box);
    field.addEventListener("pointerdown", (event) => { event.preventDefault(); open(field.value); });
    field.addEventListener("input", () => { const typed = field.value; field.value = ""; open(); input.value = typed; ask(); });
    doc.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      if ((event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) || (event.key === "/" && !typing)) {
        event.preventDefault();
        open();
      }
    });
    on("click", "[data-action=search]", (link, event) => { event.preventDefault(); open(link.dataset.query); });
    const asked = new URLSearchParams(location.search).get("q");
    if (asked && !one(".search-form")) open(asked);
  }

  // Prefetch the next page while the pointer rests, if the browser doesn't follow the page's speculation rules
  const fetched = new Set();
  if (!HTMLScriptElement.supports?.("speculationrules")) on("pointerover", "a[href]", (link) => {
    const { origin, pathname, search } = link;
    if (origin !== location.origin || pathname === location.pathname || search || link.download || pathname.includes("/~")) return;
    const timer = setTimeout(() => {
      if (fetched.has(pathname) || navigator.connection?.saveData) return;
      fetched.add(pathname);
      doc.head.append(make("link", { rel: "prefetch", href: pathname }));
    }, 65);
    link.addEventListener("pointerleave", () => clearTimeout(timer), { once: true });
  });

  // Events that the server doesn't see: prefetched pages that were opened, external links
  const seen = doc.body.dataset.seen;
  const tell = (what) => seen && navigator.sendBeacon?.(seen, new Blob([JSON.stringify(what)], { type: "application/json" }));
  if (performance.getEntriesByType("navigation")[0]?.deliveryType === "navigational-prefetch") tell({ type: "page_view" });
  const places = { announcement: ".announcement", header: ".top", sidebar: ".side", footer: ".bottom" };
  on("click", "a[href^=http]", (link) => {
    const position = Object.keys(places).find((name) => link.closest(places[name])) || "content";
    if (link.origin !== location.origin) tell({ type: "link_click", url: link.href, position });
  });

  // Ratings, announcements
  on("submit", "form.feedback", async (form, event) => {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const got = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (got?.type === "opaqueredirect") form.classList.add("rated");
  });
  const note = one("[data-announcement]");
  if (note && store(local, "note") === note.dataset.announcement) note.hidden = true;
  on("click", "[data-dismiss]", () => {
    store(local, "note", note.dataset.announcement);
    note.hidden = true;
  });
})();
