import { DOMParser, type Node } from "prosemirror-model";
import { expect, test } from "vitest";
import { documentType, schema } from "../document/schema.ts";
import { arrange, harmless } from "./pasted.ts";

/** Return pasted HTML in a short, readable form: `type(…)`, marks as `bold|words|`. */
function pasted(html: string): string {
  const place = document.createElement("div");
  place.innerHTML = harmless(html);
  arrange(place);
  const shown = (node: Node): string => {
    const marks = node.marks.map((mark) => mark.attrs.data?.ref?.url ?? mark.type.name).join(" ");
    if (node.isText) return marks ? `${marks}|${node.text}|` : node.text!;
    if (marks) return `${marks}|${shown(node.mark([]))}|`;
    const inside = node.children.map(shown).join(node.inlineContent ? "" : " ");
    const { checked, style, syntax, start, ref, width, alt, formula } = node.attrs.data ?? {};
    const more = [checked, style, syntax, start, ref?.url, width, alt].filter((each) => each !== undefined)
      .map((each) => `:${each}`).join("") + (formula === undefined ? "" : `=${formula}`);
    const type = documentType(node) ?? node.type.name;
    return node.type.name === "paragraph" && !more ? inside : `${type}${more}(${inside})`;
  };
  return DOMParser.fromSchema(schema).parse(place).children.map(shown).join(" ");
}

const word = (level: number, sign: string, words: string): string =>
  `<p class=MsoListParagraph style='text-indent:-18.0pt;mso-list:l0 level${level} lfo1'>` +
  `<span style='font-family:Symbol'><span style='mso-list:Ignore'>${sign}<span style='font:7.0pt "Times New Roman"'>` +
  `&nbsp;&nbsp; </span></span></span>${words}<o:p></o:p></p>`;

