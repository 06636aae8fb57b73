// Trying an operation of an API: the request on one side, the response and the same request as code on the other.
(() => {
  "use strict";
  const { words, make, sign, show, withValues, values: given, leave, callOf, copied } = globalThis.octavoReference;
  const doc = document, { colored, element } = globalThis.octavoSamples, access = globalThis.octavoAccess;
  const fill = (text, found) => text.replace(/\{(\w+)\}/g, (all, name) => found[name] ?? all);

  const indirect = new Set();

  // --- JSON with the line numbers of its values ---------------------------------------------------------------

  const scan = (text) => {
    let at = 0;
    const lines = new Map();
    const lineAt = (position) => text.slice(0, position).split("\n").length;
    const fail = () => { throw Object.assign(new Error(words.no_json), { line: lineAt(at) }); };
    const skip = () => { while (at < text.length && /\s/.test(text[at])) at++; };
    const string = () => {
      const found = /^"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/.exec(text.slice(at));
      if (!found) fail();
      at += found[0].length;
      return JSON.parse(found[0]);
    };
    const value = (path, depth) => {
      skip();
      if (depth > 200) fail();
      lines.set(path, lineAt(at));
      const first = text[at];
      if (first === "{" || first === "[") {
        const isList = first === "[", made = isList ? [] : Object.create(null), end = isList ? "]" : "}";
        at++;
        skip();
        if (text[at] === end) {
          at++;
          return isList ? made : {};
        }
        for (;;) {
          skip();
          const begin = lineAt(at);
          const key = isList ? made.length : string();
          const below = path + "/" + key;
          if (!isList) {
            skip();
            if (text[at] !== ":") fail();
            at++;
          }
          made[key] = value(below, depth + 1);
          if (!isList) lines.set(below, begin);
          skip();
          if (text[at] === ",") at++;
          else if (text[at] === end) {
            at++;
            return isList ? made : { ...made };
          } else fail();
        }
      }
      if (first === '"') return string();
      const found = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(text.slice(at, at + 400));
      if (!found) fail();
      at += found[0].length;
      return JSON.parse(found[0]);
    };
    const found = value("", 0);
    skip();
    if (at < text.length) fail();
    return { value: found, lines };
  };

  // --- validation against a schema ----------------------------------------------------------------------------

  const typeOf = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value);
  const resolve = (schema, table) => {
    for (let left = 20; schema && typeof schema === "object" && "$ref" in schema && left; left--) schema = table[schema.$ref];
    return schema;
  };
  // A schema merged with its allOf, including only the keywords that forms need.
  const merged = (schema, table, depth = 0) => {
    const found = resolve(schema, table);
    if (!found || typeof found !== "object" || !found.allOf || depth > 10) return found || {};
    return found.allOf.map((part) => merged(part, table, depth + 1)).concat([found]).reduce((all, part) => ({
      ...all, ...part, properties: { ...all.properties, ...part.properties }, required: [...(all.required || []), ...(part.required || [])],
    }), {});
  };
  const typesOf = (schema) => {
    const types = [schema.type].flat().filter(Boolean);
    return types.length && schema.nullable ? [...types, "null"] : types;
  };
  const shown = (value) => {
    const text = JSON.stringify(value) ?? "";
    return text.length > 60 ? text.slice(0, 59) + "…" : text;
  };
  const check = (schema, value, table, isAnswer = false) => {
    const found = [];
    let left = 20000;
    const say = (path, word, more) => {
      const name = path.slice(1).replace(/\/(\d+)(?=\/|$)/g, "[$1]").replaceAll("/", ".") || words.body;
      if (found.length < 50) found.push({ path, word, more, text: fill(words[word], { name, ...more }) });
    };
    const fits = (schema, value) => {
      const before = found.length;
      const isFit = (walk(schema, value, ""), found.length === before);
      found.length = before;
      return isFit;
    };
    const walk = (given, value, path, depth = 0) => {
      const schema = resolve(given, table);
      if (!schema || typeof schema !== "object" || depth > 100 || left-- < 0) return;
      const types = typesOf(schema), type = typeOf(value);
      if (types.length && !types.some((each) => each === type || (each === "number" && type === "integer") || (each === "file"))) {
        return say(path, "wrong_type", { wanted: types.join(" / "), given: type });
      }
      if (value === null && schema.nullable) return;
      if (schema.enum && !schema.enum.some((each) => JSON.stringify(each) === JSON.stringify(value))) {
        return say(path, "not_one", { wanted: schema.enum.slice(0, 8).map(shown).join(", ") + (schema.enum.length > 8 ? ", …" : "") });
      }
      if ("const" in schema && JSON.stringify(schema.const) !== JSON.stringify(value)) return say(path, "not_one", { wanted: shown(schema.const) });
      const limit = (isOver, wanted) => { if (isOver) say(path, "limit", { wanted }); };
      if (typeof value === "number") {
        const least = schema.exclusiveMinimum === true ? null : schema.minimum, most = schema.exclusiveMaximum === true ? null : schema.maximum;
        limit(value < least, "≥ " + least);
        limit(value > most, "≤ " + most);
        const above = schema.exclusiveMinimum === true ? schema.minimum : schema.exclusiveMinimum;
        const below = schema.exclusiveMaximum === true ? schema.maximum : schema.exclusiveMaximum;
        limit(typeof above === "number" && value <= above, "> " + above);
        limit(typeof below === "number" && value >= below, "< " + below);
      }
      if (typeof value === "string") {
        const length = [...value].length;
        limit(length < schema.minLength, "≥ " + schema.minLength);
        limit(length > schema.maxLength, "≤ " + schema.maxLength);
        // Patterns are untrusted: only short ones are used, and only on short texts.
        if (typeof schema.pattern === "string" && schema.pattern.length < 200 && length < 500 && !/[+*}][^|]*\)[+*{]/.test(schema.pattern)) {
          let pattern = null;
          try { pattern = new RegExp(schema.pattern, "u"); } catch { /* in another regex dialect */ }
          limit(pattern && !pattern.test(value), schema.pattern);
        }
      }
      if (Array.isArray(value)) {
        limit(value.length < schema.minItems, "≥ " + schema.minItems);
        limit(value.length > schema.maxItems, "≤ " + schema.maxItems);
        if (schema.items) value.forEach((each, number) => walk(schema.items, each, path + "/" + number, depth + 1));
      } else if (type === "object") {
        const properties = schema.properties || {};
        for (const name of schema.required || []) {
          const one = resolve(properties[name], table);
          if (!(name in value) && !one?.[isAnswer ? "writeOnly" : "readOnly"]) say(path + "/" + name, "missing");
        }
        for (const [name, each] of Object.entries(value)) {
          if (Object.hasOwn(properties, name)) walk(properties[name], each, path + "/" + name, depth + 1);
          else if (schema.additionalProperties === false) say(path + "/" + name, "unknown");
          else if (schema.additionalProperties) walk(schema.additionalProperties, each, path + "/" + name, depth + 1);
        }
      }
      (schema.allOf || []).forEach((each) => walk(each, value, path, depth + 1));
      for (const variants of [schema.oneOf, schema.anyOf]) {
        if (!variants || variants.some((each) => fits(each, value))) continue;
        // Of several variants, assume the one with the fewest errors.
        const tries = variants.map((each) => {
          const before = found.length;
          walk(each, value, path, depth + 1);
          return found.splice(before);
        });
        const firsts = tries.map(([first]) => first);
        if (firsts.every((first) => first?.word === "wrong_type" && first.path === path)) {
          say(path, "wrong_type", { ...firsts[0].more, wanted: [...new Set(firsts.map((first) => first.more.wanted))].join(" / ") });
          continue;
        }
        found.push(...tries.sort((a, b) => a.length - b.length || (b[0]?.path.length || 0) - (a[0]?.path.length || 0))[0].slice(0, 5));
      }
    };
    walk(schema, value, "");
    return found;
  };

  // --- controls ---------------------------------------------------------------------------------------------

  const options = (values, value, empty) => [
    ...(empty ? [make("option", { value: "" }, "–")] : []),
    ...values.map((each) => make("option", { value: each, selected: each === value }, each)),
  ];
  const choice = (values, value, attributes = {}, empty = false) => make("select", attributes, ...options(values, value, empty));
  const { labeled } = access;
  const control = (field) => {
    const common = { required: field.required, spellcheck: "false", autocomplete: "off" };
    const type = field.type || "text";
    if (type === "file") return make("input", { type: "file", multiple: true, required: field.required });
    if (type === "boolean") return choice(["true", "false"], field.value, { required: field.required }, true);
    if (type === "list" && field.values) {
      const box = choice(field.values, "", { multiple: true, required: field.required, size: Math.min(field.values.length, 5) });
      const chosen = (field.value || "").split("\n");
      for (const option of box.options) option.selected = chosen.includes(option.value);
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
  const noteOf = (field) => (field.type === "list" && !field.values ? words.list : field.type === "object" ? "JSON" : field.kind || notes[field.type]);
  const textsOf = (field, box) => {
    if (box.multiple && box.options) return [...box.selectedOptions].map((option) => option.value);
    if (field.type === "list") return box.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return box.value === "" ? [] : [box.value];
  };
  // The input as a JSON value; undefined if there is none
  const valueOf = (field, box) => {
    const texts = textsOf(field, box);
    if (!texts.length) return undefined;
    const read = (text) => { try { return JSON.parse(text); } catch { return text; } };
    if (field.type === "list") {
      const inner = field.schema?.items?.type;
      return texts.map((text) => (inner === "integer" || inner === "number" || inner === "boolean" ? read(text) : text));
    }
    return field.type && field.type !== "text" ? read(texts[0]) : texts[0];
  };

  const section = (title, tools, ...inside) => make("fieldset", {}, make("legend", {}, make("span", {}, title), ...tools), ...inside);

  // --- the editor of a body ---------------------------------------------------------------------------------

  const listing = (text, syntax = "json") => colored(text, syntax).map(([kind, part]) => element(kind, part));
  const editor = (state, body, changed) => {
    const box = make("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "off", required: state.form.body_required, rows: 6, wrap: "off" });
    const isJson = body.media_type.includes("json");
    const back = make("pre", { "aria-hidden": "true" });
    const frame = make("div", { class: "try-editor" }, back, box);
    const complaints = make("ul", { class: "try-complaints", role: "status" });
    const more = make("p", { class: "try-more" });
    box.value = body.value || "";
    const lay = () => {
      let found = [], lines = new Map();
      state.body_value = undefined;
      if (isJson && box.value.trim()) {
        try {
          const read = scan(box.value);
          lines = read.lines;
          state.body_value = read.value;
          found = check(body.schema, read.value, state.form.schemas || {}).map((each) => {
            let path = each.path;
            while (path && !lines.has(path)) path = path.slice(0, path.lastIndexOf("/"));
            return { line: lines.get(path) || 1, text: each.text };
          });
        } catch (error) {
          found = [{ line: error.line || 1, text: words.no_json }];
        }
      }
      const wrong = new Set(found.map((each) => each.line));
      const rows = [make("span", { class: "try-line" + (wrong.has(1) ? " wrong" : "") })];
      for (const [kind, part] of isJson && box.value.length < 60000 ? colored(box.value, "json") : [["", box.value]]) {
        part.split("\n").forEach((text, number) => {
          if (number) rows.push(make("span", { class: "try-line" + (wrong.has(rows.length + 1) ? " wrong" : "") }));
          if (text) rows.at(-1).append(element(kind, text));
        });
      }
      back.replaceChildren(...rows);
      box.rows = Math.min(Math.max(rows.length, 4), 24);
      box.setAttribute("aria-invalid", found.length > 0);
      complaints.replaceChildren(...found.slice(0, 6).map((each) => make("li", {}, sign("danger"), fill(words.line, each))));
      addable();
    };
    const addable = () => {
      const schema = merged(body.schema, state.form.schemas || {});
      const value = state.body_value;
      const isObject = value === undefined ? !box.value.trim() : typeOf(value) === "object";
      const names = isObject ? Object.entries(schema.properties || {}).filter(([name, each]) => !(value && name in value) && !resolve(each, state.form.schemas || {})?.readOnly).map(([name]) => name) : [];
      more.replaceChildren(...(names.length ? [words.can_add + " ", ...names.slice(0, 12).map((name) => {
        const button = make("button", { type: "button", class: "try-chip" }, "+ " + name);
        button.addEventListener("click", () => {
          box.value = JSON.stringify({ ...value, [name]: sampleOf(schema.properties[name], state.form.schemas || {}) }, null, 2);
          box.dispatchEvent(new Event("input", { bubbles: true }));
          box.focus();
        });
        return button;
      }), ...(names.length > 12 ? [fill(words.more, { count: names.length - 12 })] : [])] : []));
    };
    box.addEventListener("input", () => {
      lay();
      changed();
    });
    box.addEventListener("scroll", () => { back.scrollTop = box.scrollTop; back.scrollLeft = box.scrollLeft; });
    lay();
    return { box, element: make("div", {}, labeledBody(frame, box, body), complaints, more), set: (text) => { box.value = text; lay(); } };
  };
  const labeledBody = (frame, box, body) => {
    box.setAttribute("aria-label", words.content + ", " + body.media_type);
    return frame;
  };
  const sampleOf = (schema, table, depth = 0) => {
    const found = merged(schema, table);
    if ("default" in found) return found.default;
    if ("const" in found) return found.const;
    if (found.enum) return found.enum[0];
    const variant = (found.oneOf || found.anyOf || []).find((each) => resolve(each, table)?.type !== "null");
    if (variant && depth < 6) return sampleOf(variant, table, depth + 1);
    const type = typesOf(found).find((each) => each !== "null") || (found.properties ? "object" : found.items ? "array" : "string");
    if (type === "object") {
      return Object.fromEntries((found.required || []).filter((name) => found.properties?.[name] && depth < 6 && !resolve(found.properties[name], table)?.readOnly)
        .map((name) => [name, sampleOf(found.properties[name], table, depth + 1)]));
    }
    return { array: [], integer: found.minimum > 0 ? found.minimum : 0, number: 0, boolean: false, null: null }[type] ?? "";
  };

  // The body as a form: the same value, in fields.
  const bodyForm = (state, body, get, set) => {
    const table = state.form.schemas || {};
    const root = make("div", { class: "try-form-body" });
    const redraw = () => root.replaceChildren(...draw(body.schema, get(), (value) => set(value), 0, words.body));
    const draw = (given, value, put, depth, name) => {
      let schema = merged(given, table);
      const variants = (schema.oneOf || schema.anyOf || []).filter((each) => resolve(each, table)?.type !== "null");
      if (variants.length === 1) schema = { ...schema, ...merged(variants[0], table) };
      if (variants.length > 1) {
        const at = Math.max(variants.findIndex((each) => check(each, value, table).length === 0), 0);
        const titles = variants.map((each, number) => each?.$ref || resolve(each, table)?.title || [resolve(each, table)?.type].flat().join(" / ") || String(number + 1));
        const select = make("select", { "aria-label": name }, ...titles.map((title, number) => make("option", { value: number, selected: number === at }, title)));
        select.addEventListener("change", () => { put(sampleOf(variants[select.value], table)); redraw(); });
        const { oneOf: _one, anyOf: _any, ...base } = schema;
        return [select, ...draw(merged({ allOf: [base, variants[at]] }, table), value, put, depth + 1, name)];
      }
      const type = typesOf(schema).find((each) => each !== "null") || (schema.properties ? "object" : schema.items ? "array" : typeOf(value) === "undefined" ? "string" : typeOf(value));
      if (type === "object" && schema.properties && depth < 12) {
        const object = typeOf(value) === "object" ? value : {};
        const rows = [];
        for (const [key, inner] of Object.entries(schema.properties)) {
          if (!(key in object) || resolve(inner, table)?.readOnly) continue;
          const isRequired = (schema.required || []).includes(key);
          const nested = draw(inner, object[key], (next) => { object[key] = next; put(object); }, depth + 1, key);
          const remove = isRequired ? [] : [make("button", { type: "button", class: "plain", "aria-label": words.remove + " " + key }, sign("close"))];
          remove[0]?.addEventListener("click", () => { delete object[key]; put(object); redraw(); });
          const isPlain = nested.length === 1 && nested[0].matches("input, select, textarea");
          const row = isPlain ? labeled(key, typesOf(merged(inner, table)).join(" / "), nested[0], isRequired) : make("fieldset", {}, make("legend", {}, make("span", {}, key)), ...nested);
          row.append(...remove);
          rows.push(row);
        }
        const absent = Object.entries(schema.properties).filter(([key, inner]) => !(key in object) && !resolve(inner, table)?.readOnly);
        const chips = absent.slice(0, 40).map(([key, inner]) => {
          const button = make("button", { type: "button", class: "try-chip" }, "+ " + key);
          button.addEventListener("click", () => { object[key] = sampleOf(inner, table); put(object); redraw(); });
          return button;
        });
        return [make("div", { class: "try-group" }, ...rows), ...(chips.length ? [make("p", { class: "try-more" }, ...chips)] : [])];
      }
      if (type === "array" && depth < 12) {
        const list = Array.isArray(value) ? value : [];
        const rows = list.map((each, number) => {
          const remove = make("button", { type: "button", class: "plain", "aria-label": words.remove + " " + name + " " + (number + 1) }, sign("close"));
          remove.addEventListener("click", () => { list.splice(number, 1); put(list); redraw(); });
          return make("div", { class: "try-item" }, make("div", {}, ...draw(schema.items, each, (next) => { list[number] = next; put(list); }, depth + 1, name + " " + (number + 1))), remove);
        });
        const add = make("button", { type: "button", class: "try-chip" }, "+ " + words.add);
        add.addEventListener("click", () => { list.push(sampleOf(schema.items, table)); put(list); redraw(); });
        return [make("div", { class: "try-items" }, ...rows, add)];
      }
      if (schema.enum || type === "boolean") {
        const values = schema.enum || [true, false];
        const select = make("select", { "aria-label": name }, ...values.map((each, number) => make("option", { value: number, selected: JSON.stringify(each) === JSON.stringify(value) }, typeof each === "string" ? each : JSON.stringify(each))));
        select.addEventListener("change", () => put(values[select.value]));
        return [select];
      }
      const isText = type === "string" || type === "integer" || type === "number";
      const box = isText ? make("input", { type: "text", "aria-label": name, value: value ?? "", inputmode: type === "string" ? null : "decimal", spellcheck: "false", autocomplete: "off" }) : make("textarea", { "aria-label": name, rows: 3, spellcheck: "false" });
      if (!isText) box.value = value === undefined ? "" : JSON.stringify(value, null, 2);
      box.addEventListener("input", () => {
        if (type === "string") return put(box.value);
        try { put(JSON.parse(box.value)); } catch { put(box.value); }
      });
      return [box];
    };
    redraw();
    return root;
  };

  // --- the panel --------------------------------------------------------------------------------------------

  const draw = (form, address, sample) => {
    const state = { form, address, fields: [], variables: {}, schemes: [], bodyFields: [], earlier: [] };
    const parts = [];
    const call = sample ? withValues(callOf(sample)) : null;

    // Server and its variables
    const server = make("select", { "aria-label": words.server }, ...form.servers.map((each, number) => make("option", { value: number }, each.url.replace(/^https?:\/\//, ""))));
    const variables = make("div", { class: "try-group" });
    const showVariables = () => {
      state.variables = {};
      variables.replaceChildren(...(form.servers[server.selectedIndex].variables || []).map((each) => {
        const box = each.values ? choice(each.values, each.value)
          : make("input", { type: "text", value: each.value, readonly: !each.free, required: true, autocomplete: "off", spellcheck: "false" });
        state.variables[each.name] = box;
        return labeled(each.name, "", box);
      }));
      servers.hidden = !variables.childElementCount;
    };
    const servers = section(words.server, [], variables);
    state.server = server;
    parts.push(servers);
    showVariables();

    // Authentication: one of several methods
    let listed = null;
    if (form.security?.some((way) => way.length)) {
      const ways = form.security.map(access.nameOf);
      const way = make("select", { "aria-label": words.way }, ...ways.map((name, number) => make("option", { value: number }, name)));
      const first = form.security.findIndex((each) => each.length);
      way.selectedIndex = Math.max(first, 0);
      const credentials = make("div", { class: "try-group" });
      const showWay = () => {
        state.schemes = [];
        const origin = originOf(state);
        credentials.replaceChildren(...form.security[way.selectedIndex].flatMap((scheme) => {
          const { boxes, shown } = access.ask(scheme, origin, form.signed_in);
          state.schemes.push([scheme, boxes]);
          return shown;
        }));
        keeper.hidden = !form.security[way.selectedIndex].length;
      };
      // Credentials entered or deleted at another operation apply here, too.
      access.follow(() => {
        for (const [scheme, boxes] of state.schemes) boxes.forEach((each, number) => { each.value = access.get(originOf(state), scheme.scheme, number); });
      });
      const keeper = access.keeping();
      way.addEventListener("change", () => { showWay(); changed(); });
      for (const event of ["change"]) server.addEventListener(event, () => { showVariables(); showWay(); changed(); });
      showWay();
      parts.push(section(words.authentication, [keeper], ...(ways.length > 1 ? [way] : []), credentials));
      listed = access.listing();
    } else server.addEventListener("change", () => { showVariables(); changed(); });

    // Parameters: required ones and those with a value, with the others behind a button
    const titles = { path: words.path, query: words.query, header: words.header, cookie: words.cookie };
    for (const [place, title] of Object.entries(titles)) {
      const own = (form.fields || []).filter((field) => field.place === place);
      if (!own.length) continue;
      const most = place === "path" || place === "query" ? 8 : 0;
      const rows = own.map((field) => {
        const box = control(field);
        if (place === "path" && given[field.name] && !box.options) box.value = given[field.name];
        const row = labeled(field.name, noteOf(field), box, field.required);
        state.fields.push([field, box, row]);
        return [field, row];
      });
      let free = most - rows.filter(([field]) => field.required || field.value).length;
      const hidden = rows.filter(([field]) => !field.required && !field.value && free-- <= 0).map(([, row]) => row);
      for (const row of hidden) row.hidden = hidden.length > 0;
      const more = make("button", { type: "button", class: "plain try-show" }, "+ " + fill(words.more, { count: hidden.length }));
      more.addEventListener("click", () => {
        hidden.forEach((row) => { row.hidden = false; });
        hidden[0].querySelector("input, select, textarea")?.focus();
        more.remove();
      });
      parts.push(section(title, hidden.length ? [more] : [], make("div", { class: "try-group" }, ...rows.map(([, row]) => row))));
    }

    // Body: as fields or as text, with the same value
    if (form.bodies) {
      const kinds = form.bodies.map((body) => body.media_type);
      const kind = choice(kinds, kinds[0], { "aria-label": words.type });
      const inside = make("div", {}), tools = make("span", { class: "try-tools" });
      const showBody = () => {
        const body = state.body = form.bodies[kind.selectedIndex];
        state.bodyFields = [];
        state.editor = null;
        tools.replaceChildren();
        if (body.fields) {
          inside.replaceChildren(make("div", { class: "try-group" }, ...body.fields.map((field) => {
            const box = control(field);
            const row = labeled(field.name, noteOf(field), box, field.required);
            state.bodyFields.push([field, box, row]);
            return row;
          })));
          return;
        }
        if (body.file) {
          state.bodyBox = make("input", { type: "file", required: form.body_required });
          inside.replaceChildren(labeled(words.content, body.media_type, state.bodyBox));
          return;
        }
        const text = state.editor = editor(state, body, () => changed());
        state.bodyBox = text.box;
        inside.replaceChildren(text.element);
        if (body.examples) {
          const pick = make("select", { "aria-label": words.example }, ...body.examples.map(([name], number) => make("option", { value: number }, name)));
          pick.addEventListener("change", () => { text.set(body.examples[pick.value][1]); showAs(false); changed(); });
          tools.append(pick);
        }
        const switches = body.schema && body.media_type.includes("json") ? ["form", "json"].map((name) => {
          const button = make("button", { type: "button", "aria-pressed": String(name === "json") }, name === "json" ? "JSON" : words.form);
          button.addEventListener("click", () => showAs(name === "form"));
          return button;
        }) : [];
        const showAs = (isForm) => {
          switches.forEach((button, number) => button.setAttribute("aria-pressed", (number === 0) === isForm));
          if (!isForm) return inside.replaceChildren(text.element);
          const value = state.body_value === undefined ? sampleOf(body.schema, form.schemas || {}) : state.body_value;
          let current = value;
          inside.replaceChildren(bodyForm(state, body, () => current, (next) => {
            current = next;
            text.set(JSON.stringify(next, null, 2));
            changed();
          }));
          if (state.body_value === undefined) text.set(JSON.stringify(value, null, 2));
        };
        if (switches.length) tools.append(make("span", { class: "try-switch", role: "group", "aria-label": words.body }, ...switches));
      };
      kind.addEventListener("change", () => { showBody(); changed(); });
      parts.push(section(words.body, [...(kinds.length > 1 ? [kind] : [make("code", {}, kinds[0])]), tools], inside));
      state.showBody = showBody;
    }

    // Head, and the two halves
    const path = make("code", { class: "try-path", tabindex: 0 });
    const submit = make("button", { type: "submit", class: "button primary" }, words.send, make("kbd", { "aria-hidden": "true" }, "Ctrl ↵"));
    const copy = make("button", { type: "button", class: "plain", "aria-label": words.copy, title: words.copy }, sign("copy"));
    const close = make("button", { type: "button", class: "plain try-close", "aria-label": words.close, title: words.close }, sign("close"));
    close.addEventListener("click", leave);
    const output = make("div", { class: "try-answer" });
    const status = make("p", { class: "hidden-text", role: "status" });
    const earlier = make("div", { class: "try-earlier", hidden: true });
    const code = sample?.cloneNode(true);
    const fixed = form.servers.length > 1 ? server : make("span", { class: "try-host" }, form.servers[0].url.replace(/^https?:\/\//, "").split("/")[0]);
    const head = make("header", { class: "try-bar" },
      make("div", { class: "try-line-of" }, make("span", { class: "method " + form.method.toLowerCase() }, form.method), fixed, path, copy), submit, close);
    const element = make("form", { class: "try", "aria-label": form.method + " " + form.path, novalidate: true }, head,
      make("div", { class: "try-panes" }, make("div", { class: "try-entry" }, ...parts, earlier, ...(listed ? [listed] : [])), make("div", { class: "try-result" }, status, output, ...(code ? [code] : []))));

    // Input appears in the heading and in the code immediately
    const changed = () => {
      let wanted = null;
      try { wanted = gather(state, false); } catch { return; }
      path.replaceChildren(...form.path.split(/(\{[^{}]*\})/).filter(Boolean).map((part) => (part[0] === "{" ? make("span", { class: "parameter" }, wanted.path[part.slice(1, -1)] || part) : part)));
      for (const [field, box, row] of [...state.fields, ...state.bodyFields]) {
        const value = valueOf(field, box), trouble = row.querySelector(".try-trouble");
        const found = value === undefined || field.type === "file" || !field.schema ? [] : check(field.schema, value, form.schemas || {});
        trouble.hidden = !found.length;
        trouble.textContent = found.length ? found[0].text.replaceAll(words.body, field.name) : "";
        box.setAttribute("aria-invalid", found.length > 0);
      }
      if (code) show(code, sampleCall(state, call, wanted));
    };
    element.addEventListener("input", changed);
    element.addEventListener("opened", changed);
    state.showBody?.();
    copy.addEventListener("click", () => copied(copy, addressOf(state, gather(state, false)).href));
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        element.requestSubmit();
      }
    });

    const tell = (nodes, entry) => {
      output.replaceChildren(...nodes);
      status.textContent = entry ? entry.said : "";
      if (!entry) return;
      state.earlier = [{ ...entry, nodes, at: Date.now() }, ...state.earlier].slice(0, 10);
      earlier.hidden = false;
      earlier.replaceChildren(make("h3", {}, words.earlier), ...state.earlier.map((each) => {
        const row = make("button", { type: "button", class: "plain" }, make("span", { class: "dot " + (hues[Math.floor(each.status / 100)] || "danger"), "aria-hidden": "true" }),
          make("b", {}, each.status ? String(each.status) : words.silent), make("span", {}, each.about), make("small", {}, each.milliseconds === null ? "" : counted(each.milliseconds, "millisecond")));
        row.addEventListener("click", () => output.replaceChildren(...each.nodes));
        return row;
      }));
    };
    const send = async (insist) => {
      submit.disabled = true;
      output.replaceChildren(make("p", { class: "try-waiting" }, words.sending));
      let about = "";
      try {
        const wanted = await gather(state, true);
        const url = addressOf(state, wanted);
        about = decodeURI(url.pathname + url.search).slice(0, 120);
        const made = await run(state, wanted, url, insist, (nodes) => output.replaceChildren(...nodes));
        tell(made.nodes, { status: made.status, milliseconds: made.milliseconds, said: made.said, about });
      } catch (error) {
        tell([make("p", { class: "try-status" }, make("strong", { class: "status danger" }, words.silent)), trouble(String(error.message || error))], { status: 0, milliseconds: null, said: words.silent, about });
      }
      submit.disabled = false;
    };
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      const missing = [...state.fields, ...state.bodyFields].find(([field, box]) => field.required && field.type !== "file" && !textsOf(field, box).length);
      // Sending stays possible unless the URL is incomplete.
      if (missing && missing[0].place === "path") {
        const said = missing[2].querySelector(".try-trouble");
        said.hidden = false;
        said.textContent = fill(words.missing, { name: missing[0].name });
        missing[1].setAttribute("aria-invalid", "true");
        missing[1].focus();
        return;
      }
      send(false);
    });
    state.send = () => send(true);
    changed();
    return element;
  };

  const trouble = (text) => make("p", { class: "try-trouble", role: "alert" }, text);
  const originOf = (state) => {
    let url = state.form.servers[Math.max(state.server.selectedIndex, 0)].url;
    for (const [name, box] of Object.entries(state.variables)) url = url.replaceAll("{" + name + "}", box.value);
    try { return new URL(url, location.href).origin; } catch { return url; }
  };

  // --- the request ------------------------------------------------------------------------------------------

  // A parameter in its style, as pairs of name and text
  const written = (field, texts, isPath) => {
    const encode = isPath ? (text) => encodeURIComponent(text) : (text) => text;
    const { name, style, explode } = field;
    const simple = (texts, joint) => texts.map(encode).join(joint);
    let object = null;
    if (field.type === "object" && style) {
      try { object = Object.entries(JSON.parse(texts[0])).map(([key, value]) => [key, typeof value === "object" ? JSON.stringify(value) : String(value)]); } catch { /* sent unchanged */ }
    }
    if (isPath) {
      const flat = object ? object.flat() : texts;
      const pairs = object?.map(([key, value]) => encode(key) + "=" + encode(value));
      if (style === "label") return [[name, "." + (explode && pairs ? pairs.join(".") : simple(flat, explode ? "." : ","))]];
      if (style === "matrix") return [[name, explode && pairs ? pairs.map((pair) => ";" + pair).join("") : explode && field.type === "list" ? texts.map((text) => ";" + name + "=" + encode(text)).join("") : ";" + name + "=" + simple(flat, ",")]];
      return [[name, explode && pairs ? pairs.join(",") : field.type === "list" || object ? simple(flat, ",") : texts[0]]];
    }
    if (!style || (!object && field.type !== "list")) return [[name, texts[0]]];
    if (object) {
      if (style === "deepObject") return object.map(([key, value]) => [name + "[" + key + "]", value]);
      if (field.place === "query" && explode) return object;
      return [[name, explode ? object.map((pair) => pair.join("=")).join(",") : object.flat().join(",")]];
    }
    if (explode && (field.place === "query" || style === "deepObject")) return texts.map((text) => [name, text]);
    return [[name, texts.join({ spaceDelimited: " ", pipeDelimited: "|" }[style] || ",")]];
  };

  // The input in the form that our server accepts; for display, without secrets and files
  const gather = (state, isSent) => {
    const wanted = { server: Math.max(state.server.selectedIndex, 0), variables: {}, path: {}, query: [], headers: [], cookies: [] };
    const places = { query: wanted.query, header: wanted.headers, cookie: wanted.cookies };
    for (const [name, box] of Object.entries(state.variables)) wanted.variables[name] = box.value;
    for (const [field, box] of state.fields) {
      const texts = textsOf(field, box);
      if (!texts.length) continue;
      for (const [name, text] of written(field, texts, field.place === "path")) {
        if (field.place === "path") wanted.path[name] = text;
        else places[field.place].push([name, text]);
      }
    }
    if (!isSent) return wanted;
    for (const [scheme, boxes] of state.schemes) {
      const texts = boxes.map((box) => box.value);
      if (!texts.some(Boolean)) continue;
      const word = scheme.basic ? btoa(String.fromCharCode(...new TextEncoder().encode(texts.join(":")))) : texts[0];
      places[scheme.place].push([scheme.name, scheme.prefix ? scheme.prefix + " " + word : word]);
    }
    return withBody(state, wanted);
  };
  const withBody = async (state, wanted) => {
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
      wanted.contentType = state.body.fields ? whole.headers.get("content-type")
        : state.body.media_type.includes("*") ? content.type || "application/octet-stream" : state.body.media_type;
      wanted.bytes = new Uint8Array(await whole.arrayBuffer());
    }
    return wanted;
  };

  // The same request for the samples: secrets are names of variables
  const sampleCall = (state, call, wanted) => {
    let server = state.form.servers[wanted.server].url;
    for (const [name, value] of Object.entries(wanted.variables)) server = server.replaceAll("{" + name + "}", value);
    const query = wanted.query.map(([name, value]) => [name, [value]]), headers = wanted.headers.map(([name, value]) => [name, [value]]);
    const cookies = wanted.cookies.map((pair) => [pair.join("=")]);
    for (const [scheme] of state.schemes) {
      if (!scheme.name) continue;
      const prefix = scheme.prefix ? [scheme.prefix + " "] : [];
      const [first, second] = scheme.env;
      const parts = [...prefix, scheme.placeholder || (scheme.basic ? { user: first, password: second } : { env: first })];
      if (scheme.place === "query") query.push([scheme.name, parts]);
      if (scheme.place === "header") headers.push([scheme.name, parts]);
      if (scheme.place === "cookie") cookies.push([scheme.name + "=", ...parts]);
    }
    if (cookies.length) headers.push(["Cookie", cookies.flatMap((parts, number) => number ? ["; ", ...parts] : parts)]);
    let body = null;
    if (state.body?.fields) {
      const multipart = state.body.media_type.startsWith("multipart/");
      body = { kind: multipart ? "multipart" : "form", media_type: state.body.media_type, fields: state.bodyFields.flatMap(([field, box]) => (box.files
        ? (box.files.length ? [...box.files].map((file) => ({ name: field.name, path: file.name })) : multipart && field.required ? [{ name: field.name, path: "file" }] : [])
        : textsOf(field, box).map((value) => ({ name: field.name, value })))) };
    } else if (state.bodyBox?.files) body = { kind: "file", media_type: state.body.media_type, path: state.bodyBox.files[0]?.name || "file" };
    else if (state.bodyBox?.value) body = { kind: state.body.media_type.includes("json") ? "json" : "text", media_type: state.body.media_type, text: state.bodyBox.value };
    if (body && body.kind !== "form" && body.kind !== "multipart") headers.push(["Content-Type", [body.media_type]]);
    // Values already encoded in their style are inserted into the path unchanged.
    const names = Object.keys({ ...call.params, ...call.encoded }), done = names.filter((name) => separate(state, name) && wanted.path[name]);
    const path = done.reduce((whole, name) => whole.replaceAll("{" + name + "}", () => wanted.path[name]), call.path);
    const params = Object.fromEntries(names.filter((name) => !done.includes(name)).map((name) => [name, wanted.path[name] || ""]));
    return { ...call, path, server: server.replace(/\/+$/, ""), params, encoded: {}, query, headers, body };
  };

  const separate = (state, name) => {
    const field = state.form.fields.find((each) => each.place === "path" && each.name === name);
    return field && (["list", "object"].includes(field.type) || ["label", "matrix"].includes(field.style));
  };
  const addressOf = (state, wanted) => {
    let url = state.form.servers[wanted.server].url;
    for (const [name, value] of Object.entries(wanted.variables)) url = url.replaceAll("{" + name + "}", value);
    let path = state.form.path;
    for (const [name, value] of Object.entries(wanted.path)) path = path.replaceAll("{" + name + "}", () => (separate(state, name) ? value : encodeURIComponent(value)));
    const [base, own] = url.split("?"), [way, more] = path.split("#")[0].split("?");
    const query = [own, more, String(new URLSearchParams(wanted.query))].filter(Boolean).join("&");
    return new URL(base.replace(/\/+$/, "") + way + (query ? "?" + query : ""), location.href);
  };

  const STREAMS = /^(?:text\/event-stream|application\/(?:x-ndjson|jsonl|json-seq|stream\+json))/i;
  const direct = async (state, wanted, url, tell) => {
    const headers = new Headers(wanted.headers);
    if (wanted.contentType) headers.set("Content-Type", wanted.contentType);
    const begin = performance.now(), stopper = new AbortController();
    const got = await fetch(url, { method: state.form.method, headers, body: wanted.bytes, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", signal: stopper.signal });
    const found = { status: got.status, reason: got.statusText, headers: [...got.headers] };
    if (!STREAMS.test(got.headers.get("content-type") || "") || !got.body) {
      const bytes = new Uint8Array(await got.arrayBuffer());
      return { ...found, milliseconds: Math.round(performance.now() - begin), bytes };
    }
    // Show chunks as they arrive, as long as the reader wants them.
    const box = make("pre", { tabindex: 0, "aria-label": words.answer });
    const stop = make("button", { type: "button", class: "button secondary small" }, words.stop);
    stop.addEventListener("click", () => stopper.abort());
    tell([make("p", { class: "try-status" }, statusOf(found), " " + words.sending, stop), box]);
    const pieces = [], decoder = new TextDecoder();
    let size = 0;
    try {
      for (const reader = got.body.getReader(); size < 8 * 1024 * 1024;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
        size += value.length;
        box.append(decoder.decode(value, { stream: true }));
        box.scrollTop = box.scrollHeight;
      }
      if (size >= 8 * 1024 * 1024) stopper.abort();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return { ...found, milliseconds: Math.round(performance.now() - begin), bytes };
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

  const run = async (state, wanted, url, insist, tell) => {
    const { proxy, method } = state.form;
    const mixed = location.protocol === "https:" && url.protocol === "http:";
    const made = (got, isIndirect) => answer(state, wanted, url, got, isIndirect);
    if (proxy !== "never" && (insist || proxy === "always" || wanted.cookies.length || mixed || indirect.has(url.origin))) {
      return made(await throughUs(state, wanted), true);
    }
    try {
      return made(await direct(state, wanted, url, tell), false);
    } catch {
      if (proxy === "never") throw new Error(words.unreachable);
      // Only a read-only request without secrets can be sent again through our server; others could take effect twice.
      const isSecret = state.schemes.some(([, boxes]) => boxes.some((box) => box.value));
      if ((method === "GET" || method === "HEAD") && !isSecret) return made(await throughUs(state, wanted), true);
      const again = make("button", { type: "button", class: "button primary" }, words.through);
      again.addEventListener("click", () => {
        indirect.add(url.origin);
        state.send();
      });
      return { nodes: [make("p", { class: "try-status" }, make("strong", { class: "status danger" }, words.silent)), trouble(words.blocked), again], status: 0, milliseconds: null, said: words.silent };
    }
  };

  // --- the response -------------------------------------------------------------------------------------------

  const counted = (number, unit) => number.toLocaleString(doc.documentElement.lang, { style: "unit", unit, maximumFractionDigits: 1 });
  const sized = (size) => (size < 1000 ? counted(size, "byte") : size < 1e6 ? counted(size / 1000, "kilobyte") : counted(size / 1e6, "megabyte"));
  const hues = { 1: "info", 2: "success", 3: "info", 4: "warning", 5: "danger" };
  const REASONS = { 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 415: "Unsupported Media Type", 422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" };
  const statusOf = (got) => make("strong", { class: "status " + (hues[Math.floor(got.status / 100)] || "") }, [got.status, got.reason || REASONS[got.status]].filter(Boolean).join(" "));

  // Foldable JSON: folded values show how they start
  const folding = (value) => {
    let left = 4000;
    const plain = (each) => element(typeof each === "string" ? "s" : typeof each === "number" ? "m" : "k", JSON.stringify(each));
    const preview = (each) => {
      const isList = Array.isArray(each), keys = Object.keys(each);
      const first = keys.slice(0, 2).map((key) => (isList ? "" : JSON.stringify(key) + ": ") + (each[key] && typeof each[key] === "object" ? (Array.isArray(each[key]) ? "[…]" : "{…}") : shown(each[key])));
      const rest = keys.length - first.length;
      return (isList ? "[ " : "{ ") + first.join(", ") + (rest > 0 ? ", " + fill(words.more, { count: rest }) : "") + (isList ? " ]" : " }");
    };
    const node = (each, key, isLast, depth) => {
      left--;
      const name = key === null ? [] : [element("nt", JSON.stringify(key)), ": "];
      const comma = isLast ? "" : ",";
      const isEmpty = each && typeof each === "object" && !Object.keys(each).length;
      if (!each || typeof each !== "object" || isEmpty) return make("div", {}, ...name, isEmpty ? (Array.isArray(each) ? "[]" : "{}") : plain(each), comma);
      const isList = Array.isArray(each), entries = Object.entries(each);
      const summary = make("summary", {}, ...name, make("span", { class: "try-open" }, isList ? "[" : "{"), make("span", { class: "try-shut" }, preview(each) + comma));
      const details = make("details", { open: depth < 1 || (depth < 3 && entries.length < 4) }, summary);
      const inside = make("div", { class: "try-inside" });
      const fillIn = () => {
        if (inside.childElementCount) return;
        inside.append(...entries.map(([name, inner], number) => node(inner, isList ? null : name, number === entries.length - 1, depth + 1)));
      };
      if (details.open && left > 0) fillIn();
      else details.open = false;
      details.addEventListener("toggle", () => { if (details.open) fillIn(); });
      details.append(inside, make("div", {}, (isList ? "]" : "}") + comma));
      return details;
    };
    return node(value, null, true, 0);
  };

  const tabs = (entries) => {
    const panes = entries.map(([, ...nodes]) => make("div", { hidden: true }, ...nodes));
    const buttons = entries.map(([title], number) => {
      const button = make("button", { type: "button", "aria-pressed": "false" }, title);
      button.addEventListener("click", () => choose(number));
      return button;
    });
    const choose = (at) => {
      buttons.forEach((button, number) => button.setAttribute("aria-pressed", number === at));
      panes.forEach((pane, number) => { pane.hidden = number !== at; });
    };
    choose(0);
    return [make("span", { class: "try-switch", role: "group", "aria-label": words.answer }, ...buttons), panes];
  };
  const pairs = (entries) => make("dl", { class: "try-pairs" }, ...entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));

  const answer = (state, wanted, url, got, isIndirect) => {
    const kind = (got.headers.find(([name]) => name.toLowerCase() === "content-type") || ["", ""])[1].toLowerCase();
    const size = got.bytes.length;
    const isJson = /[/+]json/.test(kind);
    let text = null, value, differences = null;
    const body = [];
    if (size && /^image\/(png|jpeg|gif|webp)/.test(kind)) {
      body.push(make("img", { alt: words.answer, src: "data:" + kind.split(";")[0] + ";base64," + base64(got.bytes) }));
    } else if (size && (/json|text|xml|javascript|yaml|urlencoded/.test(kind) || !kind)) {
      text = new TextDecoder().decode(got.bytes);
      if (isJson) try { value = JSON.parse(text); } catch { /* shown unchanged */ }
      if (value !== undefined) body.push(make("div", { class: "try-json", tabindex: 0, role: "group", "aria-label": words.answer }, folding(value)));
      else body.push(make("pre", { tabindex: 0, "aria-label": words.answer }, text.length > 200000 ? text.slice(0, 200000) + "\n…" : text));
    }
    // The response is compared with the description of this status.
    const said = state.form.answers?.[got.status] || state.form.answers?.[Math.floor(got.status / 100) + "XX"] || state.form.answers?.default;
    const schema = said && (said[kind.split(";")[0]] || Object.values(said)[0]);
    if (value !== undefined && schema) differences = check(schema, value, state.form.schemas || {}, true);
    const save = make("a", { class: "plain", download: "answer" + (isJson ? ".json" : ""), href: URL.createObjectURL(new Blob([got.bytes])), "aria-label": words.save, title: words.save }, sign("download"));
    const copy = make("button", { type: "button", class: "plain", "aria-label": words.copy, title: words.copy }, sign("copy"));
    copy.addEventListener("click", () => copied(copy, value !== undefined ? JSON.stringify(value, null, 2) : text || ""));
    const head = make("p", { class: "try-status" }, statusOf(got), " " + counted(got.milliseconds, "millisecond"), " " + sized(size),
      ...(isIndirect ? [make("small", {}, words.indirect)] : []), make("span", { class: "try-acts" }, ...(size ? [save] : []), ...(text !== null ? [copy] : [])));
    const sent = [make("code", { class: "try-address" }, state.form.method + " " + url.href), pairs([...wanted.headers.map(([name, each]) => [name, /^authorization$/i.test(name) || state.schemes.some(([scheme]) => scheme.name === name) ? "••••" : each]), ...(wanted.contentType ? [["Content-Type", wanted.contentType]] : [])]),
      ...(wanted.bytes && !state.body?.file && wanted.bytes.length < 100000 ? [make("pre", { tabindex: 0, "aria-label": words.sent }, new TextDecoder().decode(wanted.bytes))] : [])];
    const [strip, panes] = tabs([[words.body, ...(body.length ? body : [make("p", { class: "try-none" }, "–")])], [words.header + " " + got.headers.length, pairs(got.headers)], [words.sent, ...sent]]);
    const verdict = differences === null ? [] : differences.length
      ? [make("details", { class: "try-differs" }, make("summary", {}, sign("warning"), words.differs + " (" + differences.length + ")"), make("ul", {}, ...differences.map((each) => make("li", {}, each.text))))]
      : [make("span", { class: "try-described" }, sign("check"), words.described)];
    return { nodes: [head, make("div", { class: "try-tabs" }, strip, ...verdict), ...panes], status: got.status, milliseconds: got.milliseconds, said: got.status + " " + counted(got.milliseconds, "millisecond") };
  };

  globalThis.octavoTry = draw;
})();
