// Finding a field among those of an operation: fetched when somebody first wants to.
(() => {
  "use strict";
  const { words, make, sign } = globalThis.octavoReference;
  const all = (selector) => document.querySelectorAll(selector);
  const finders = new WeakMap();
  // `magnifier` is the button that opens the field for what is looked for; `inside` gives the elements of its list.
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
