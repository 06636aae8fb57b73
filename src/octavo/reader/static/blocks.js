// Blocks of integrations: what they show is asked for once the page is there, two at a time.
(() => {
  "use strict";
  const boxes = document.querySelectorAll("[data-block]").values();
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const fill = async (box) => {
    box.ariaBusy = "true";
    for (let tries = 1; tries <= 3; tries++) {
      const got = await fetch(box.dataset.block, { redirect: "error" }).catch(() => null);
      // Drawn by the server, which escapes whatever others wrote.
      if (got?.ok) box.innerHTML = await got.text();
      if (got?.status !== 503) break;
      await pause(2000 * tries);
    }
    box.ariaBusy = null;
  };
  const work = async () => { for (const box of boxes) await fill(box); };
  work();
  work();
})();
