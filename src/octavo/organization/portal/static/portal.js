// Sign-in, invitations, and single sign-on through the API. Secrets arrive in the URL and are removed from it immediately.
const asked = new URLSearchParams(location.search);
const link = asked.get("link");
const secret = asked.get("secret");
const organization = asked.get("organization");
const back = asked.get("next");
const answer = asked.get("answer");

const find = (id) => document.getElementById(id);
const show = (id, shown = true) => { find(id).hidden = !shown; };

// Problems with a form appear above its button, other messages at the end of the page.
function say(text, bad = false, form = null) {
  const status = find("status");
  const button = form?.querySelector(":scope > button");
  if (button) button.before(status);
  else document.querySelector("main").append(status);
  status.textContent = text;
  status.classList.toggle("bad", bad);
}

// The API names the field first. People see the label of its input, or only the problem.
function describe({ field, message }) {
  if (!field) return message;
  const problem = message.slice(field.length + 2);
  const input = [...document.getElementsByName(field)].find((shown) => shown.labels && shown.offsetParent);
  if (input) return `${input.labels[0].firstChild.textContent.trim()}: ${problem}`;
  return problem[0].toUpperCase() + problem.slice(1);
}

async function call(method, path, body) {
  const answer = await fetch(`/v1${path}`, {
    method,
    credentials: "same-origin",
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const found = text ? JSON.parse(text) : null;
  if (!answer.ok) {
    const problem = found?.error ?? { message: `The server responded with status ${answer.status}. Try again later.` };
    throw new Error(describe(problem));
  }
  return found;
}

// Allow one action at a time, and show errors where screen readers announce them. The page's forms are hidden until
// they have their listeners: otherwise, the browser would put a password that is submitted early into the URL.
function on(id, event, work) {
  find(id)?.addEventListener(event, async (happened) => {
    happened.preventDefault();
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => { button.disabled = true; });
    say("Loading…");
    try {
      await work(event === "submit" ? Object.fromEntries(new FormData(happened.target)) : {});
    } catch (error) {
      say(error.message, true, event === "submit" ? happened.target : null);
      if (event === "submit") happened.target.querySelector("[type=password]")?.focus();
    } finally {
      buttons.forEach((button) => { button.disabled = false; });
    }
  });
}

// Let people check the password that they type. The label of the button doesn't change; its state does.
function offerToShow(form) {
  for (const place of form.querySelectorAll(".secret")) {
    const input = place.querySelector("input");
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.append("Show", Object.assign(document.createElement("span"), { className: "unseen", textContent: " password" }));
    const turn = (shown) => {
      input.type = shown ? "text" : "password";
      button.setAttribute("aria-pressed", shown);
    };
    button.addEventListener("click", () => turn(input.type === "password"));
    form.addEventListener("submit", () => turn(false));
    turn(false);
    place.append(button);
  }
}

// Value from an earlier sign-in, so that failed attempts by others don't lock this browser out.
const device = {
  name: (email) => `octavo-device ${email.trim().toLowerCase()}`,
  find(email) {
    try { return localStorage.getItem(this.name(email)) ?? undefined; } catch { return undefined; }
  },
  keep(email, found) {
    try { if (email && found) localStorage.setItem(this.name(email), found); } catch { /* storage is not available */ }
  },
};

async function signOutHere() {
  await call("POST", "/sign-out");
}

async function whoIsIn() {
  try {
    return await call("GET", "/user");
  } catch {
    return null;
  }
}

// Redirect only to pages of this origin.
const isOwn = (path) => path !== null && new URL(path, location.origin).origin === location.origin;

const readInvitation = (secret) => call("POST", "/invitations/read", { secret });

// Show which server this is and, when following an invitation, the organization.
async function introduce() {
  find("about").textContent = location.host;
  const wanted = isOwn(back) ? new URL(back, location.origin) : null;
  if (wanted?.pathname !== "/invitation" || !wanted.searchParams.has("secret")) return;
  const shown = await readInvitation(wanted.searchParams.get("secret"));
  find("about").textContent = `Sign in to accept the invitation from ${shown.invitedBy} to ${shown.organization.title}.`;
}

// Passkeys require a secure context and a browser that parses the options in JSON.
const hasPasskeys = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

async function usePasskey(challenge) {
  const begun = await call("POST", "/sign-in/passkey/start", challenge ? { challenge } : {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options);
  let used;
  try {
    used = (await navigator.credentials.get({ publicKey })).toJSON();
  } catch (error) {
    throw error.name === "NotAllowedError" ? new Error("The browser didn't provide a passkey. Try again.") : error;
  }
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = used.response;
  const response = { clientDataJSON, authenticatorData, signature, userHandle };
  return await call("POST", "/sign-in/passkey", {
    challenge: begun.challenge, credential: { id: used.id, response }, cookie: true,
  });
}

function signIn() {
  let challenge = null;
  offerToShow(find("password"));
  introduce().catch(() => { /* the invitation page shows what is wrong */ });
  if (link) history.replaceState(null, "", "/sign-in");
  show("link", Boolean(link));
  show("password", !link);

  let address = null;
  const finish = async (answer) => {
    device.keep(address, answer.device);
    if (answer.status === "code-needed") {
      challenge = answer.challenge;
      for (const id of ["link", "password"]) show(id, false);
      for (const way of find("ways").children) way.hidden = way.id !== "passkey" || !hasPasskeys || !answer.passkeys;
      show("code");
      find("code").elements.code.focus();
      say("Two-factor authentication is on. Enter a code to continue.");
      return;
    }
    if (link) {
      for (const id of ["link", "code", "ways"]) show(id, false);
      find("password").replaceWith(find("resetting").content);
      offerToShow(find("reset"));
      on("reset", "submit", async ({ password }) => {
        await call("PUT", "/user/password", { password });
        location.assign("/");
      });
      find("reset").elements.password.focus();
      say("You are signed in. You can set a new password now.");
      return;
    }
    location.assign(isOwn(back) ? back : "/");
  };
  const welcome = async () => {
    const user = await whoIsIn();
    if (!user) return;
    for (const id of ["link", "password", "code", "ways"]) show(id, false);
    for (const id of ["open", "out"]) show(id);
    say(`You are signed in as ${user.displayName}.`);
  };

  on("link", "submit", async () => finish(await call("POST", "/sign-in/link/use", { link, cookie: true })));
  on("password", "submit", async ({ email, password }) => {
    address = email;
    await finish(await call("POST", "/sign-in", { email, password, cookie: true, device: device.find(email) }));
  });
  on("code", "submit", async ({ code }) =>
    finish(await call("POST", "/sign-in/code", { challenge, code, cookie: true })));
  const mails = document.body.dataset.mails === "true" && !link;
  for (const id of ["forgot", "mail"]) show(id, mails);
  show("passkey", hasPasskeys && !link);
  on("forgot", "click", () => {
    show("ways", false);
    find("title").textContent = "Reset your password";
    const { value } = find("password").elements.email;
    find("password").replaceWith(find("requesting").content);
    const { email } = find("request").elements;
    email.value = value;
    email.focus();
    on("request", "submit", async (given) => {
      await call("POST", "/sign-in/link", given);
      find("title").textContent = "Check your email";
      find("about").textContent = "";
      show("request", false);
      say("If an account has this email address, we sent it a link. It expires in 15 minutes.");
    });
    find("about").textContent = "We'll email you a link. Use it to sign in and set a new password.";
    say("");
  });
  on("passkey", "click", async () => finish(await usePasskey(challenge)));
  on("mail", "click", async () => {
    const { email } = find("password").elements;
    if (!email.reportValidity()) return say("");
    await call("POST", "/sign-in/link", { email: email.value });
    say("If an account has this email address, we sent it a sign-in link.");
  });
  on("out", "submit", async () => {
    await signOutHere();
    location.assign("/sign-in");
  });
  find("password").elements.email.addEventListener("change", async ({ target }) => {
    document.querySelectorAll("a.way").forEach((way) => way.remove());
    if (!target.validity.valid) return;
    try {
      const ways = await call("POST", "/sign-in/discover", { email: target.value });
      show("mail", ways.methods.includes("link"));
      for (const provider of ways.sso) {
        const way = Object.assign(document.createElement("a"), {
          className: "button second way", href: provider.startURL, textContent: `Sign in with ${provider.label}`,
        });
        find("ways").append(way);
      }
    } catch {
      // Other sign-in methods are optional: the form also works without them.
    }
  });
  if (!link) {
    find("password").elements.email.focus();
    welcome();
  }
}

// Invitations for the email address of a signed-in person, who needs no secret to accept them.
async function openInvitations() {
  show("account", false);
  find("sign-in").href = `/sign-in?next=${encodeURIComponent("/invitation")}`;
  const user = await whoIsIn();
  find("about").textContent = user
    ? "These organizations invited you. Joining one changes nothing else about your account."
    : "Sign in to see your invitations.";
  if (!user) return;
  show("sign-in", false);
  const { items } = await call("GET", "/user/invitations?limit=100");
  if (!items.length) say("You have no pending invitations.");
  for (const item of items) {
    const button = Object.assign(document.createElement("button"), {
      type: "button", className: "second", id: `join-${item.id}`, textContent: `Join ${item.organization.title}`,
    });
    const entry = document.createElement("li");
    entry.append(button);
    find("open").append(entry);
    on(button.id, "click", async () => {
      await call("POST", `/orgs/${item.organization.id}/invites/${item.id}`);
      location.assign(`/o/${item.organization.id}`);
    });
  }
  show("open");
}

function invitation() {
  if (!secret || !organization) {
    openInvitations().catch((error) => say(error.message, true));
    return;
  }
  find("sign-in").href = `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
  let place = "/";
  offerToShow(find("account"));
  on("account", "submit", async ({ displayName, password }) => {
    await call("POST", "/invitations", { secret, displayName, password, cookie: true });
    location.replace(place);
  });
  on("join", "click", async () => {
    await call("POST", `/orgs/${encodeURIComponent(organization)}/invites/${encodeURIComponent(secret)}`);
    location.replace(place);
  });
  const closed = (error) => {
    for (const id of ["account", "ways", "about"]) show(id, false);
    find("title").textContent = "This invitation can't be used";
    say(error.message, true);
  };
  readInvitation(secret).then((shown) => {
    const into = shown.content ? `${shown.content} in ${shown.organization.title}` : shown.organization.title;
    const how = shown.email ? "Create an account to join, or join with an existing one." : "Sign in to join.";
    place = shown.url;
    find("title").textContent = `${shown.invitedBy} invited you to ${into}`;
    find("about").textContent = how;
    find("account").elements.email.value = shown.email ?? "";
    show("account", Boolean(shown.email));
  }).catch(closed);
  whoIsIn().then((user) => {
    if (!user) return;
    find("join").textContent = `Join as ${user.displayName}`;
    show("join");
  });
}

async function sso() {
  if (!answer) throw new Error("This URL is incomplete. Start over at the sign-in page.");
  const here = location.pathname + location.search;
  const waiting = await call("POST", "/sign-in/saml/answer", { answer });
  history.replaceState(null, "", "/sso");
  const goOn = (begun) => location.assign(isOwn(begun.next) ? begun.next : "/");
  on("confirm", "submit", async () => goOn(await call("POST", "/sign-in/saml", { answer })));
  on("connect", "submit", async () => {
    try {
      goOn(await call("POST", "/sign-in/saml/connect", { answer }));
    } catch (error) {
      show("out");  // the sign-in is too old to confirm the identity; signing in again returns here
      throw error;
    }
  });
  on("out", "submit", async () => {
    await signOutHere();
    location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
  });
  const provider = `${waiting.provider} (single sign-on of ${waiting.organization})`;
  if (waiting.step === "confirm") {
    find("about").textContent = `${provider} wants to sign you in as ${waiting.email ?? "a member"}. Continue only if you started this yourself.`;
    show("confirm");
    return;
  }
  find("about").textContent = `${provider} identified you as ${waiting.email}, and an account with this email address exists. `
    + `Connect the account to join ${waiting.organization}. The provider can then sign you in to this organization only.`;
  const user = await whoIsIn();
  if (!user) {
    find("sign-in").href = `/sign-in?next=${encodeURIComponent(here)}`;
    show("sign-in");
  } else if (user.email !== waiting.email) {
    say(`You are signed in as ${user.displayName}, who has another email address. Sign out and try again.`, true);
    show("out");
  } else {
    show("connect");
  }
}

// An app asks to act on behalf of a person, whose consent becomes a code in a URL of the app. If the request names no
// organization, people choose one.
async function connect() {
  const asked = JSON.parse(document.body.dataset.asked);
  find("sign-in").href = `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
  const user = await whoIsIn();
  if (!user) {
    show("sign-in");
    return;
  }
  const { title } = asked.organization ? await call("GET", `/orgs/${encodeURIComponent(asked.organization)}`) : {};
  if (!title) {
    const { items } = await call("GET", "/orgs?limit=1000");
    if (!items.length) {
      say("You are not a member of an organization yet, so there is nothing to connect this app to.", true);
      return;
    }
    const choice = document.querySelector("[name=organization]");
    items.forEach((one) => choice.append(new Option(one.title, one.id)));
    show("where");
  }
  find("who").textContent = `You are signed in as ${user.displayName}. `
    + (title ? `The app will have access to ${title} only.` : "The app will have access to this organization only:");
  show("connect");
  on("connect", "submit", async ({ days, organization }) => {
    const scopes = [...document.querySelectorAll("[name=scope]:checked")].map((box) => box.value);
    try {
      const made = await call("POST", "/user/agents", { organization, ...asked, scopes, days: +days });
      location.assign(made.url);
    } catch (error) {
      show("sign-in");  // the sign-in is too old to confirm the identity
      throw error;
    }
  });
}

({ connect: () => connect().catch((error) => say(error.message, true)), "sign-in": signIn, invitation, sso: () => sso().catch((error) => say(error.message, true)) })[document.body.dataset.page]();
