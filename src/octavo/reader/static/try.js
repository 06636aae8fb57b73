// Trying an operation of an API: a form behind its button, and the answer below it.
(() => {
  "use strict";
  const doc = document;
  const words = JSON.parse(doc.currentScript.dataset.words);
  const make = (name, attributes = {}, ...inside) => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === true) element.setAttribute(key, "");
      else if (value != null && value !== false) element.setAttribute(key, value);
    }
    element.append(...inside);
    return element;
  };
  // Credentials stay in this page, for its other operations, and are kept nowhere else.
  const known = new Map();
  const indirect = new Set();
  let count = 0;

  const options = (values, value, empty) => [
    ...(empty ? [make("option", { value: "" }, "–")] : []),
    ...values.map((each) => make("option", { value: each, selected: each === value }, each)),
  ];
  const labelled = (name, note, control) => {
    control.id ||= "try-" + ++count;
    return make("div", { class: "try-field" },
      make("label", { for: control.id }, name, ...(note ? [make("small", {}, note)] : [])), control);
  };
  const choice = (values, value, attributes = {}, empty = false) =>
    make("select", attributes, ...options(values, value, empty));

  // One control for each field; reading it gives a text, a list of texts, or files
  const control = (field) => {
    const common = { required: field.required, spellcheck: "false", autocomplete: "off" };
    const type = field.type || "text";
    if (type === "file") return make("input", { type: "file", multiple: true, required: field.required });
    if (type === "boolean") return choice(["true", "false"], field.value, { required: field.required }, true);
    if (type === "list" && field.values) {
      const box = choice(field.values, "", { multiple: true, required: field.required, size: Math.min(field.values.length, 5) });
      const given = (field.value || "").split("\n");
      for (const option of box.options) option.selected = given.includes(option.value);
      return box;
    }
    if (field.values) return choice(field.values, field.value, { required: field.required }, true);
    if (type === "list" || type === "object") {
      const box = make("textarea", { rows: 2, ...common });
      box.value = field.value || "";
      return box;
    }
    return make("input", { type: "text", inputmode: type === "number" ? "decimal" : null, value: field.value, ...common });
  };
  const notes = { ...words, object: "JSON" };
  const noteOf = (field) => [notes[field.type], field.required && words.required].filter(Boolean).join(", ");
  const textsOf = (field, box) => {
    if (box.multiple && box.options) return [...box.selectedOptions].map((option) => option.value);
    if (field.type === "list") return box.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return box.value === "" ? [] : [box.value];
  };

  const section = (title, ...inside) => make("fieldset", {}, make("legend", {}, title), ...inside);

  const draw = (form, address) => {
    const state = { form, address, fields: [], variables: {}, schemes: [], bodyFields: [] };
    const parts = [];

    // Server and its variables
    const server = choice(form.servers.map((each) => each.url), form.servers[0].url, {});
    const variables = make("div", { class: "try-group" });
    const chosen = () => form.servers[server.selectedIndex];
    const showVariables = () => {
      state.variables = {};
      variables.replaceChildren(...(chosen().variables || []).map((each) => {
        const box = each.values ? choice(each.values, each.value)
          : make("input", { type: "text", value: each.value, readonly: !each.free, required: true, autocomplete: "off", spellcheck: "false" });
        state.variables[each.name] = box;
        return labelled(each.name, "", box);
      }));
    };
    server.addEventListener("change", showVariables);
    showVariables();
    state.server = server;
    if (form.servers.length > 1 || form.servers[0].variables) {
      parts.push(section(words.server, ...(form.servers.length > 1 ? [labelled(words.address, "", server)] : []), variables));
    }

    // Authentication: one of several ways
    if (form.security?.some((way) => way.length)) {
      const ways = form.security.map((way) => way.map((each) => each.scheme).join(" + ") || "–");
      const way = make("select", {}, ...ways.map((name, number) => make("option", { value: number }, name)));
      const credentials = make("div", { class: "try-group" });
      const showWay = () => {
        state.schemes = [];
        credentials.replaceChildren(...form.security[way.selectedIndex].flatMap((scheme) => {
          const names = scheme.basic ? [words.user, words.password] : [scheme.scheme];
          const boxes = names.map((name, number) => {
            const key = scheme.scheme + "/" + number;
            const box = make("input", {
              type: scheme.basic && number === 0 ? "text" : "password", autocomplete: "off", spellcheck: "false",
              placeholder: scheme.placeholder, value: known.get(key),
            });
            box.addEventListener("change", () => known.set(key, box.value));
            return box;
          });
          state.schemes.push([scheme, boxes]);
          const where = scheme.basic ? "" : scheme.name + (scheme.place === "header" ? "" : ", " + scheme.place);
          return boxes.map((box, number) => labelled(names[number], where, box));
        }));
      };
      way.addEventListener("change", showWay);
      showWay();
      parts.push(section(words.authentication, ...(ways.length > 1 ? [labelled(words.way, "", way)] : []), credentials));
    }

    // Parameters
    const titles = { path: words.path, query: words.query, header: words.header, cookie: words.cookie };
    for (const [place, title] of Object.entries(titles)) {
      const own = (form.fields || []).filter((field) => field.place === place);
      if (!own.length) continue;
      parts.push(section(title, make("div", { class: "try-group" }, ...own.map((field) => {
        const box = control(field);
        state.fields.push([field, box]);
        return labelled(field.name, noteOf(field), box);
      }))));
    }

    // Body
    if (form.bodies) {
      const kinds = form.bodies.map((body) => body.media_type);
      const kind = choice(kinds, kinds[0], {});
      const inside = make("div", { class: "try-group" });
      const showBody = () => {
        const body = state.body = form.bodies[kind.selectedIndex];
        state.bodyFields = [];
        if (body.fields) {
          inside.replaceChildren(...body.fields.map((field) => {
            const box = control(field);
            state.bodyFields.push([field, box]);
            return labelled(field.name, noteOf(field), box);
          }));
          return;
        }
        const box = body.file ? make("input", { type: "file", required: form.body_required })
          : make("textarea", { rows: Math.min(Math.max((body.value || "").split("\n").length, 4), 16), spellcheck: "false", required: form.body_required });
        if (!body.file) box.value = body.value || "";
        state.bodyBox = box;
        inside.replaceChildren(labelled(words.content, body.media_type, box));
      };
      kind.addEventListener("change", showBody);
      showBody();
      parts.push(section(words.body, ...(kinds.length > 1 ? [labelled(words.type, "", kind)] : []), inside));
    }

    const output = make("div", { class: "try-answer", role: "status" });
    const submit = make("button", { type: "submit", class: "button primary" }, words.send);
    const element = make("form", { class: "try", "aria-label": form.method + " " + form.path }, ...parts, make("p", {}, submit), output);
    element.addEventListener("submit", async (event) => {
      event.preventDefault();
      submit.disabled = true;
      output.replaceChildren(make("p", {}, words.sending));
      try {
        output.replaceChildren(...await run(state, false));
      } catch (error) {
        output.replaceChildren(trouble(String(error.message || error)));
      }
      submit.disabled = false;
    });
    state.send = async () => {
      output.replaceChildren(make("p", {}, words.sending));
      output.replaceChildren(...await run(state, true).catch((error) => [trouble(String(error.message || error))]));
    };
    return element;
  };

  const trouble = (text) => make("p", { class: "try-trouble" }, text);

  // What was filled in, in the form that our own server takes it
  const gather = async (state) => {
    const wanted = { server: state.server.selectedIndex, variables: {}, path: {}, query: [], headers: [], cookies: [] };
    for (const [name, box] of Object.entries(state.variables)) wanted.variables[name] = box.value;
    for (const [field, box] of state.fields) {
      const texts = textsOf(field, box);
      if (!texts.length) continue;
      if (field.deep) {
        for (const [key, value] of Object.entries(JSON.parse(texts[0]))) wanted.query.push([field.name + "[" + key + "]", String(value)]);
        continue;
      }
      const values = field.join == null ? texts : [texts.join(field.join)];
      if (field.place === "path") wanted.path[field.name] = values.join(",");
      else for (const value of values) wanted[{ query: "query", header: "headers", cookie: "cookies" }[field.place]].push([field.name, value]);
    }
    for (const [scheme, boxes] of state.schemes) {
      const texts = boxes.map((box) => box.value);
      if (!texts.some(Boolean)) continue;
      const word = scheme.basic ? btoa(String.fromCharCode(...new TextEncoder().encode(texts.join(":")))) : texts[0];
      const value = scheme.prefix ? scheme.prefix + " " + word : word;
      wanted[{ query: "query", header: "headers", cookie: "cookies" }[scheme.place]].push([scheme.name, value]);
    }
    let content = null;
    if (state.body?.fields) {
      const multipart = state.body.media_type.startsWith("multipart/");
      content = multipart ? new FormData() : new URLSearchParams();
      for (const [field, box] of state.bodyFields) {
        const values = box.files ? [...box.files] : textsOf(field, box);
        for (const value of values) if (multipart || typeof value === "string") content.append(field.name, value);
      }
    } else if (state.body) {
      content = state.bodyBox.files ? state.bodyBox.files[0] || null : state.bodyBox.value || null;
    }
    if (content != null) {
      const whole = new Response(content);
      const form = state.body.fields;
      wanted.contentType = form ? whole.headers.get("content-type")
        : state.body.media_type.includes("*") ? content.type || "application/octet-stream" : state.body.media_type;
      wanted.bytes = new Uint8Array(await whole.arrayBuffer());
    }
    return wanted;
  };

  const addressOf = (state, wanted) => {
    let url = state.form.servers[wanted.server].url;
    for (const [name, value] of Object.entries(wanted.variables)) url = url.replaceAll("{" + name + "}", value);
    let path = state.form.path;
    for (const [name, value] of Object.entries(wanted.path)) path = path.replaceAll("{" + name + "}", encodeURIComponent(value));
    const [base, own] = url.split("?"), [way, more] = path.split("#")[0].split("?");
    const query = [own, more, String(new URLSearchParams(wanted.query))].filter(Boolean).join("&");
    return new URL(base.replace(/\/+$/, "") + way + (query ? "?" + query : ""), location.href);
  };

  const direct = async (state, wanted, url) => {
    const headers = new Headers(wanted.headers);
    if (wanted.contentType) headers.set("Content-Type", wanted.contentType);
    const begin = performance.now();
    const got = await fetch(url, { method: state.form.method, headers, body: wanted.bytes, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" });
    const bytes = new Uint8Array(await got.arrayBuffer());
    return { status: got.status, headers: [...got.headers], milliseconds: Math.round(performance.now() - begin), bytes };
  };

  const base64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
  };
  const throughUs = async (state, wanted) => {
    const { bytes, ...rest } = wanted;
    const body = JSON.stringify(bytes ? { ...rest, body: base64(bytes) } : rest);
    const got = await fetch(state.address, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (!got.ok) throw new Error((await got.text()).trim() || words.failed);
    const sent = await got.json();
    return { ...sent, bytes: Uint8Array.from(atob(sent.body), (c) => c.charCodeAt(0)) };
  };

  const run = async (state, insist) => {
    const wanted = await gather(state);
    const url = addressOf(state, wanted);
    const { proxy, method } = state.form;
    const mixed = location.protocol === "https:" && url.protocol === "http:";
    if (proxy !== "never" && (insist || proxy === "always" || wanted.cookies.length || mixed || indirect.has(url.origin))) {
      return answer(await throughUs(state, wanted), true);
    }
    try {
      return answer(await direct(state, wanted, url), false);
    } catch (error) {
      if (proxy === "never") throw new Error(words.unreachable);
      // What only reads may be asked again; anything else might be done twice.
      indirect.add(url.origin);
      if (method === "GET" || method === "HEAD") return answer(await throughUs(state, wanted), true);
      const again = make("button", { type: "button", class: "button secondary" }, words.through);
      again.addEventListener("click", () => state.send());
      return [trouble(words.blocked), again];
    }
  };

  // The answer
  const counted = (number, unit) => number.toLocaleString(doc.documentElement.lang, { style: "unit", unit });
  const reasons = { 2: "good", 3: "other", 4: "bad", 5: "bad" };
  const answer = (got, indirectly) => {
    const kind = (got.headers.find(([name]) => name.toLowerCase() === "content-type") || ["", ""])[1].toLowerCase();
    const size = got.bytes.length;
    const head = make("p", { class: "try-status" },
      make("strong", { class: reasons[Math.floor(got.status / 100)] || "other" }, String(got.status)),
      " " + counted(got.milliseconds, "millisecond") + ", " + counted(size, "byte") + (indirectly ? ", " + words.indirect : ""));
    const list = make("dl", {}, ...got.headers.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    const headers = make("details", { class: "try-headers" }, make("summary", {}, words.header), list);
    const parts = [head, headers];
    if (size && /^image\/(png|jpeg|gif|webp)/.test(kind)) {
      parts.push(make("img", { alt: words.answer, src: "data:" + kind.split(";")[0] + ";base64," + base64(got.bytes) }));
    } else if (size && (/json|text|xml|javascript|yaml|urlencoded/.test(kind) || !kind)) {
      let text = new TextDecoder().decode(got.bytes);
      if (kind.includes("json")) try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it is */ }
      const shown = text.length > 200000 ? text.slice(0, 200000) + "\n…" : text;
      parts.push(make("pre", { tabindex: 0, "aria-label": words.answer }, shown));
    } else if (size) {
      const link = make("a", { class: "button secondary", download: "answer", href: URL.createObjectURL(new Blob([got.bytes])) }, words.save);
      parts.push(make("p", {}, link));
    }
    return parts;
  };

  doc.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-try]");
    if (!button || button.disabled) return;
    const opened = doc.getElementById(button.getAttribute("aria-controls") || "-");
    if (opened) {
      opened.hidden = !opened.hidden;
      button.setAttribute("aria-expanded", !opened.hidden);
      if (!opened.hidden) opened.querySelector("input, select, textarea, button")?.focus();
      return;
    }
    button.disabled = true;
    const got = await fetch(button.dataset.try).catch(() => null);
    button.disabled = false;
    button.nextElementSibling?.matches(".try-trouble") && button.nextElementSibling.remove();
    if (!got?.ok) return button.after(trouble(words.unavailable));
    const form = draw(await got.json(), button.dataset.try);
    form.id = "try-form-" + ++count;
    button.setAttribute("aria-controls", form.id);
    button.setAttribute("aria-expanded", "true");
    button.after(form);
    form.querySelector("input, select, textarea, button")?.focus();
  });
})();
