// Questions in the search dialog, if a site answers them; without this script they are submitted as a form.
(() => {
  "use strict";
  const doc = document, finder = doc.querySelector("dialog.finder[data-ask]");
  if (!finder) return;
  const one = (selector) => finder.querySelector(selector);
  const input = one("input"), found = one("#found"), asked = one(".asked"), turns = one(".asked-turns"), ideas = one(".asked-ideas");
  const searching = input.placeholder;
  const make = (name, attributes, text = "") => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };
  let before = [], previous = "", running = null, isScrolled = false;

  // Two modes: the input is a search, or the next question
  const isAsking = () => finder.classList.contains("asking");
  const setAsking = (on) => {
    finder.classList.toggle("asking", on);
    asked.hidden = !on;
    found.hidden = on;
    input.placeholder = input.ariaLabel = on ? asked.dataset.more : searching;
    if (on) return;
    running?.abort();
    before = [];
    previous = "";
    turns.replaceChildren();
  };
  const open = () => {
    if (!finder.open) finder.showModal();
    setAsking(true);
    input.value = "";
    input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-expanded", "false");
    input.focus();
  };

  // Each event has the whole answer so far, rendered by the server, which escapes untrusted content
  const read = async (body, signal, show) => {
    const headers = { accept: "text/event-stream" };
    const got = await fetch(finder.dataset.ask, { method: "POST", body, headers, signal, redirect: "error" });
    if (!got.ok) return false;
    const pieces = got.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = "", piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      const events = (text + piece.value).split("\n\n");
      text = events.pop();
      for (const event of events) {
        if (event.startsWith("event: ")) return event.startsWith("event: done");
        show(JSON.parse(event.slice(6)));
      }
    }
    return false;
  };
  const ask = async (question) => {
    open();
    running?.abort();
    const own = running = new AbortController();
    const body = new URLSearchParams({ q: question });
    for (const earlier of before.slice(-4)) body.append("before", earlier);
    if (previous) body.append("previous", previous);
    finder.querySelectorAll(".asked-turns .ask-questions").forEach((form) => form.remove());
    const turn = make("section", { class: "asked-turn", "aria-busy": "true" });
    const said = make("div", { class: "asked-said" });
    said.append(make("p", { class: "asked-waiting" }, asked.dataset.waiting));
    turn.append(make("h2", {}, question), said);
    turns.append(turn);
    // The question stays at the top while its answer grows, unless the reader scrolls.
    const follow = () => {
      if (!isScrolled) turns.scrollTop += turn.getBoundingClientRect().top - turns.getBoundingClientRect().top;
    };
    isScrolled = false;
    follow();
    const show = (html) => {
      said.innerHTML = html;
      follow();
    };
    const complete = await read(body, own.signal, show).catch(() => false);
    if (own.signal.aborted) return turn.remove();
    if (complete) {
      before.push(question);
      previous = said.querySelector("[name=answer]")?.value ?? "";
    } else said.replaceChildren(make("p", { class: "asked-waiting" }, asked.dataset.failed));
    turn.ariaBusy = "false";
  };

  const stopWhileAsking = (event) => { if (isAsking()) event.stopPropagation(); };
  finder.addEventListener("input", stopWhileAsking, true);
  finder.addEventListener("keydown", (event) => {
    if (!isAsking() || event.target !== input || event.key === "Escape") return;
    event.stopPropagation();
    const step = { ArrowDown: 60, ArrowUp: -60, PageDown: 300, PageUp: -300 }[event.key];
    if (step) {
      isScrolled = true;
      turns.scrollBy({ top: step });
    }
    if (step || event.key === "Enter") event.preventDefault();
    if (event.key === "Enter" && input.value.trim()) ask(input.value.trim());
  }, true);
  finder.addEventListener("submit", (event) => {
    const question = event.submitter?.value;
    if (!event.target.matches(".ask-questions") || !question) return;
    event.preventDefault();
    ask(question);
  });
  finder.addEventListener("close", () => setAsking(false));
  for (const kind of ["wheel", "touchmove"]) turns.addEventListener(kind, () => { isScrolled = true; }, { passive: true });
  turns.addEventListener("click", (event) => { if (event.target.closest("a")) finder.close(); });
  one(".asked-back").addEventListener("click", () => {
    setAsking(false);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  });
  doc.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-action=ask]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.query) ask(link.dataset.query);
    else open();
  });
  doc.addEventListener("keydown", (event) => {
    const typing = event.target !== input && event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || event.key.toLowerCase() !== "i" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const typed = finder.open ? input.value.trim() : "";
    if (typed) ask(typed);
    else open();
  });
  input.addEventListener("focus", async () => {
    const got = await fetch(finder.dataset.ask + "/questions").catch(() => null);
    if (got?.ok) ideas.innerHTML = await got.text();
  }, { once: true });
  const wanted = new URLSearchParams(location.search).get("ask");
  if (wanted) ask(wanted);
})();
