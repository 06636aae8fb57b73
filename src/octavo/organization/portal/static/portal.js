// Signing in, taking invitations and what single sign-on asks, by the operations of the API. Secrets come in the address
// and leave it at once.
const asked = new URLSearchParams(location.search);
const link = asked.get("link");
const secret = asked.get("secret");
const organization = asked.get("organization");
const back = asked.get("next");
const answer = asked.get("answer");

const find = (id) => document.getElementById(id);
const show = (id, shown = true) => { find(id).hidden = !shown; };

function say(text, bad = false) {
  find("status").textContent = text;
  find("status").classList.toggle("bad", bad);
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
  if (!answer.ok) throw new Error(found?.error?.message ?? `The server answered ${answer.status}.`);
  return found;
}

// One thing at a time, and what went wrong is said where screen readers hear it.
function on(id, event, work) {
  find(id)?.addEventListener(event, async (happened) => {
    happened.preventDefault();
    const buttons = document.querySelectorAll("button");
    buttons.forEach((button) => { button.disabled = true; });
    say("One moment…");
    try {
      await work(event === "submit" ? Object.fromEntries(new FormData(happened.target)) : {});
    } catch (error) {
      say(error.message, true);
    } finally {
      buttons.forEach((button) => { button.disabled = false; });
    }
  });
}

// What an earlier sign-in left here: with it, wrong tries of strangers do not keep this browser out.
const device = {
  name: (email) => `octavo-device ${email.trim().toLowerCase()}`,
  find(email) {
    try { return localStorage.getItem(this.name(email)) ?? undefined; } catch { return undefined; }
  },
  keep(email, found) {
    try { if (email && found) localStorage.setItem(this.name(email), found); } catch { /* a browser that keeps nothing */ }
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

// Only back to a page of this origin.
const isOwn = (path) => path !== null && new URL(path, location.origin).origin === location.origin;

const readInvitation = (secret) => call("POST", "/invitations/read", { secret });

// Which installation this is and, for who follows an invitation, whose.
async function introduce() {
  find("about").textContent = `To the API and the documentation at ${location.host}.`;
  const wanted = isOwn(back) ? new URL(back, location.origin) : null;
  if (wanted?.pathname !== "/invitation" || !wanted.searchParams.has("secret")) return;
  const shown = await readInvitation(wanted.searchParams.get("secret"));
  find("about").textContent = `To join ${shown.organization.title}, by the invitation of ${shown.invitedBy}.`;
}

// Passkeys: only where the address is safe, and the browser reads what the server writes.
const hasPasskeys = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

async function usePasskey(challenge) {
  const begun = await call("POST", "/sign-in/passkey/start", challenge ? { challenge } : {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options);
  let used;
  try {
    used = (await navigator.credentials.get({ publicKey })).toJSON();
  } catch (error) {
    throw error.name === "NotAllowedError" ? new Error("The browser gave no passkey. Try again.") : error;
  }
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = used.response;
  const response = { clientDataJSON, authenticatorData, signature, userHandle };
  return await call("POST", "/sign-in/passkey", {
    challenge: begun.challenge, credential: { id: used.id, response }, cookie: true,
  });
}

function signIn() {
  let challenge = null;
  introduce().catch(() => { /* the page that it leads to says what is wrong with the invitation */ });
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
      say("Your account has a second factor.");
      return;
    }
    if (isOwn(back)) location.assign(back);
    else await welcome();
  };
  const welcome = async () => {
    const user = await whoIsIn();
    if (!user) return;
    for (const id of ["link", "password", "code", "ways"]) show(id, false);
    show("out");
    say(`You are signed in as ${user.displayName}.`);
  };

  on("link", "submit", async () => finish(await call("POST", "/sign-in/link/use", { link, cookie: true })));
  on("password", "submit", async ({ email, password }) => {
    address = email;
    await finish(await call("POST", "/sign-in", { email, password, cookie: true, device: device.find(email) }));
  });
  on("code", "submit", async ({ code }) =>
    finish(await call("POST", "/sign-in/code", { challenge, code, cookie: true })));
  show("passkey", hasPasskeys && !link);
  on("passkey", "click", async () => finish(await usePasskey(challenge)));
  on("mail", "click", async () => {
    const { email } = find("password").elements;
    if (!email.reportValidity()) return say("");
    await call("POST", "/sign-in/link", { email: email.value });
    say("If there is an account with this address, a link is on its way to it.");
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
      // Other ways to sign in are an offer: without them the form works as before.
    }
  });
  if (!link) welcome();
}

