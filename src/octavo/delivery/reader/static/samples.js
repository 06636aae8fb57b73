// Code samples: fills in the templates of code_samples.toml as code_samples.py does. Editable values are between two
// marks, which become buttons when rendered.
(() => {
  "use strict";
  const templates = "%templates%";
  const MARKS = /[\u{F0000}-\u{F0002}]/gu;
  const TAG = /^[ \t]*\[\[([#^/]\w+)\]\][ \t]*\n|\[\[([#^/]?\w+)\]\]/gm;
  const parsed = new Map();
  const parse = (template) => {
    if (parsed.has(template)) return parsed.get(template);
    const root = [], stack = [root];
    let at = 0;
    for (const found of template.matchAll(TAG)) {
      const inside = stack.at(-1), tag = found[1] || found[2];
      if (found.index > at) inside.push(template.slice(at, found.index));
      at = found.index + found[0].length;
      if ("#^".includes(tag[0])) {
        const node = { kind: tag[0], name: tag.slice(1), inside: [] };
        inside.push(node);
        stack.push(node.inside);
      } else if (tag[0] === "/") stack.pop();
      else inside.push({ kind: "=", name: tag });
    }
    root.push(template.slice(at));
    parsed.set(template, root);
    return root;
  };
  const fill = (nodes, scopes, out) => {
    for (const node of nodes) {
      if (typeof node === "string") {
        out.push(node);
        continue;
      }
      const { kind, name, inside } = node;
      const value = scopes.findLast((scope) => name in scope)?.[name];
      if (kind === "=") {
        const indent = name === "json" ? out.join("").split("\n").at(-1).match(/^\s*/)[0] : "";
        out.push((value || "").replaceAll("\n", "\n" + indent));
      } else if (kind === "^") {
        if (!value || value.length === 0) fill(inside, scopes, out);
      } else if (Array.isArray(value)) value.forEach((each) => fill(inside, [...scopes, each], out));
      else if (value) fill(inside, scopes, out);
    }
  };

  const quoteFor = (t) => (text) => {
    if (t.quote === "shell") return "'" + text.replaceAll("'", "'\\''") + "'";
    if (t.quote === "single") return "'" + text.replaceAll("\\", "\\\\").replaceAll("'", "\\'") + "'";
    if (t.quote === "doubled") return "'" + text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&") + "'";
    text = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    for (const sign of t.escape || "") text = text.replaceAll(sign, () => "\\" + sign);
    text = text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
    const form = (sign) => {
      const number = sign.charCodeAt(0).toString(16);
      return t.control === "brace" ? "\\u{" + number + "}" : "\\u" + number.padStart(4, "0");
    };
    return '"' + text.replace(/[\x00-\x1f\x7f]/g, form) + '"';
  };
  const joined = (parts) => parts.reduce((found, part) => {
    if (typeof part === "string" && typeof found.at(-1) === "string") found[found.length - 1] += part;
    else if (part !== "") found.push(part);
    return found;
  }, []);
  const component = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const mark = (text, marked) => (marked ? "\u{F0000}" + marked + "\u{F0001}" + text + "\u{F0002}" : text);
  const urlOf = (call, marks) => {
    let path = call.path;
    for (const [name, value] of Object.entries(call.params || {})) {
      path = path.replaceAll("{" + name + "}", () => mark(value ? component(value) : "{" + name + "}", marks && name));
    }
    for (const [name, value] of Object.entries(call.encoded || {})) path = path.replaceAll("{" + name + "}", () => value);
    const parts = [call.server + path];
    (call.query || []).forEach(([name, given], number) => {
      parts.push((number || path.includes("?") ? "&" : "?") + component(name) + "=");
      parts.push(...given.map((part) => (typeof part === "string" ? component(part) : part)));
    });
    return joined(parts);
  };
  const jsonOf = (text) => {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return null;
    }
  };
  const formText = (fields) => fields.map((each) => [each.name, each.value || ""].map((text) =>
    component(text).replaceAll("%20", "+")).join("=")).join("&");

  const context = (t, call, marks) => {
    const quote = quoteFor(t);
    const secret = (part) => ("env" in part
      ? t.env.replaceAll("%s", () => quote(part.env)).replaceAll("%n", () => part.env)
      : t.basic.replaceAll("%u", () => part.user).replaceAll("%p", () => part.password));
    const expression = (parts) => {
      if (parts.every((part) => typeof part === "string")) return quote(parts.join(""));
      if (t.quote === "shell") {
        return '"' + parts.map((part) => (typeof part === "string" ? part.replace(/["\\$`]/g, "\\$&") : secret(part))).join("") + '"';
      }
      const found = joined(parts).map((part) => (typeof part === "string" ? quote(part) : secret(part)));
      const [before, between, after] = t.concat || ["", "", ""];
      return found.length === 1 ? found[0] : before + found.join(between) + after;
    };
    const raw = (text) => {
      const kind = t.raw;
      if (kind === "here") return text;
      if (!text.includes("\n") || /[\x00-\x09\x0b-\x1f\x7f]/.test(text)) return quote(text);
      if (kind === "go" && !text.includes("`")) return "`" + text + "`";
      if (kind === "java" && !/[ \t](\n|$)/.test(text)) return '"""\n' + text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"""') + '"""';
      if (kind === "csharp" && !text.includes('"""')) return '"""\n' + text + '\n"""';
      if (kind === "kotlin" && !text.includes('"""') && !text.includes("$") && !text.endsWith('"')) return '"""' + text + '"""';
      if (kind === "rust" || kind === "swift") {
        const hashes = "#".repeat(1 + Math.max(0, ...(text.match(/#+/g) || []).map((run) => run.length)));
        return kind === "rust" ? "r" + hashes + '"' + text + '"' + hashes : hashes + '"""\n' + text + '\n"""' + hashes;
      }
      if (kind === "powershell" && !/^['\u2018\u2019\u201a\u201b]@/m.test(text)) return "@'\n" + text + "\n'@";
      return quote(text);
    };
    const key = (name) => (t.value.keys && /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : quote(name));
    const json = (value, depth = 0) => {
      const rules = t.value, space = ["Python", "PHP"].includes(t.language) ? "    " : "  ";
      const here = "\n" + space.repeat(depth), below = here + space;
      const plain = (each) => each === null || typeof each !== "object";
      if (Array.isArray(value)) {
        if (value.every(plain) && value.length <= 4) return rules.list[0] + value.map((each) => json(each)).join(", ") + rules.list[1];
        return rules.list[0] + below + value.map((each) => json(each, depth + 1) + ",").join(below) + here + rules.list[1];
      }
      if (!plain(value)) {
        const pairs = Object.entries(value).map(([name, each]) => key(name) + rules.pair + json(each, depth + 1) + ",");
        return pairs.length ? rules.object[0] + below + pairs.join(below) + here + rules.object[1] : rules.empty;
      }
      if (value === true || value === false || value === null) return rules.none[value === true ? 0 : value === false ? 1 : 2];
      return typeof value === "string" ? quote(value) : String(value);
    };
    const header = ([name, parts]) => ({
      key: name.toLowerCase(), name: quote(name), value: expression(parts), line: expression([name + ": ", ...parts]),
    });

    const { body } = call, fields = body?.fields || [];
    let kind = body?.kind || "", text = body?.text || "";
    const headers = (call.headers || []).map(header);
    let contentType = (call.headers || []).find(([name]) => name.toLowerCase() === "content-type")?.[1];
    if (kind === "form" && t.lacks?.includes("form")) {
      kind = "text";
      text = formText(fields);
      contentType = [body.media_type];
      headers.push(header(["Content-Type", contentType]));
    }
    const read = kind === "json" ? jsonOf(text) : null;
    const native = Boolean(read && t.value);
    const isHere = t.raw === "here" && kind === "json" && !/^JSON$/m.test(text);
    const plain = headers.filter((each) => each.key !== "content-type");
    const parts = fields.map((each, number) => ({
      name: quote(each.name), value: each.value == null ? "" : quote(each.value), path: each.path == null ? "" : quote(each.path),
      pair: quote(each.name + "=" + (each.value || "")), at: quote(each.name + "=@" + (each.path || "")),
      comma: number + 1 < fields.length ? "," : "",
    }));
    const isText = kind === "json" || kind === "text";
    const secrets = [...(call.query || []), ...(call.headers || [])].flatMap(([, given]) => given.filter((part) => typeof part !== "string"));
    return {
      method: call.method, verb: quote(call.method), Method: call.method[0] + call.method.slice(1).toLowerCase(),
      send: call.method !== "GET", url: expression(urlOf(call, marks)),
      headers, has_headers: headers.length > 0, plain, has_plain: plain.length > 0,
      kind: contentType && kind !== "multipart" ? expression(contentType) : "",
      json: native ? json(read.value) : isHere ? text : "",
      text: isText ? raw(text) : "", other: isText && !native && !isHere ? quote(text) : "",
      form: kind === "form", fields: kind === "form" ? parts : [],
      multipart: kind === "multipart", attached: kind === "file" || fields.some((each) => each.path != null),
      parts: kind === "multipart" ? parts : [],
      texts: kind === "multipart" ? parts.filter((each) => each.value) : [],
      files: kind === "multipart" ? parts.filter((each) => each.path) : [],
      file: kind === "file" ? quote(body.path) : "", body: Boolean(body), stream: Boolean(call.streams),
      secret: secrets.length > 0, basic: secrets.some((part) => !("env" in part)),
    };
  };

  const write = (template, call, marks) => {
    const out = [];
    fill(parse(template.template), [context(template, call, marks)], out);
    return out.join("").replace(/\n+$/, "");
  };
  const find = (language, library, call) => {
    const fit = templates.filter((t) => call.body?.kind !== "multipart" || !t.lacks?.includes("multipart"));
    return fit.find((t) => t.language === language && t.library === library) || fit.find((t) => t.language === language);
  };

  // Syntax highlighting, with the classes of all other code blocks
  const WORDS = "await|async|as|const|def|do|done|echo|else|end|final|finally|for|from|func|fun|function|if|import|in|is|let|match|mut|namespace|new|nil|null|None|package|print|puts|require|return|static|string|true|false|True|False|try|use|using|val|var|void|while|with|curl";
  const TOKEN = new RegExp([
    "(?<s>\"\"\"[^]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\])*'|`[^`]*`)",
    "(?<m>(?<![\\w$.])-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\b)", "(?<k>(?<![\\w$.-])(?:" + WORDS + ")\\b(?!['\"-]))",
    "(?<f>\\b[\\w$]+(?=\\())", "(?<nt>(?<=\\s)--?[a-zA-Z][\\w-]*)",
  ].join("|"), "gu");
  const colored = (source, syntax) => {
    const nodes = [];
    let at = 0;
    for (const found of source.matchAll(TOKEN)) {
      if (found.index > at) nodes.push(["", source.slice(at, found.index)]);
      at = found.index + found[0].length;
      const isKey = found.groups.s && /^\s*(?::|=>)/.test(source.slice(at, at + 4)) && !/^\s*::/.test(source.slice(at, at + 4));
      const option = found.groups.nt && syntax !== "bash" && syntax !== "powershell";
      const kind = isKey ? "nt" : Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
      nodes.push([option ? "" : kind === "f" ? "nf" : kind, found[0]]);
    }
    nodes.push(["", source.slice(at)]);
    return nodes;
  };
  const element = (kind, text) => {
    const made = document.createElement(kind ? "span" : "template");
    if (!kind) return document.createTextNode(text);
    made.className = kind;
    made.textContent = text;
    return made;
  };
  // As nodes. Text between marks becomes a button; a string that contains one is split.
  const draw = (source, syntax, hole) => colored(source, syntax).flatMap(([kind, text]) => {
    if (!/\u{F0000}/u.test(text)) return [element(kind, text.replace(MARKS, ""))];
    return text.split(/(\u{F0000}[^\u{F0002}]*\u{F0002})/u).filter(Boolean).map((part) => {
      const [, name, value] = part.match(/^\u{F0000}([^\u{F0001}]*)\u{F0001}([^]*)\u{F0002}$/u) || [];
      return name === undefined ? element(kind, part) : hole(name, value);
    });
  });

  globalThis.octavoSamples = { templates, write, find, draw, colored, element };
})();
