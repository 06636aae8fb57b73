/** Converts AsciiDoc pages in a process without permissions. It requests included files from its parent process,
 * which responds with a file of the source. Requests are sent one at a time. */
import { Extensions, load, LoggerManager, MemoryLogger, SafeMode } from "@asciidoctor/core";
import { AsciiMath } from "asciimath-parser";

/** The folder that the source's paths are relative to, so that they look like URLs. */
const ROOT = "http://source.invalid/";
/** Files that earlier pages have included, cached for later pages. */
const texts = new Map();
const ask = globalThis.fetch;
globalThis.fetch = async (address) => {
  const url = String(address);
  if (!texts.has(url)) {
    const answer = await ask(`${ROOT}?file=${encodeURIComponent(url)}`);
    texts.set(url, answer.ok ? await answer.text() : null);
  }
  const text = texts.get(url);
  return {
    ok: text !== null,
    status: text === null ? 404 : 200,
    statusText: "",
    text: () => Promise.resolve(text),
  };
};

/** Convert tabs, an AsciiDoc extension: a block whose terms are the tab titles. */
function registry() {
  return Extensions.create("tabs", function () {
    this.block("tabs", function () {
      this.onContexts("example", "open");
      this.process(async (parent, reader, attributes) => {
        const lines = await reader.readLines();
        const tabsAttributes = { ...attributes, role: "tabset" };
        const block = this.createBlock(parent, "example", null, tabsAttributes, {
          content_model: "compound",
        });
        await this.parseContent(block, lines);
        return block;
      });
    });
  });
}

const SIGNS = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const formulas = new AsciiMath({ display: false });

/** Convert AsciiMath formulas to LaTeX. Other text and the content of listings stay the same. */
function inLatex(html) {
  const pattern = /<(pre|code)\b[\s\S]*?<\/\1>|\\\$([\s\S]{1,5000}?)\\\$/g;
  return html.replace(pattern, (whole, listing, formula) => {
    if (listing) return whole;
    try {
      const said = formulas.toTex(formula.replace(/&(?:lt|gt|amp);/g, (sign) => SIGNS[sign]).trim(), {
        display: false,
      });
      return `\\(${said.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")}\\)`;
    } catch {
      return whole;
    }
  });
}

async function read({ path, text, attributes }) {
  const logger = new MemoryLogger();
  LoggerManager.logger = logger;
  const folder = path.replace(/[^/]*$/, "").replace(/\/$/, "");
  const document = await load(text, {
    safe: SafeMode.SAFE,
    base_dir: ROOT + folder,
    extension_registry: registry(),
    attributes: { docfile: path, ...attributes },
    sourcemap: true,
  });
  const html = await document.convert({ standalone: false });
  const title = document.getDocumentTitle();
  const said = {};
  for (const name of ["description", "page-aliases", "navtitle", "keywords", "imagesdir"]) {
    const value = document.getAttribute(name);
    if (typeof value === "string") said[name] = value;
  }
  const messages = logger.getMessages().map((one) => ({
    severity: String(one.getSeverity()),
    text: String(one.getText()),
    path: one.getSourceLocation()?.getPath() ?? "",
    line: one.getSourceLocation()?.getLineNumber() ?? 0,
  }));
  return { title: typeof title === "string" ? title : "", html: inLatex(String(html)), said, messages };
}

export default {
  async fetch(request) {
    const given = await request.formData();
    return Response.json(await read(JSON.parse(given.get("event"))));
  },
};
