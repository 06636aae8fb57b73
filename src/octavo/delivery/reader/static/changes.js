// Changelog of an API: each version next to its changes. Two versions select the range; one section can be shown alone.
(() => {
  "use strict";
  const { words, make } = globalThis.octavoReference;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);

  const changes = () => {
    const text = one(".prose:has(> .openapi-change)");
    if (!text) return;
    const releases = [];
    for (const node of text.children) {
      const release = releases.at(-1);
      if (node.matches("h2")) releases.push({ name: node.textContent.trim(), nodes: [node], parts: [] });
      else if (node.matches("h3")) release?.parts.push({ kind: node.textContent.trim(), nodes: [node] });
      else (release?.parts.at(-1) || release)?.nodes.push(node);
    }
    const count = (part) => part.nodes.reduce((sum, node) => sum + (node.matches(".openapi-change") ? 1 : node.matches(".openapi-rows") ? node.children.length : all(".openapi-change, .openapi-rows > li", node).length), 0);
    // Each version next to its changes, with its date below it.
    for (const release of releases) {
      const title = release.nodes[0], said = title.firstChild?.data ?? "", cut = said.indexOf(", ");
      if (cut > 0) title.firstChild.replaceWith(said.slice(0, cut), make("small", {}, said.slice(cut + 2)));
      release.box = make("section", { class: "release" });
      title.before(release.box);
      const about = make("div", { class: "release-parts" }), head = make("div", { class: "release-head" }, ...release.nodes);
      for (const part of release.parts) about.append(...part.nodes);
      release.box.append(head, about);
      if (release.nodes.length > 1) release.parts[0]?.nodes[0].classList.add("breaks");
      for (const part of release.parts) if (part.nodes[1]?.matches(".openapi-rows, .openapi-above")) part.nodes[0].classList.add("adds");
    }
    const sums = new Map();
    for (const part of releases.flatMap((release) => release.parts)) sums.set(part.kind, (sums.get(part.kind) || 0) + count(part));
    const span = (word, chosen) => make("label", {}, words[word] + " ", make("select", { "data-span": word }, ...releases.map((release, number) => {
      const option = make("option", { value: number }, release.name);
      option.selected = number === chosen;
      return option;
    })));
    const kinds = make("div", { class: "change-kinds", role: "group" }, ...[["", [...sums.values()].reduce((a, b) => a + b, 0)], ...sums].map(([kind, sum]) =>
      make("button", { type: "button", "data-kind": kind, "aria-pressed": String(!kind) }, (kind || words.all_kinds) + " ", make("small", {}, String(sum)))));
    const tools = make("div", { class: "change-tools" }, ...(releases.length > 1 ? [span("changes_from", releases.length - 1), span("changes_to", 0)] : []), kinds);
    let kind = "";
    const update = () => {
      const [from, to] = releases.length > 1 ? all("select", tools).map((each) => Number(each.value)) : [0, 0];
      releases.forEach((release, number) => {
        const within = number >= Math.min(from, to) && number <= Math.max(from, to);
        const shown = release.parts.filter((part) => within && (!kind || part.kind === kind));
        for (const part of release.parts) for (const node of part.nodes) node.hidden = !shown.includes(part);
        release.box.hidden = !shown.length;
      });
      for (const button of kinds.children) button.ariaPressed = String(button.dataset.kind === kind);
    };
    tools.addEventListener("change", update);
    kinds.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      kind = button.dataset.kind;
      update();
    });
    text.prepend(tools);
  };
  changes();
})();