// Those that a person was sent under their own address: taken by being signed in, without a secret.
async function openInvitations() {
  show("account", false);
  find("sign-in").href = `/sign-in?next=${encodeURIComponent("/invitation")}`;
  const user = await whoIsIn();
  find("about").textContent = user
    ? "These organizations invite you. Joining one changes nothing else about your account."
    : "Sign in to see who invites you.";
  if (!user) return;
  show("sign-in", false);
  const { items } = await call("GET", "/user/invitations?limit=100");
  if (!items.length) say("No invitation is open.");
  for (const item of items) {
    const button = Object.assign(document.createElement("button"), {
      type: "button", className: "second", id: `join-${item.id}`, textContent: `Join ${item.organization.title}`,
    });
    const entry = document.createElement("li");
    entry.append(button);
    find("open").append(entry);
    on(button.id, "click", async () => {
      await call("POST", `/orgs/${item.organization.id}/invites/${item.id}`);
      entry.remove();
      say(`You are a member of ${item.organization.title} now.`);
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
  const joined = (text) => {
    for (const id of ["account", "ways"]) show(id, false);
    find("about").textContent = "";
    history.replaceState(null, "", "/invitation");
    say(text);
  };
  on("account", "submit", async ({ displayName, password }) => {
    await call("POST", "/invitations", { secret, displayName, password });
    joined("Your account is made, and you are a member. Sign in with your address and password.");
  });
  on("join", "click", async () => {
    await call("POST", `/orgs/${encodeURIComponent(organization)}/invites/${encodeURIComponent(secret)}`);
    joined("You are a member now.");
  });
  const closed = (error) => {
    for (const id of ["account", "ways", "about"]) show(id, false);
    say(error.message, true);
  };
  readInvitation(secret).then((shown) => {
    const into = shown.content ? `${shown.content} of ${shown.organization.title}` : shown.organization.title;
    const how = shown.email ? "Make an account to join, or join with the one you have." : "Join with your account.";
    find("about").textContent = `${shown.invitedBy} invites you to ${into}. ${how}`;
    show("account", Boolean(shown.email));
  }).catch(closed);
  whoIsIn().then((user) => {
    if (!user) return;
    find("join").textContent = `Join as ${user.displayName}`;
    show("join");
  });
}

async function sso() {
  if (!answer) throw new Error("This address is not complete: start the sign-in again.");
  const here = location.pathname + location.search;
  const waiting = await call("POST", "/sign-in/saml/answer", { answer });
  history.replaceState(null, "", "/sso");
  const goOn = (begun) => location.assign(isOwn(begun.next) ? begun.next : "/");
  on("confirm", "submit", async () => goOn(await call("POST", "/sign-in/saml", { answer })));
  on("connect", "submit", async () => {
    try {
      goOn(await call("POST", "/sign-in/saml/connect", { answer }));
    } catch (error) {
      show("out");  // a sign-in of a while ago proves too little: the way back leads here
      throw error;
    }
  });
  on("out", "submit", async () => {
    await signOutHere();
    location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
  });
  const provider = `${waiting.provider}, the sign-in of ${waiting.organization},`;
  if (waiting.step === "confirm") {
    find("about").textContent = `${provider} sent you here as ${waiting.email ?? "a member"}. Sign in only if you meant to.`;
    show("confirm");
    return;
  }
  find("about").textContent = `${provider} says that you are ${waiting.email}. There is an account with this address. `
    + `Connect it once, and you are a member of ${waiting.organization}, who can sign you in there and nowhere else.`;
  const user = await whoIsIn();
  if (!user) {
    find("sign-in").href = `/sign-in?next=${encodeURIComponent(here)}`;
    show("sign-in");
  } else if (user.email !== waiting.email) {
    say(`You are signed in as ${user.displayName}, under another address.`, true);
    show("out");
  } else {
    show("connect");
  }
}

// An app asks to act for somebody: what they agree to becomes a code in a URL of the app. An app that asks for the API
// names no organization, so they choose one.
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
    + (title ? `It gets access to ${title} only.` : "It gets access to this organization only:");
  show("connect");
  on("connect", "submit", async ({ days, organization }) => {
    const scopes = [...document.querySelectorAll("[name=scope]:checked")].map((box) => box.value);
    try {
      const made = await call("POST", "/user/agents", { organization, ...asked, scopes, days: +days });
      location.assign(made.url);
    } catch (error) {
      show("sign-in");  // a sign-in of a while ago proves too little
      throw error;
    }
  });
}

({ connect: () => connect().catch((error) => say(error.message, true)), "sign-in": signIn, invitation, sso: () => sso().catch((error) => say(error.message, true)) })[document.body.dataset.page]();
