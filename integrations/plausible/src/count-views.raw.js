(function ({ domain, api }) {
  let last = null;
  function count() {
    // Where only the fragment changed it is the same page.
    const url = location.href.split("#")[0];
    if (url === last) return;
    const body = JSON.stringify({ name: "pageview", domain, url, referrer: last ?? document.referrer });
    last = url;
    // Plain text asks for no preflight, and outlives the page.
    fetch(api, { method: "POST", headers: { "content-type": "text/plain" }, body, keepalive: true }).catch(() => {});
  }
  count();
  addEventListener("popstate", count);
  addEventListener("pageshow", (event) => {
    if (event.persisted) last = null;
    count();
  });
})
