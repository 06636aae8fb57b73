// Nested fields of an operation that aren't on its page at first, and searching all of them: fetched when a reader
// first needs them.
(() => {
  "use strict";
  const { words, make, sign } = globalThis.octavoReference;
  const all = (selector) => document.querySelectorAll(selector);

  // Each link in place of nested fields links to the page with all of them, which is fetched once for all links.
  const LATER = "a.openapi-later";
  const take = (text) => {
    const whole = new DOMParser().parseFromString(text, "text/html");
    for (const link of all(LATER)) {
      const fold = whole.getElementById(link.id);
      if (!fold) continue;
      for (const part of fold.querySelectorAll("[role=tab], [role=tabpanel]")) {
        for (const name of ["id", "aria-controls", "aria-labelledby"]) {
          if (part.hasAttribute(name)) part.setAttribute(name, "all-" + part.getAttribute(name));
        }
      }
      const held = link === document.activeElement;
      link.replaceWith(fold);
      if (held) fold.querySelector("summary").focus({ preventScroll: true });
    }
  };
  let taken = null;
  const complete = () => {
    const link = document.querySelector(LATER);
    if (link) {
      taken ||= fetch(link.href).then((got) => {
        if (!got.ok) throw new Error(words.unavailable);
        return got.text();
      }).then(take).finally(() => { taken = null; });
    }
    return taken || Promise.resolve();
  };
  globalThis.octavoAllFields = complete;
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(LATER);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    link.ariaBusy = true;
    complete().then(() => {
      const fold = document.getElementById(link.id);
      fold.open = true;
      fold.querySelector("summary").focus();
    }).catch(() => location.assign(link.href));
  });
  const reach = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch { /* not a URL that this page created */ }
    const there = document.getElementById(id);
    if (!id || (there && !there.matches(LATER))) return;
    complete().then(() => {
      // A field that is shown elsewhere on the page, or nowhere, is next to its parent.
      while (id && !document.getElementById(id)) id = id.slice(0, Math.max(id.lastIndexOf("."), 0));
      const found = document.getElementById(id);
      if (!found) return;
      // Notify the code that unfolds the parents of an anchor, and the style of the link target.
      history.replaceState(history.state, "", location.pathname + location.search);
      location.replace("#" + encodeURIComponent(id));
      found.scrollIntoView();
    }).catch(() => { /* the rest of the page still works */ });
  };
  addEventListener("hashchange", reach);
  reach();
  addEventListener("beforeprint", () => {
    const link = document.querySelector(LATER);
    if (!link) return;
    // Placeholders would not print.
    const asked = new XMLHttpRequest();
    try {
      asked.open("GET", link.href, false);
      asked.send();
      if (asked.status === 200) take(asked.responseText);
    } catch { /* print the fields that are loaded */ }
  });

  const finders = new WeakMap();
  // `magnifier` is the button that opens the search field; `inside` returns the elements of its list.
  globalThis.octavoFind = (magnifier, inside) => {
    if (!finders.has(magnifier)) finders.set(magnifier, build(magnifier, inside));
    finders.get(magnifier)();
  };
  const build = (magnifier, inside) => {
    const input = make("input", { type: "search", "aria-label": words.find_field, placeholder: words.find_field, autocomplete: "off", spellcheck: "false" });
    const told = make("small", { role: "status" });
    const finder = make("span", { class: "api-finder", hidden: true }, sign("search"), input, told);
    let found = [], at = -1, before = [];
    const unmark = () => all(".found-here").forEach((each) => each.classList.remove("found-here"));
    const clear = () => {
      CSS.highlights?.delete("api-found");
      unmark();
    };
    const step = (next) => {
      if (!found.length) return;
      at = (next + found.length) % found.length;
      const element = found[at].startContainer.parentElement;
      for (let up = element; up; up = up.parentElement) {
        if (up.matches("details")) up.open = true;
        if (up.matches("[role=tabpanel][hidden]")) document.getElementById(up.getAttribute("aria-labelledby"))?.click();
      }
      unmark();
      element.closest("li")?.classList.add("found-here");
      element.scrollIntoView({ block: "center" });
      told.textContent = at + 1 + " / " + found.length;
    };
    const search = () => {
      clear();
      const query = input.value.trim().toLowerCase();
      found = [];
      at = -1;
      told.textContent = "";
      if (!query) return;
      for (const element of inside(".openapi-name code:first-child, .openapi-fields li > p:not(.openapi-name)")) {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const text = walker.currentNode.data.toLowerCase();
          for (let from = text.indexOf(query); from >= 0; from = text.indexOf(query, from + query.length)) {
            const range = new Range();
            range.setStart(walker.currentNode, from);
            range.setEnd(walker.currentNode, from + query.length);
            found.push(range);
          }
        }
      }
      if (CSS.highlights && found.length) CSS.highlights.set("api-found", new Highlight(...found));
      told.textContent = "0";
      step(0);
      input.focus({ preventScroll: true });
    };
    const close = () => {
      clear();
      input.value = told.textContent = "";
      before.forEach(([each, isOpen]) => { each.open = isOpen; });
      finder.hidden = true;
      magnifier.hidden = false;
      magnifier.focus();
    };
    input.addEventListener("input", search);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      if (event.key === "Escape") close();
      else step(at + (event.shiftKey ? -1 : 1));
    });
    magnifier.before(finder);
    return () => {
      before = inside("details").map((each) => [each, each.open]);
      magnifier.hidden = true;
      finder.hidden = false;
      input.focus();
    };
  };
})();
