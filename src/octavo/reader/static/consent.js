// Scripts of integrations: some are loaded at once, the others when the visitor agrees and never before. The answer is
// kept in the cookie that scripts written for such sites read.
(() => {
  "use strict";
  const NAME = "__gitbook_cookie_granted";
  const bar = document.querySelector("[data-scripts]");
  const read = () => new RegExp(`(?:^|; )${NAME}=(yes|no)(?:;|$)`).exec(document.cookie)?.[1];
  const load = (addresses) => {
    for (const src of addresses.split(" ").filter(Boolean)) {
      document.head.append(Object.assign(document.createElement("script"), { src, async: true }));
    }
  };
  let loaded = false;
  const act = (answer) => {
    bar.hidden = true;
    if (answer === "yes" && !loaded) {
      loaded = true;
      load(bar.dataset.after);
    }
  };
  load(bar.dataset.scripts);
  if (!bar.dataset.after) return;
  document.addEventListener("click", (event) => {
    const answer = event.target.closest?.("[data-consent]")?.dataset.consent;
    if (answer === undefined) return;
    if (answer === "") {
      bar.hidden = false;
      bar.querySelector("button").focus();
      return;
    }
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${NAME}=${answer}; path=/; max-age=31536000; samesite=lax${secure}`;
    // What runs already cannot be taken back but by leaving the page.
    if (answer === "no" && loaded) location.reload();
    else act(answer);
  });
  const known = read() ?? (navigator.globalPrivacyControl ? "no" : undefined);
  if (known) act(known);
  else bar.hidden = false;
})();