test.each([
  [
    "Word: lists are paragraphs with signs",
    `<p class=MsoNormal>Before<o:p></o:p></p>${word(1, "·", "one")}${word(2, "o", "in")}${
      word(1, "·", "<b>two</b>")
    }` +
    `<p class=MsoNormal><o:p>&nbsp;</o:p></p>${word(1, "1.", "first")}${word(1, "2.", "second")}`,
    "Before list-unordered(list-item(one list-unordered(list-item(in))) list-item(bold|two|)) " +
    "list-ordered(list-item(first) list-item(second))",
  ],
  [
    "Word: a box is a table of one cell",
    "<table class=MsoTableGrid><tr><td><p class=MsoNormal>boxed</p></td></tr></table>",
    "boxed",
  ],
  [
    "Google Docs: all in a <b>, weights in styles, boxes as pictures, breaks between blocks",
    '<b style="font-weight:normal;" id="docs-internal-guid-1"><p dir="ltr"><span style="font-weight:700">a</span>' +
    '<span style="font-weight:400"> b</span></p><br><p><span style="font-family:\'Roboto Mono\',monospace">c</span></p>' +
    '<ul><li role="checkbox" aria-checked="true"><img src="data:image/png;base64,x"><p role="presentation">d</p></li></ul>' +
    '<p><a href="https://www.google.com/url?q=https://example.com/e&amp;sa=D">e</a></p></b><br class="Apple-interchange-newline">',
    "bold|a| b code|c| list-tasks(list-item:true(d)) https://example.com/e|e|",
  ],
  [
    "Notion: callouts, tasks, code",
    '<!-- notionvc: 1 --><aside>💡 <p>a</p></aside><ul class="contains-task-list"><li><input type="checkbox" checked> b</li></ul>' +
    '<pre><code class="language-python">c = 1</code></pre>',
    "hint:info(💡 a) list-tasks(list-item:true(b)) code:python(code-line(c = 1))",
  ],
  [
    "Confluence: panels and tasks",
    '<div data-panel-type="warning"><div><p>a</p></div></div><div class="confluence-information-macro ' +
    'confluence-information-macro-tip"><span class="aui-icon confluence-information-macro-icon">x</span><div>b</div></div>' +
    '<div data-task-list-local-id="1"><div data-task-local-id="2" data-task-state="DONE">c</div>' +
    '<div data-task-local-id="3" data-task-state="TODO">d</div></div>',
    "hint:warning(a) hint:success(b) list-tasks(list-item:true(c) list-item:false(d))",
  ],
  [
    "a spreadsheet: several cells are a table, one is its words",
    "<google-sheets-html-origin><style>td{}</style><table><tbody><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></tbody></table>",
    "table(table_head(table_heading(a) table_heading(b)) table_row(table_cell(1) table_cell(2)))",
  ],
  ["one cell of a spreadsheet", "<table><col width=64><tr><td>a</td></tr></table>", "a"],
  [
    "GitHub: notes, code, anchors of headings",
    '<h2 tabindex="-1">a<a class="anchor" href="#a"><svg></svg></a></h2><div class="markdown-alert markdown-alert-caution">' +
    '<p class="markdown-alert-title"><svg></svg>Caution</p><p>b</p></div><div class="highlight highlight-source-js"><pre>c()</pre></div>',
    "heading-1(a) hint:danger(b) code:js(code-line(c()))",
  ],
  [
    "Word: a list that does not begin with one",
    `${word(1, "5.", "Five")}${word(1, "6.", "Six")}<p class=MsoNormal>x</p>${word(1, "a.", "A")}`,
    "list-ordered:5(list-item(Five) list-item(Six)) x list-ordered(list-item(A))",
  ],
  [
    "images: alone a block, among words in the line, each with its address, its words, and its width",
    '<p>a</p><p><img src="https://e.example/a.png" alt="A" width="300"></p><p>b <img src="//e.example/b.png" alt="B"> c</p>' +
    '<p><a href="https://e.example/"><img src="https://e.example/c.png"></a></p><div><img src="https://e.example/d.png"></div>' +
    '<figure><img src="https://e.example/e.png"><figcaption>What <b>it</b> is</figcaption></figure>',
    "a images(image:https://e.example/a.png:300:A()) b inline-image:https://e.example/b.png:B() c " +
    "https://e.example/|inline-image:https://e.example/c.png()| images(image:https://e.example/d.png()) " +
    "images(image:https://e.example/e.png(caption(What it is)))",
  ],
  [
    "KaTeX: a formula in the line and one by itself, each once",
    '<p>Formula <span class="katex"><span class="katex-mathml"><math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>' +
    '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">' +
    '<span>x</span><span>2</span></span></span> end</p><span class="katex-display"><span class="katex"><span class="katex-mathml">' +
    '<math display="block"><semantics><mi>y</mi><annotation encoding="application/x-tex">y</annotation></semantics></math></span>' +
    '<span class="katex-html" aria-hidden="true">y</span></span></span>',
    "Formula inline-math=x^2() end math=y()",
  ],
  [
    "Wikipedia: a formula is MathML that is hidden, and an image",
    '<p>E <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle E=mc^{2}}">' +
    '<semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">{\\displaystyle E=mc^{2}}</annotation></semantics></math></span>' +
    '<img src="https://w.example/x.svg" alt="{\\displaystyle E=mc^{2}}"></span> f</p>',
    "E inline-math=E=mc^{2}() f",
  ],
  [
    "MathML: what it says in TeX, else its own words once",
    '<p>a <math alttext="a+b"><mi>a</mi><mo>+</mo><mi>b</mi></math> b <mjx-container><svg><text>z</text></svg>' +
    "<mjx-assistive-mml><math><mi>z</mi></math></mjx-assistive-mml></mjx-container></p>",
    "a inline-math=a+b() b z",
  ],
  [
    "hostile HTML gives its words",
    '<p onclick="x()">a<script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">b</a>' +
    '<a href="data:text/html,x">c</a><a href=" java\nscript:x">d</a></p><iframe srcdoc="<p>e</p>"></iframe><style>f</style>',
    "abcd",
  ],
])("%s", (_, html, expected) => {
  expect(pasted(html)).toBe(expected);
});

test("missing images and inline images are distinguished", () => {
  const place = document.createElement("div");
  place.innerHTML = harmless(
    '<p>a<img src="https://e.example/a.png"><img src="file:///c:/b.png"><img src="data:image/png;base64,eA=="></p>',
  );
  const left = arrange(place).map((image) => image.getAttribute("src"));
  expect(left).toEqual(["file:///c:/b.png", "data:image/png;base64,eA=="]);
});

test("unclosed markup takes no longer", () => {
  for (const part of ["<o:p>", "<!--[if x", ' onx="', " style", " ona "]) {
    const html = part.repeat(200_000);
    expect(harmless(html).length).toBeGreaterThanOrEqual(html.length);
  }
});

test("5 MB of HTML and 200 images are read as a whole", () => {
  const text = "All work and no play. ".repeat(50);
  const html = `<p>${text}</p>`.repeat(Math.ceil(5_000_000 / (text.length + 7)));
  const place = document.createElement("div");
  place.innerHTML = harmless(html + '<img src="data:image/png;base64,iVBORw0KGgo=">'.repeat(200));
  expect(arrange(place)).toHaveLength(200);
  const read = DOMParser.fromSchema(schema).parse(place);
  expect(read.textContent.length).toBeGreaterThan(4_900_000);
});

test("a table within a table keeps its words in the outer cell", () => {
  const inner = "<table><tr><th>in</th></tr><tr><td>deep</td></tr></table>";
  const read = pasted(`<table><tr><th>a</th></tr><tr><td>b ${inner}</td></tr></table>`);
  expect(read.match(/table/g)?.length).toBeGreaterThan(0);
  for (const words of ["a", "b", "in", "deep"]) expect(read).toContain(words);
});
