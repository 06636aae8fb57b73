// Passes a provider's response to the page of this site that requested it, which may be in any window.
(() => {
  "use strict";
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, "", location.pathname);
  const channel = new BroadcastChannel("octavo-signed-in");
  channel.postMessage(answer);
  channel.close();
  close();
})();
