// Scripts of integrations: some load immediately, the others only after the visitor has consented. The answer is stored in
// the cookie that such scripts already read.
(() => {
  "use strict";
  const NAME = "__gitbook_cookie_granted";
  const bar = document.querySelector("[data-scripts]");
  const read = () => new RegExp(`(?:^|; )${NAME}=(yes|no)(?:;|$)`).exec(document.cookie)?.[1];
  const load = (addresses) =>
    addresses.split(" ").filter(Boolean).map((src) => new Promise((done) => {
      const script = Object.assign(document.createElement("script"), { src, async: true, onload: done, onerror: done });
      document.head.append(script);
    }));
  let loaded = false;
  const act = (answer) => {
    bar.hidden = true;
    if (answer === "yes" && !loaded) {
      loaded = true;
      load(bar.dataset.after);
    }
  };
  const keep = (answer) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${NAME}=${answer}; path=/; max-age=31536000; samesite=lax${secure}`;
    // A running script can only be stopped by leaving the page.
    if (answer === "no" && loaded) location.reload();
    else act(answer);
  };
  const known = () => read() ?? (navigator.globalPrivacyControl ? "no" : undefined);
  // An integration can ask visitors with its own dialog instead of this bar.
  let asks = true;
  window.GitBook = Object.assign(window.GitBook ?? {}, {
    isCookiesTrackingDisabled: () => known() && known() === "no",
    registerCookieBanner: (ask) => {
      asks = false;
      bar.hidden = true;
      ask({ onApprove: () => keep("yes"), onReject: () => keep("no") });
    },
  });
  const running = load(bar.dataset.scripts);
  if (!bar.dataset.after) return;
  document.addEventListener("click", (event) => {
    const answer = event.target.closest?.("[data-consent]")?.dataset.consent;
    if (answer === undefined) return;
    if (answer) return keep(answer);
    bar.hidden = false;
    bar.querySelector("button").focus();
  });
  if (known()) act(known());
  else {
    const late = new Promise((done) => setTimeout(done, 3000));
    Promise.race([Promise.all(running), late]).then(() => {
      if (asks && !known()) bar.hidden = false;
    });
  }
})();
