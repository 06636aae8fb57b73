// Hands what a provider answered to the page of this site that asked, in whichever window that is.
(() => {
  "use strict";
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, "", location.pathname);
  const channel = new BroadcastChannel("octavo-signed-in");
  channel.postMessage(answer);
  channel.close();
  close();
})();
