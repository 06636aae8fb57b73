// Credentials that readers enter: stored in this page, or in its tab if they want that, listed in one place, and deleted
// there. Also OAuth, whose tokens the browser requests itself.
(() => {
  "use strict";
  const { words, make, sign, copied } = globalThis.octavoReference;
  const STORED = "octavo-access", CHANNEL = "octavo-signed-in";
  const fill = (text, found) => text.replace(/\{(\w+)\}/g, (all, name) => found[name] ?? all);

  // Credentials for one server are never offered for another: an entry has an origin, a scheme, and a field.
  const known = new Map(), followers = new Set();
  let keeps = false;
  try {
    for (const [key, value] of Object.entries(JSON.parse(sessionStorage.getItem(STORED) || "{}"))) known.set(key, value);
    keeps = known.size > 0;
  } catch { /* storage may be disabled */ }
  const keep = () => {
    try {
      if (keeps) sessionStorage.setItem(STORED, JSON.stringify(Object.fromEntries(known)));
      else sessionStorage.removeItem(STORED);
    } catch { /* storage may be disabled */ }
    followers.forEach((follow) => follow());
  };
  const keyOf = (origin, scheme, what) => JSON.stringify([origin, scheme, what]);
  const get = (origin, scheme, what) => known.get(keyOf(origin, scheme, what)) || "";
  const set = (origin, scheme, what, value) => {
    if (value) known.set(keyOf(origin, scheme, what), value);
    else known.delete(keyOf(origin, scheme, what));
    keep();
  };
  const forget = (isMeant = () => true) => {
    for (const key of [...known.keys()]) if (isMeant(...JSON.parse(key))) known.delete(key);
    keep();
  };

  const masked = (value) => "••••" + (value.length > 12 ? value.slice(-4) : "");
  const lasting = (until) => {
    if (!until) return "";
    const minutes = Math.floor((until - Date.now()) / 60000);
    if (minutes < 0) return words.ended;
    const [count, unit] = minutes < 120 ? [minutes, "minute"] : minutes < 2880 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
    return fill(words.left, { time: count.toLocaleString(document.documentElement.lang, { style: "unit", unit, unitDisplay: "short" }) });
  };

  // All entries, whichever operation they were entered for
  const listing = () => {
    const count = make("span", {}), rows = make("ul", {});
    const all = make("button", { type: "button", class: "button secondary small" }, words.forget_all);
    const box = make("details", { class: "try-access" }, make("summary", {}, words.your_access + " ", count), rows, all);
    all.addEventListener("click", () => {
      forget();
      box.closest("form")?.querySelector("input")?.focus();
    });
    const lay = () => {
      const entries = [...known].map(([key, value]) => [...JSON.parse(key), value]).filter(([, , what]) => what !== "until");
      box.hidden = !entries.length;
      count.textContent = "(" + entries.length + ")";
      rows.replaceChildren(...entries.map(([origin, scheme, what, value]) => {
        const name = { client: words.client_id, secret: words.client_secret, 1: words.password }[what] || scheme;
        const button = make("button", { type: "button", class: "plain", "aria-label": words.forget + ": " + name + ", " + origin, title: words.forget }, sign("close"));
        button.addEventListener("click", () => {
          forget((...each) => each[0] === origin && each[1] === scheme && (each[2] === what || (what === 0 && each[2] === "until")));
          (rows.querySelector("button") || box.closest("form")?.querySelector("input"))?.focus();
        });
        const left = what === 0 ? lasting(get(origin, scheme, "until")) : "";
        return make("li", {}, make("span", {}, make("b", {}, name), make("small", {}, origin.replace(/^https?:\/\//, ""))), make("code", {}, masked(value)), make("small", {}, left), button);
      }));
    };
    followers.add(lay);
    lay();
    return box;
  };

  // --- OAuth ------------------------------------------------------------------------------------------------

  const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const random = (length) => base64url(crypto.getRandomValues(new Uint8Array(length)));

  const askForToken = async (address, fields, client, secret) => {
    const send = (more, headers) => fetch(address, {
      method: "POST", headers: { Accept: "application/json", ...headers }, body: new URLSearchParams({ ...fields, ...more }),
      credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error",
    });
    let got, found;
    try {
      got = await send({ client_id: client, ...(secret ? { client_secret: secret } : {}) });
      found = await got.json().catch(() => ({}));
      if (secret && found.error === "invalid_client") {
        // Some providers accept the secret only in a header.
        const encoded = [client, secret].map((each) => new URLSearchParams({ "": each }).toString().slice(1)).join(":");
        got = await send({}, { Authorization: "Basic " + btoa(encoded) });
        found = await got.json().catch(() => ({}));
      }
    } catch {
      throw new Error(words.no_tokens);
    }
    if (typeof found?.access_token !== "string") throw new Error(fill(words.refused, { text: found?.error_description || found?.error || String(got.status) }));
    return { token: found.access_token, until: found.expires_in > 0 ? Date.now() + found.expires_in * 1000 : 0 };
  };

  let waiting = null;
  const signIn = async (flow, client, secret, scopes, redirect) => {
    const other = open("about:blank", "_blank", "popup,width=560,height=720");
    if (!other) throw new Error(words.no_window);
    // The opened window gets no reference to this page.
    other.opener = null;
    const state = random(24), verifier = random(48);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    const address = new URL(flow.authorization);
    const query = {
      response_type: "code", client_id: client, redirect_uri: redirect, state, code_challenge: base64url(new Uint8Array(digest)),
      code_challenge_method: "S256", ...(scopes.length ? { scope: scopes.join(" ") } : {}),
    };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    waiting?.close();
    const channel = waiting = new BroadcastChannel(CHANNEL);
    const answered = new Promise((done) => {
      channel.addEventListener("message", ({ data }) => {
        if (data?.state !== state) return;
        channel.close();
        done(data);
      });
    });
    other.location.replace(address.href);
    const answer = await answered;
    if (typeof answer.code !== "string") throw new Error(fill(words.refused, { text: answer.error_description || answer.error || "" }));
    const fields = { grant_type: "authorization_code", code: answer.code, redirect_uri: redirect, code_verifier: verifier };
    return askForToken(flow.token, fields, client, secret);
  };

  const NAMES = { authorizationCode: "Authorization code", clientCredentials: "Client credentials", password: words.password };
  // Ways to get a token with the flows of a scheme. `take` receives the token. Readers return to `signedIn`.
  const draw = (scheme, origin, signedIn, field, take) => {
    const redirect = signedIn && new URL(signedIn, location.href).href;
    const usable = (scheme.flows || []).filter((flow) => NAMES[flow.flow] && flow.token && (flow.flow !== "authorizationCode" || (flow.authorization && redirect && crypto.subtle)));
    if (!usable.length) return [];
    const inside = make("div", { class: "try-group" }), said = make("p", { class: "try-said", role: "status" });
    const lasts = make("span", { class: "try-lasts" });
    const summary = make("summary", {}, words.get_token, " ", lasts);
    const box = make("details", { class: "try-oauth", open: !get(origin, scheme.scheme, 0) }, summary);
    const tell = () => { lasts.textContent = lasting(get(origin, scheme.scheme, "until")); };
    const input = (type, value) => make("input", { type, value, autocomplete: "off", spellcheck: "false" });
    const show = (flow) => {
      const provider = new URL(flow.token).origin, byBrowser = flow.flow === "authorizationCode";
      const remembered = (what, type) => {
        const found = input(type, get(provider, scheme.scheme, what));
        found.addEventListener("change", () => set(provider, scheme.scheme, what, found.value.trim()));
        return found;
      };
      const client = remembered("client", "text"), secret = remembered("secret", "password");
      const user = input("text"), password = input("password");
      const all = [...new Map([...(flow.scopes || []), ...(scheme.scopes || []).map((name) => [name, ""])].map((each) => [each[0], each])).values()];
      const ticks = all.map(([name]) => make("input", { type: "checkbox", value: name, checked: (scheme.scopes || []).includes(name) }));
      const chosen = () => ticks.filter((tick) => tick.checked).map((tick) => tick.value);
      const count = make("span", {});
      const scopes = make("details", { class: "try-scopes" }, make("summary", {}, words.scopes + " ", count),
        make("div", {}, ...all.map(([name, about], number) => make("label", {}, ticks[number], make("span", {}, make("code", {}, name), ...(about ? [" " + about] : []))))));
      const recount = () => { count.textContent = "(" + chosen().length + " / " + all.length + ")"; };
      scopes.addEventListener("change", recount);
      recount();
      const copy = make("button", { type: "button", class: "plain", "aria-label": words.copy, title: words.copy }, sign("copy"));
      copy.addEventListener("click", () => copied(copy, redirect));
      const button = make("button", { type: "button", class: "button secondary small" }, byBrowser ? words.sign_in : words.get_token);
      button.addEventListener("click", async () => {
        said.className = "try-said";
        said.textContent = byBrowser ? words.waiting : words.sending;
        try {
          if (!client.value.trim()) {
            client.focus();
            throw new Error(fill(words.missing, { name: words.client_id }));
          }
          const fields = flow.flow === "password" ? { grant_type: "password", username: user.value, password: password.value } : { grant_type: "client_credentials" };
          const scope = chosen();
          const found = byBrowser ? await signIn(flow, client.value.trim(), secret.value, scope, redirect)
            : await askForToken(flow.token, { ...fields, ...(scope.length ? { scope: scope.join(" ") } : {}) }, client.value.trim(), secret.value);
          set(origin, scheme.scheme, "until", found.until);
          take(found.token);
          said.textContent = words.ready;
          tell();
        } catch (error) {
          said.className = "try-said try-trouble";
          said.textContent = error.message;
        }
      });
      inside.replaceChildren(
        ...(flow.flow === "password" ? [field(words.user, "", user), field(words.password, "", password)] : []),
        field(words.client_id, "", client), field(words.client_secret, flow.flow === "clientCredentials" ? "" : words.if_given, secret),
        ...(all.length ? [scopes] : []),
        ...(byBrowser ? [make("p", { class: "try-redirect" }, words.redirect + " ", make("code", {}, redirect), copy)] : []),
        make("p", {}, button), said);
    };
    const flows = make("select", { "aria-label": words.way }, ...usable.map((flow, number) => make("option", { value: number }, NAMES[flow.flow])));
    flows.addEventListener("change", () => show(usable[flows.value]));
    box.append(...(usable.length > 1 ? [flows] : []), inside);
    show(usable[0]);
    tell();
    return [box];
  };

  // A form field with its label and space for an error message.
  let fields = 0;
  const labeled = (name, note, control, isRequired) => {
    const box = control.matches("input, select, textarea") ? control : control.querySelector("input, select, textarea");
    box.id ||= "try-" + ++fields;
    const trouble = make("p", { class: "try-trouble", hidden: true });
    trouble.id = box.id + "-trouble";
    box.setAttribute("aria-describedby", trouble.id);
    return make("div", { class: "try-field" },
      make("label", { for: box.id }, make("b", {}, name), ...(note || isRequired ? [make("small", {}, note || "", ...(isRequired ? [make("i", {}, " " + words.required)] : []))] : [])), control, trouble);
  };
  // The fields of one scheme for one server, with all information about the scheme.
  const ask = (scheme, origin, signedIn) => {
    const names = scheme.beyond === "certificate" ? [] : scheme.basic ? [words.user, words.password] : [scheme.scheme];
    const boxes = names.map((name, number) => {
      const box = make("input", {
        type: scheme.basic && number === 0 ? "text" : "password", autocomplete: "off", spellcheck: "false",
        placeholder: scheme.placeholder, value: get(origin, scheme.scheme, number),
      });
      box.addEventListener("change", () => {
        set(origin, scheme.scheme, number, box.value);
        // How long manually entered values last is unknown.
        set(origin, scheme.scheme, "until", "");
      });
      return box;
    });
    const where = scheme.scopes?.length ? scheme.scopes.join(" ") : scheme.basic ? "" : scheme.name + (scheme.place === "header" ? "" : ", " + scheme.place);
    const links = (scheme.flows || []).flatMap((flow) => [flow.authorization, flow.token].filter(Boolean).map((href) => [flow.flow, href]));
    const beyond = scheme.beyond && make("p", { class: "try-beyond" }, fill(words[scheme.beyond], { name: scheme.scheme, scheme: scheme.prefix }));
    const shown = [...(beyond ? [beyond] : []), ...boxes.map((box, number) => {
      if (box.type !== "password") return labeled(names[number], where, box);
      const eye = make("button", { type: "button", class: "plain try-eye", "aria-pressed": "false" }, words.show);
      eye.addEventListener("click", () => {
        box.type = box.type === "password" ? "text" : "password";
        eye.setAttribute("aria-pressed", box.type === "text");
      });
      return labeled(names[number], where, make("span", { class: "try-secret" }, box, eye));
    }), ...draw(scheme, origin, signedIn, labeled, (token) => set(origin, scheme.scheme, 0, token)), ...(links.length ? [make("dl", { class: "try-flows" }, ...links.flatMap(([name, href]) => [make("dt", {}, name), make("dd", {}, make("a", { href, target: "_blank", rel: "noopener noreferrer" }, href))]))] : [])];
    return { boxes, shown };
  };
  const nameOf = (way) => way.map((scheme) => scheme.scheme).join(" + ") || "–";
  const keeping = () => {
    const box = make("input", { type: "checkbox", checked: keeps });
    box.addEventListener("change", () => { keeps = box.checked; keep(); });
    followers.add(() => { box.checked = keeps; });
    return make("label", { class: "try-keep" }, box, " " + words.keep);
  };
  // The same on a separate page, for all operations.
  const card = (form) => {
    const originOf = ({ url, variables }) => {
      for (const each of variables || []) url = url.replaceAll("{" + each.name + "}", each.value || each.name);
      try { return new URL(url, location.href).origin; } catch { return url; }
    };
    const origins = [...new Set(form.servers.map(originOf))];
    const choice = (label, names) => make("select", { "aria-label": label }, ...names.map((name, number) => make("option", { value: number }, name)));
    const server = choice(words.server, origins), way = choice(words.way, form.security.map(nameOf));
    const ready = make("span", { class: "access-ready", role: "status" });
    const group = make("div", { class: "try-group" });
    let asked = [];
    const follow = () => {
      const origin = origins[server.value];
      for (const [scheme, { boxes }] of asked) boxes.forEach((box, number) => { box.value = get(origin, scheme.scheme, number); });
      const has = asked.length && asked.every(([scheme, { boxes }]) => boxes.every((_, number) => get(origin, scheme.scheme, number)));
      ready.replaceChildren(...(has ? [sign("check"), words.ready] : []));
    };
    const lay = () => {
      asked = form.security[way.value].map((scheme) => [scheme, ask(scheme, origins[server.value], form.signed_in)]);
      group.replaceChildren(...asked.flatMap(([, { shown }]) => shown));
      follow();
    };
    way.addEventListener("change", lay);
    server.addEventListener("change", lay);
    followers.add(follow);
    const box = make("section", { class: "try access-card", "aria-label": words.your_access },
      make("header", {}, make("strong", {}, words.your_access), ready),
      make("form", { class: "try-group" }, ...(origins.length > 1 ? [server] : []), ...(form.security.length > 1 ? [way] : []), group, keeping(), listing()));
    box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    lay();
    return box;
  };

  // An authentication page: its URLs can be copied, and its card is above the first request.
  const lay = async (address, style) => {
    const text = document.querySelector(".api-access");
    for (const code of text.querySelectorAll(".table.pair code")) code.after(make("button", { type: "button", class: "copy-path", "aria-label": words.copy, title: words.copy, "data-done": words.copied, "data-copy-text": code.textContent }, sign("copy")));
    document.head.append(make("link", { rel: "stylesheet", href: style }));
    const got = await fetch(address), home = text.querySelector(".columns > .column + .column");
    if (got.ok && home) home.prepend(card(await got.json()));
  };

  globalThis.octavoAccess = {
    get, set, listing, ask, lay, labeled, nameOf, keeping,
    follow: (act) => followers.add(act),
  };
})();
