// Documentation embedded in another site: a button, and the frame that it opens.
(() => {
  "use strict";
  const doc = document, own = doc.currentScript?.src || "";
  const style = `
    :host { all: initial; }
    button { font: 500 15px/1.2 system-ui, sans-serif; cursor: pointer; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas);
      background: Canvas; color: CanvasText; }
    button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
    .open { position: fixed; inset: auto 20px 20px auto; min-height: 44px; padding: 10px 18px; border-radius: 22px; z-index: 2147483000;
      box-shadow: 0 4px 16px rgb(0 0 0 / .2); }
    .window { position: fixed; inset: auto 20px 76px auto; width: min(420px, calc(100vw - 24px)); height: min(680px, calc(100dvh - 96px));
      display: flex; flex-direction: column; border: 1px solid color-mix(in srgb, CanvasText 20%, Canvas); border-radius: 14px;
      overflow: hidden; background: Canvas; box-shadow: 0 10px 40px rgb(0 0 0 / .25); z-index: 2147483001; }
    .bar { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 6px; padding: 6px; }
    .bar:not(:has(button:not([hidden]))) { display: none; }
    .bar button { padding: 6px 12px; border-radius: 8px; min-height: 32px; }
    iframe { flex: 1; border: 0; }
    [hidden] { display: none !important; }
    @media (max-width: 480px) { .window { inset: auto 12px 72px 12px; width: auto; } }`;
  let site = "", host, opener, box, closer, frame, labels = "%words%", query = "";
  const at = (path) => `${site}~embed/${String(path || "").replace(/^\/+/, "")}`;
  const make = (name, attributes, text) => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  // Calls that can't be served are reported, never ignored silently.
  const warn = (text) => console.warn("Octavo: " + text);
  const warnOfRest = (where, rest) => {
    for (const name of Object.keys(rest)) warn(`${where} knows no "${name}"; it has no effect.`);
  };
  const go = (path) => {
    calls.open();
    frame.src = at(path);
  };
  const calls = {
    init({ siteURL, ...others } = {}, { visitor: { token, unsignedClaims = {}, ...claimed } = {}, colorScheme, ...rest } = {}) {
      warnOfRest("init", { ...others, ...rest });
      warnOfRest("visitor of init", claimed);
      if (token || own.includes("jwt_token=")) warn("sites for signed visitors are not shown in frames; the token is not used.");
      if (host) calls.unload();
      site = new URL(siteURL || own.replace(/~(gitbook\/)?embed\/script\.js.*$/, ""), location.href).href.replace(/\/?$/, "/");
      const claims = Object.entries(unsignedClaims).filter(([name, value]) => {
        const isPlain = ["string", "number", "boolean"].includes(typeof value);
        if (!isPlain) warn(`the unsigned claim "${name}" is no text, number or boolean; it is not used.`);
        return isPlain;
      });
      query = new URLSearchParams(claims.map(([name, value]) => ["visitor." + name, value])).toString();
      host = make("div", {});
      const root = host.attachShadow({ mode: "open" }), sheet = new CSSStyleSheet();
      sheet.replaceSync(style);
      root.adoptedStyleSheets = [sheet];
      opener = make("button", { type: "button", class: "open", "aria-expanded": "false" }, labels.label);
      box = make("div", { class: "window", role: "dialog", "aria-label": labels.title, hidden: "" });
      closer = make("button", { type: "button" }, labels.close);
      const bar = make("div", { class: "bar" });
      frame = make("iframe", { title: labels.title });
      if (colorScheme === "light" || colorScheme === "dark") host.style.colorScheme = frame.style.colorScheme = colorScheme;
      else {
        host.style.colorScheme = "light dark";
        if (colorScheme !== undefined) warn("colorScheme of init is light or dark; what the visitor prefers is shown.");
      }
      opener.addEventListener("click", calls.toggle);
      closer.addEventListener("click", calls.close);
      root.addEventListener("keydown", (event) => { if (event.key === "Escape") calls.close(); });
      bar.append(closer);
      box.append(bar, frame);
      root.append(opener, box);
      doc.body.append(host);
    },
    show() { opener.hidden = false; },
    hide() { opener.hidden = true; },
    open() {
      if (!frame.src) frame.src = at(query && "?" + query);
      box.hidden = false;
      opener.setAttribute("aria-expanded", "true");
      frame.focus();
    },
    close() {
      box.hidden = true;
      opener.setAttribute("aria-expanded", "false");
      opener.focus();
    },
    toggle() { if (box.hidden) calls.open(); else calls.close(); },
    navigateToPage: go,
    navigateToAssistant() { go("~search"); },
    postUserMessage(text) { go("~search?q=" + encodeURIComponent(text)); },
    clearChat() { go(""); },
    configure({ button: { label, ...looks } = {}, closeButton, actions, ...rest } = {}) {
      warnOfRest("configure", rest);
      warnOfRest("button of configure", looks);
      if (label !== undefined) opener.textContent = labels.label = String(label);
      if (closeButton !== undefined) closer.hidden = !closeButton;
      if (actions !== undefined) closer.parentNode.replaceChildren(...actions.map(({ label, onClick, ...others }) => {
        warnOfRest("actions of configure", others);
        const action = make("button", { type: "button" }, String(label));
        action.addEventListener("click", () => onClick());
        return action;
      }), closer);
    },
    unload() {
      host?.remove();
      host = undefined;
    },
  };
  const call = (name, ...given) => {
    if (!Object.hasOwn(calls, name)) throw new TypeError(`Octavo: there is no "${name}"`);
    if (!host && name !== "init" && name !== "unload") throw new Error('Octavo: call "init" first');
    return calls[name](...given);
  };
  window.Octavo = window.GitBook = call;
})();
