// Signing in and taking invitations, by the operations of the API. Secrets come in the address and leave it at once.
const asked = new URLSearchParams(location.search);
const link = asked.get("link");
const secret = asked.get("secret");
const organization = asked.get("organization");
const back = asked.get("next");

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

async function whoIsIn() {
  try {
    return await call("GET", "/user");
  } catch {
    return null;
  }
}

// Only back to a page of this origin.
const isOwn = (path) => path !== null && new URL(path, location.origin).origin === location.origin;

function signIn() {
  let challenge = null;
  if (link) history.replaceState(null, "", "/sign-in");
  show("link", Boolean(link));
  show("password", !link);

  const finish = async (answer) => {
    if (answer.status === "code-needed") {
      challenge = answer.challenge;
      for (const id of ["link", "password", "ways"]) show(id, false);
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
  on("password", "submit", async ({ email, password }) =>
    finish(await call("POST", "/sign-in", { email, password, cookie: true })));
  on("code", "submit", async ({ code }) =>
    finish(await call("POST", "/sign-in/code", { challenge, code, cookie: true })));
  on("mail", "click", async () => {
    const { email } = find("password").elements;
    if (!email.reportValidity()) return say("");
    await call("POST", "/sign-in/link", { email: email.value });
    say("If there is an account with this address, a link is on its way to it.");
  });
  on("out", "submit", async () => {
    await call("POST", "/sign-out");
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

function invitation() {
  if (!secret || !organization) {
    say("This address is not complete: open the link of your invitation once more.", true);
    show("account", false);
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
  whoIsIn().then((user) => {
    if (!user) return;
    find("join").textContent = `Join as ${user.displayName}`;
    show("join");
  });
}

({ "sign-in": signIn, invitation })[document.body.dataset.page]();
