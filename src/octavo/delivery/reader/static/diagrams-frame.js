// The frame in which diagrams are drawn. It has no origin, so code injected through Mermaid can't reach the page.
(() => {
  "use strict";
  let count = 0;
  const draw = async ({ code, dark, colors, font }) => {
    mermaid.initialize({
      startOnLoad: false, securityLevel: "strict", theme: "base", htmlLabels: false, flowchart: { htmlLabels: false },
      fontFamily: font, maxTextSize: 50000, maxEdges: 1000, suppressErrorRendering: true, deterministicIds: true,
      secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "htmlLabels", "fontFamily"],
      themeVariables: { ...colors, darkMode: dark, fontFamily: font, fontSize: "15px" },
      // Lines don't cross the words on them.
      themeCSS: ".edgeLabel rect { opacity: 1 }",
    });
    return picture((await mermaid.render("diagram-" + ++count, code)).svg);
  };
  // An image needs a size of its own and must be XML.
  const picture = (html) => {
    const svg = new DOMParser().parseFromString(html, "text/html").querySelector("svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(/[\s,]+/).map((side) => Math.ceil(Number(side)));
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const said = ["title", "desc"].map((part) => svg.querySelector(`:scope > ${part}`)?.textContent).filter(Boolean);
    return { svg: new XMLSerializer().serializeToString(svg), width, height, said: said.join(". ") };
  };
  let last = Promise.resolve();
  addEventListener("message", ({ data, source }) => {
    if (source !== parent) return;
    last = last.then(() => draw(data)).then(
      (drawn) => parent.postMessage({ id: data.id, drawn }, "*"),
      (error) => parent.postMessage({ id: data.id, line: Number(/line (\d+)/.exec(error.message)?.[1]) || undefined }, "*"),
    );
  });
  parent.postMessage({ ready: true }, "*");
})();
