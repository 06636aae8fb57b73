(function ({ domain, api }) {
  let last = null;
  function count() {
    // If only the fragment changed, it is still the same page.
    const url = location.href.split("#")[0];
    if (url === last) return;
    const body = JSON.stringify({ name: "pageview", domain, url, referrer: last ?? document.referrer });
    last = url;
    // Plain text needs no preflight request, so the request can finish after the page was left.
    fetch(api, { method: "POST", headers: { "content-type": "text/plain" }, body, keepalive: true }).catch(() => {});
  }
  count();
  addEventListener("popstate", count);
  addEventListener("pageshow", (event) => {
    if (event.persisted) last = null;
    count();
  });
})
