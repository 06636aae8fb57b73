// Diagrams: drawn in a frame without an origin and shown as images, in which no script ever runs.
(() => {
  "use strict";
  const doc = document, { frame: address } = doc.currentScript.dataset, boxes = [...doc.querySelectorAll(".diagram")];
  const tokens = {
    background: "bg", mainBkg: "primary-soft", primaryColor: "primary-soft", primaryTextColor: "strong",
    primaryBorderColor: "primary", nodeBorder: "primary", lineColor: "muted", textColor: "text", titleColor: "strong",
    secondaryColor: "raised", secondaryTextColor: "text", secondaryBorderColor: "line-strong", tertiaryColor: "sunken",
    tertiaryTextColor: "text", tertiaryBorderColor: "line-strong", clusterBkg: "raised", clusterBorder: "line-strong",
    edgeLabelBackground: "bg", noteBkgColor: "warning-soft", noteTextColor: "strong", noteBorderColor: "warning",
    errorBkgColor: "danger-soft", errorTextColor: "danger",
  };
  // Colors for Mermaid, in the light or dark theme.
  const colors = (dark) => {
    const probe = doc.body.appendChild(doc.createElement("i"));
    probe.style.colorScheme = dark ? "dark" : "light";
    const found = {};
    for (const [name, token] of Object.entries(tokens)) {
      probe.style.color = `color-mix(in srgb, var(--${token}), var(--${token}))`;
      const parts = getComputedStyle(probe).color.match(/-?[\d.]+(e-?\d+)?/g).slice(0, 3).map(Number);
      const whole = getComputedStyle(probe).color.startsWith("color(") ? 255 : 1;
      found[name] = "#" + parts.map((v) => Math.round(Math.min(Math.max(v * whole, 0), 255)).toString(16).padStart(2, "0")).join("");
    }
    probe.remove();
    return found;
  };
  const sides = [["only-light", false], ["only-dark", true]].map(([name, dark]) => ({ name, dark, colors: colors(dark) }));
  const font = "ui-sans-serif, system-ui, sans-serif";
  const waiting = new Map();
  const picture = ({ svg, width, height, said }, name, code) => {
    const image = doc.createElement("img");
    Object.assign(image, { className: name, alt: said || code, width, height });
    image.src = "data:image/svg+xml," + encodeURIComponent(svg);
    return image;
  };
  const show = (box, code, drawn) => {
    const link = doc.createElement("a");
    link.className = "zoom";
    link.append(...drawn.map((one, side) => picture(one, sides[side].name, code)));
    link.href = link.firstChild.src;
    box.prepend(link);
    box.classList.add("drawn");
  };
  const frame = doc.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.className = "diagram-frame";
  frame.ariaHidden = "true";
  frame.tabIndex = -1;
  const ask = (message) => new Promise((done) => {
    const id = waiting.size;
    waiting.set(id, done);
    frame.contentWindow.postMessage({ id, font, ...message }, "*");
  });
  const draw = async (box) => {
    const code = box.querySelector("code").textContent, drawn = [];
    for (const { dark, colors } of sides) drawn.push(await ask({ code, dark, colors }));
    // Invalid diagrams stay text.
    if (drawn.every(Boolean)) show(box, code, drawn);
    else box.classList.add("undrawn");
  };
  addEventListener("message", ({ data, source }) => {
    if (source !== frame.contentWindow) return;
    if (data.ready) boxes.reduce((before, box) => before.then(() => draw(box)), Promise.resolve());
    else waiting.get(data.id)(data.drawn);
  });
  const begin = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    begin.disconnect();
    frame.src = address;
    doc.body.append(frame);
  }, { rootMargin: "1000px" });
  boxes.forEach((box) => begin.observe(box));
})();
