// Blocks of integrations: fetched after the page has loaded, two at a time. Pressing a button sends its offer to the
// server, and the response replaces the block.
(() => {
  "use strict";
  const boxes = document.querySelectorAll("[data-block]").values();
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const fill = async (box) => {
    box.ariaBusy = "true";
    for (let tries = 1; tries <= 3; tries++) {
      const got = await fetch(box.dataset.block, { redirect: "error" }).catch(() => null);
      // Rendered by the server, which escapes untrusted content.
      if (got?.ok) {
        box.innerHTML = await got.text();
        if (box.querySelector("[data-offer]")) box.ariaLive = "polite";
        frames(box);
      }
      if (got?.status !== 503) break;
      await pause(2000 * tries);
    }
    box.ariaBusy = null;
  };
  const work = async () => { for (const box of boxes) await fill(box); };
  work();
  work();

  // --- buttons -----------------------------------------------------------------------------------------

  const valueOf = (field) => {
    if (field.type === "checkbox" && field.role === "switch") return field.checked;
    if (field.multiple) return [...field.selectedOptions].map((option) => option.value);
    return field.value;
  };
  const valuesOf = (part) => {
    const values = {};
    for (const field of part.querySelectorAll("[data-field]")) {
      const name = field.dataset.field;
      if (field.dataset.value === undefined) {
        // A list that starts empty has no selection.
        if (!(field.tagName === "SELECT" && !field.multiple && field.value === "")) values[name] = valueOf(field);
      } else if (field.type === "checkbox") {
        values[name] ??= [];
        if (field.checked) values[name].push(JSON.parse(field.dataset.value));
      } else if (field.checked) {
        values[name] = JSON.parse(field.dataset.value);
      }
    }
    return values;
  };
  const nameOf = (element) => {
    for (const name of ["field", "act"]) {
      const value = element?.dataset?.[name];
      if (value !== undefined) return `[data-${name}="${CSS.escape(value)}"]`;
    }
    return null;
  };
  const press = async (box, part, control) => {
    if (box.ariaBusy || (control.dataset.confirm && !confirm(control.dataset.confirm))) return;
    const said = (part.matches("dialog") ? part : box).querySelector(".block-said");
    const focused = nameOf(document.activeElement);
    const body = JSON.stringify({ offer: part.dataset.offer, act: Number(control.dataset.act), values: valuesOf(part) });
    box.ariaBusy = "true";
    said.textContent = "";
    const headers = { "content-type": "application/json" };
    const got = await fetch(box.dataset.block, { method: "POST", headers, body, redirect: "error" }).catch(() => null);
    const answer = got?.ok ? await got.json().catch(() => null) : null;
    box.ariaBusy = null;
    if (got?.status === 409) return fill(box);
    if (!answer) {
      said.textContent = said.dataset.failed;
      return;
    }
    const open = box.querySelector("dialog");
    if (answer.into === "modal") {
      const opener = open ? null : document.activeElement;
      const holder = document.createElement("div");
      holder.innerHTML = answer.html;
      const dialog = holder.querySelector("dialog");
      open?.remove();
      box.append(dialog);
      dialog.addEventListener("close", () => {
        dialog.remove();
        opener?.focus();
      });
      dialog.showModal();
      frames(dialog);
      if (open && focused) dialog.querySelector(focused)?.focus();
      return;
    }
    box.innerHTML = answer.html;
    frames(box);
    if (focused) box.querySelector(focused)?.focus();
  };
  const act = (event, kind) => {
    const control = event.target.closest?.("[data-act], [data-close]");
    const box = control?.closest("[data-block]");
    if (!box || control.matches("[data-field]") !== (kind === "change")) return;
    const part = control.closest("[data-offer]");
    if (part && control.dataset.act !== undefined) press(box, part, control);
    else control.closest("dialog")?.close();
  };
  document.addEventListener("click", (event) => act(event, "click"));
  document.addEventListener("change", (event) => act(event, "change"));

  // --- frames ------------------------------------------------------------------------------------------

  const bounded = (height) => Math.min(Math.max(height, 20), 4000);
  const size = (frame, height) => { frame.height = bounded(height); };
  const tell = (frame) => frame.contentWindow?.postMessage({ state: JSON.parse(frame.dataset.told) }, "*");
  const frames = (part) => {
    for (const frame of part.querySelectorAll("iframe[data-told]")) {
      size(frame, frame.clientWidth / frame.dataset.ratio);
      frame.addEventListener("load", () => tell(frame));
    }
  };
  addEventListener("message", (event) => {
    const said = event.data?.action;
    const frame = [...document.querySelectorAll("iframe[data-told]")].find((one) => one.contentWindow === event.source);
    if (!frame || typeof said?.action !== "string") return;
    if (said.action === "@webframe.ready") tell(frame);
    if (said.action === "@webframe.resize") {
      const { height, aspectRatio } = said.size ?? {};
      if (Number.isFinite(height)) size(frame, height);
      else if (Number.isFinite(aspectRatio) && aspectRatio > 0) size(frame, frame.clientWidth / aspectRatio);
    }
  });
})();
