r"""Texts that grow: each pattern creates a text of about the requested number of characters.

``PAGES`` are pages (Markdown with front matter), ``LISTINGS`` are code for the highlighter. Parsing and
rendering must take time proportional to the length of each of them, because users can submit them.
"""

from __future__ import annotations

from collections.abc import Callable

Pattern = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Pattern:
    """``unit`` again and again, within ``before`` and ``after``."""
    return lambda size: before + unit * max(1, size // len(unit)) + after


def numbered(form: str, before: str = "", after: str = "") -> Pattern:
    """``form`` again and again, ``#`` in it another number each time."""

    def make(size: int) -> str:
        length = len(form) - form.count("#") + form.count("#") * 4
        return before + "".join(form.replace("#", str(n)) for n in range(max(1, size // length))) + after

    return make


def doubled(first: str, second: str, middle: str = "x") -> Pattern:
    """So many times ``first``, ``middle``, and as many times ``second``."""

    def make(size: int) -> str:
        count = max(1, size // (len(first) + len(second)))
        return first * count + middle + second * count

    return make


def _stairs(unit: str, step: str, between: str = "\n") -> Pattern:
    """Return lines that are each indented by one more ``step``, up to the size; the number of lines grows as
    its square root."""

    def make(size: int) -> str:
        lines: list[str] = []
        total = 0
        while total < size:
            line = step * len(lines) + unit
            lines.append(line)
            total += len(line) + 1
        return between.join(lines)

    return make


def _table(columns: int | None, rows: int | None, cell: str = "x", align: str = "---") -> Pattern:
    """Return a pipe table; the side that is None grows."""

    def make(size: int) -> str:
        wide = columns or max(1, size // (max(1, rows or 1) + 1) // (len(cell) + 3))
        high = rows or max(1, size // wide // (len(cell) + 3))
        row = "| " + " | ".join([cell] * wide) + " |\n"
        return row + "| " + " | ".join([align] * wide) + " |\n" + row * high

    return make


def _html_table(columns: int | None, rows: int | None, cell: str = "<td>x</td>") -> Pattern:
    def make(size: int) -> str:
        wide = columns or max(1, size // (rows or 1) // len(cell))
        high = rows or max(1, size // wide // len(cell))
        return "<table>" + ("<tr>" + cell * wide + "</tr>") * high + "</table>"

    return make


def _front(form: str) -> Pattern:
    return lambda size: "---\n" + numbered(form)(size) + "---\n\n# Title\n\ntext\n"


def _square(outer: str, inner: str) -> Pattern:
    """Return as many of ``outer`` as of ``inner``, one after another: searching for each in all of the other
    is slow."""
    return lambda size: outer * max(1, size // 2 // len(outer)) + inner * max(1, size // 2 // len(inner))


PAGES: dict[str, Pattern] = {
    # Openers and closers that never meet.
    "brackets open": repeated("["),
    "brackets close": repeated("]"),
    "brackets nested": doubled("[", "]"),
    "brackets and address": doubled("[", "](a)"),
    "brackets apart": repeated("[a "),
    "link openers": repeated("[a]("),
    "link openers with angle": repeated("[a](<"),
    "link openers with title": repeated('[a](b "'),
    "links": repeated("[a](b) "),
    "links with long address": lambda n: "[a](" + "b" * n + ")",
    "links with parentheses": lambda n: "[a](" + "(" * n + ")" * n + ")",
    "images open": repeated("!["),
    "images nested": doubled("![", "](a)"),
    "images": repeated("![a](b) "),
    "images in links": repeated("[![a](b)](c) "),
    "references undefined": repeated("[a][b] "),
    "references to one": repeated("[a][b] ", after="\n\n[b]: c\n"),
    "references each its own": numbered("[a][r#] \n\n[r#]: c\n\n"),
    "definitions": numbered("[r#]: c\n"),
    "definitions of one": repeated("[r]: c\n"),
    "definitions without end": repeated("[r]: <c\n"),
    "definition titles without end": repeated("[r]: c '\n"),
    "definition labels without end": repeated("[r\n"),
    "definitions in quotes": numbered("> [r#]: c\n"),
    "long definition label": lambda n: "[" + "a" * n + "]: b",
    "long definition title": lambda n: "[a]: b '" + "c\n" * (n // 2) + "'",
    # Emphasis.
    "stars": repeated("*"),
    "stars and letters": repeated("*a"),
    "stars around letters": repeated("*a*"),
    "stars open": repeated("*a "),
    "stars close": repeated("a* "),
    "double stars open": repeated("**a "),
    "stars of every length": numbered("**a *b ***c "),
    "stars nested": doubled("*a ", " b*"),
    "double stars nested": doubled("**a ", " b**"),
    "underscores": repeated("_"),
    "underscores open": repeated("_a "),
    "underscores nested": doubled("_a ", " b_"),
    "underscores in a word": repeated("a_"),
    "mixed emphasis": repeated("*a _b "),
    "mixed emphasis nested": doubled("*a _b ", " c_ d*"),
    "emphasis that crosses": repeated("*a _b* c_ "),
    "stars in brackets": repeated("[*a](b* "),
    "three and one star": repeated("a***b*c"),
    "strikes": repeated("~~"),
    "strikes open": repeated("~~a "),
    "strikes nested": doubled("~~a ", " b~~"),
    "single strikes": repeated("~a "),
    # Code.
    "backticks": repeated("`"),
    "backticks of growing length": lambda n: " ".join("`" * k for k in range(1, int((2 * n) ** 0.5) + 1)),
    "backticks of growing length with letters": lambda n: "a".join(
        "`" * k for k in range(1, int((2 * n) ** 0.5) + 1)
    ),
    "backticks and letters": repeated("`a"),
    "backtick pairs open": repeated("``a` "),
    "fences": repeated("```\n"),
    "fences with a name": repeated("```a\nb\n```\n"),
    "fence without end": repeated("a\n", before="```\n"),
    "fences of growing length": lambda n: "\n".join("`" * k + "a" for k in range(3, int((2 * n) ** 0.5) + 3)),
    "tilde fences without end": repeated("~~~\na\n"),
    "indented code": repeated("    a\n"),
    "indented code apart": repeated("    a\n\n"),
    "blank lines in code": lambda n: "    a\n" + "\n" * n + "    b",
    "code in lists": repeated("* ```a\n"),
    "code lines": repeated("a b c\n", before="```js\n", after="```\n"),
    "long code line": lambda n: "```js\n" + "a " * (n // 2) + "\n```\n",
    "rich code": repeated(
        "<strong>a</strong>\n",
        before='<pre class="language-js"><code class="lang-js">',
        after="</code></pre>",
    ),
    "rich code in one line": repeated(
        "<strong>a</strong>b", before='<pre><code class="lang-js">', after="</code></pre>"
    ),
    # HTML.
    "less than": repeated("<"),
    "less than letters": repeated("<a"),
    "greater than in a line": repeated("a > "),
    "tags open": repeated("<b>"),
    "tags nested": doubled("a <b>", "</b>"),
    "tags of two kinds nested": doubled("a <b><i>", "</i></b>"),
    "tags that cross": repeated("a <b><i></b></i>"),
    "marks nested": doubled('a <mark style="color:red;">', "</mark>"),
    "keyboard": repeated("a <kbd>b</kbd> "),
    "links of html": repeated('a <a href="b">c</a> '),
    "links of html nested": doubled('a <a href="b">', "</a>"),
    "buttons": repeated('a <a href="b" class="button primary">c</a> '),
    "buttons open": repeated('a <a href="b" class="button primary">'),
    "icons": repeated('a <i class="fa-star">:star:</i> '),
    "images of html": repeated('a <img src="b" alt="c"> '),
    "pictures open": repeated("a <picture><img src='b'>"),
    "spans with classes": repeated('a <span class="b c">d</span> '),
    "attributes": numbered(" a#=b", before="a <b", after=">c</b>"),
    "attributes without value": numbered(" a#", before="a <b", after=">c</b>"),
    "attribute quotes open": repeated(" a='b", before="a <b"),
    "attribute quotes open each": repeated('a <b c="d '),
    "spaces in a tag": lambda n: "a <b" + " " * n + ">",
    "spaces in a tag without end": lambda n: "a <b" + " " * n,
    "comments open": repeated("<!-- a "),
    "comments open on lines": repeated("<!--\n"),
    "comments": repeated("<!-- a -->\n"),
    "comments in text": repeated("a <!-- b --> "),
    "declarations open": repeated("a <!A "),
    "instructions open": repeated("a <? "),
    "character data open": repeated("a <![CDATA[ "),
    "addresses in angles": repeated("<http://a.b> "),
    "addresses in angles open": repeated("<http://a.b "),
    "divs open": repeated("<div>\n"),
    "divs open in lists": repeated("* <div>\n"),
    "divs open and text": repeated("<div>\n<p>a\n"),
    "ends of divs and text": repeated("</div>a\n"),
    "paragraphs of html and tags": repeated("<p>\n{% a %}\n"),
    "tables of html and tags": repeated("<table>\n\n{% a %}\n\n", after="</table>\n"),
    "divs": repeated("<div>\n\na\n\n</div>\n\n"),
    "divs nested": doubled("<div>\n\n", "</div>\n\n", "x\n\n"),
    "divs close": repeated("</div>\n"),
    "paragraphs of html": repeated("<p>a</p>\n"),
    "paragraphs of html open": repeated("<p>"),
    "headings of html": repeated("<h2>a</h2>\n\n"),
    "lists of html": repeated("<li>a</li>", before="<ul>", after="</ul>"),
    "lists of html nested": doubled("<ul><li>", "</li></ul>"),
    "quotes of html nested": doubled("<blockquote>", "</blockquote>"),
    "blocks of html": numbered('<p align="center">a#</p>\n\n'),
    "details open": repeated("<details>\n"),
    "details": repeated("<details>\n<summary>a</summary>\n\nb\n\n</details>\n\n"),
    "details nested": doubled("<details>\n<summary>a</summary>\n\n", "</details>\n\n", "x\n\n"),
    "details in one line": repeated("<details><summary>a</summary>b</details>\n\n"),
    "details on one line": repeated("<details><summary>a</summary>b</details>"),
    "summaries open": repeated("<summary>\n"),
    "summaries on one line": repeated("<summary>a</summary> b "),
    "summaries without details": repeated("<summary>a</summary>\n\n"),
    "figures": repeated('<figure><img src="a" alt=""><figcaption><p>b</p></figcaption></figure>\n\n'),
    "figures open": repeated("<figure>\n"),
    "figures on one line": repeated('<figure><img src="a" alt=""></figure>'),
    "tables of html open": repeated("<table>\n"),
    "tables of html open apart": repeated("<table>\n\n"),
    "table of html with rows": _html_table(3, None),
    "table of html with columns": _html_table(None, 4),
    "table of html with typed columns": lambda n: (
        "<table><thead><tr>"
        + '<th data-type="checkbox">a</th>' * 20
        + "</tr></thead><tbody>"
        + ("<tr>" + "<td>true</td>" * 20 + "</tr>") * (n // 250)
        + "</tbody></table>"
    ),
    "tables of html nested": doubled("<table><tr><td>", "</td></tr></table>"),
    "options of a select": numbered(
        '<option value="a#" label="b"></option>',
        before="<table><thead><tr><th><select>",
        after="</select></th></tr></thead><tbody><tr><td>a</td></tr></tbody></table>",
    ),
    "pre open": repeated("<pre>\n"),
    "scripts open": repeated("<script>\n"),
    "unknown elements nested": doubled("<custom-a>", "</custom-a>"),
    # Tables of pipes.
    "pipes": repeated("|"),
    "pipes apart": repeated("| "),
    "pipes escaped": repeated("\\|"),
    "pipes escaped in a cell": lambda n: "| a |\n| --- |\n| " + "\\|" * (n // 2) + " |\n",
    "pipes escaped in cells": repeated("| \\| |\n", before="| a |\n| --- |\n"),
    "pipes escaped in a heading cell": lambda n: "| " + "\\|" * (n // 2) + " |\n| --- |\n| a |\n",
    "backslashes and pipes": repeated("\\\\|"),
    "table with rows": _table(3, None),
    "table with columns": _table(None, 3),
    "table, square": lambda n: _table(max(2, int(n**0.5) // 2), None)(n),
    "table with empty cells": lambda n: "| a " * 50 + "|\n" + "| - " * 50 + "|\n" + "|\n" * (n // 2),
    "table with short rows": lambda n: "| a " * 50 + "|\n" + "| - " * 50 + "|\n" + "a\n" * (n // 2),
    "tables with empty cells": lambda n: (
        ("| a " * 500 + "|\n" + "| - " * 500 + "|\n" + "|\n" * 130 + "\n") * max(1, n // 4300)
    ),
    "table with code in cells": _table(3, None, "`a`"),
    "table with marks in cells": _table(3, None, "*a* _b_"),
    "table with brackets in cells": _table(3, None, "[a"),
    "tables": repeated("| a |\n| --- |\n| b |\n\n"),
    "table heads": repeated("| a |\n| --- |\n"),
    "table delimiters": repeated("| --- "),
    "table delimiter lines": repeated("---|---\n"),
    "delimiter of dashes": lambda n: "a | b\n" + "-" * n + "|" + "-" * n,
    "delimiter of spaces": lambda n: "a | b\n-" + " " * n + "|-x",
    "pipes under text": repeated("a | b\n"),
    # Lists and quotes.
    "quotes": repeated("> a\n"),
    "quotes nested": repeated("> "),
    "quotes nested and lines": lambda n: ("> " * 30 + "a\n") * max(1, n // 62),
    "quotes lazy": repeated("a\n", before="> "),
    "quote deep, then lazy": lambda n: "> " * 30 + "a\n" + "a\n" * (n // 2),
    "quotes of growing depth": lambda n: "".join("> " * (k % 30) + "a\n" for k in range(n // 32)),
    "lists": repeated("* a\n"),
    "lists loose": repeated("* a\n\n"),
    "lists nested": _stairs("* a", "  "),
    "lists nested on one line": repeated("* "),
    "lists numbered on one line": repeated("1. "),
    "lists numbered": numbered("#. a\n"),
    "lists numbered with large numbers": repeated("999999999. a\n"),
    "lists of tasks": repeated("- [ ] a\n"),
    "lists of many signs": repeated("* a\n- b\n+ c\n"),
    "lists in quotes": repeated("> * a\n"),
    "lists with lazy lines": repeated("a\n", before="* "),
    "lists with indented lines": repeated("  a\n", before="* a\n"),
    "lists and blank lines": lambda n: "* a" + "\n" * n + "* b",
    "list and quote nested": repeated("* > "),
    "lists deep, then many": lambda n: (
        "".join("  " * k + "* a\n" for k in range(15)) + ("  " * 15 + "* b\n") * (n // 34)
    ),
    "lists up and down": lambda n: "".join("  " * (k % 15) + "* a\n" for k in range(n // 18)),
    "empty items": repeated("*\n"),
    "empty items apart": repeated("*\n\n"),
    "items with tabs": repeated("*\ta\n"),
    "dividers": repeated("---\n"),
    "divider of stars": repeated("* * *\n"),
    "long divider that is none": lambda n: "* " * (n // 2) + "a",
    "underlined": repeated("a\n---\n"),
    "underline after long paragraph": repeated("a\n", after="==="),
    "headings": numbered("## a#\n\n"),
    "equal headings": repeated("## a\n\n"),
    "equal headings and numbers": numbered("## a\n\n## a-#\n\n"),
    "headings without text": repeated("##\n"),
    "heading of signs": repeated("#"),
    "heading with closing signs": lambda n: "## a " + "#" * n + " b",
    "heading with spaces": lambda n: "## a" + " " * n + "b",
    "headings with anchors": numbered('## a <a href="#b#" id="b#"></a>\n\n'),
    "equal anchors": repeated('## a <a href="#b" id="b"></a>\n\n'),
    "title with spaces": lambda n: "# a" + " " * n + "#\n\nb",
    # Tags.
    "tag openers": repeated("{%"),
    "tag openers on lines": repeated("{% a\n"),
    "tags of one name": repeated("{% hint %}\n"),
    "tags of many names on one line": numbered("{% a# %} "),
    "tag ends": repeated("{% endhint %}\n"),
    "tags on one line": repeated("{% hint %} "),
    "tags and ends on one line": repeated("{% hint %} a {% endhint %} "),
    "hints": repeated('{% hint style="info" %}\na\n{% endhint %}\n\n'),
    "hints nested": doubled("{% hint %}\n", "{% endhint %}\n", "a\n"),
    "hints and ends that cross": repeated("{% hint %}\n{% tabs %}\n{% endhint %}\n{% endtabs %}\n"),
    "tags of many names": numbered("{% a# %}\n"),
    "tags and ends of many names": lambda n: (
        numbered("{% a# %}\n")(n // 2) + numbered("{% enda# %}\n")(n // 2)
    ),
    "tags and other ends": _square("{% hint %}\n", "{% endtabs %}\n"),
    "tag with attributes": numbered(' a#="b"', before="{% hint", after=" %}\na\n{% endhint %}\n"),
    "tag with open quotes": repeated(" a=\"b' ", before="{% hint", after=" %}\na\n{% endhint %}\n"),
    "tag with quotes and no end": repeated("\"'", before="{% hint "),
    "tag with percents": repeated("%", before="{% hint ", after="\n"),
    "tag with spaces": lambda n: "{% hint " + " " * n + "x",
    "tag in text": repeated("a {% b %} c "),
    "tabs": numbered(
        '{% tab title="a#" %}\nb\n{% endtab %}\n', before="{% tabs %}\n", after="{% endtabs %}\n"
    ),
    "equal tabs": repeated(
        '{% tab title="a" %}\nb\n{% endtab %}\n', before="{% tabs %}\n", after="{% endtabs %}\n"
    ),
    "tabs groups": repeated('{% tabs %}\n{% tab title="a" %}\nb\n{% endtab %}\n{% endtabs %}\n\n'),
    "steps": repeated(
        "{% step %}\n### a\n\nb\n{% endstep %}\n", before="{% stepper %}\n", after="{% endstepper %}\n"
    ),
    "columns": repeated(
        "{% column %}\na\n{% endcolumn %}\n", before="{% columns %}\n", after="{% endcolumns %}\n"
    ),
    "updates": repeated(
        '{% update date="2026-01-02" tags="a,b" %}\n## a\n{% endupdate %}\n',
        before="{% updates %}\n",
        after="{% endupdates %}\n",
    ),
    "embeds": repeated('{% embed url="https://a.b/c" %}\n\n'),
    "embeds with captions": repeated('{% embed url="https://a.b/c" %}\nd\n{% endembed %}\n\n'),
    "embeds without end": repeated('{% embed url="https://a.b/c" %}\na\n\n'),
    "files": repeated('{% file src="a.pdf" %}\n\n'),
    "content references": repeated('{% content-ref url="a.md" %}\n[a](a.md)\n{% endcontent-ref %}\n\n'),
    "includes": repeated('{% include "../a.md" %}\n\n'),
    "conditions": repeated('{% if visitor.claims.a == "b" %}\nc\n{% endif %}\n\n'),
    "conditions nested": doubled("{% if a %}\n", "{% endif %}\n", "b\n"),
    "code tags": repeated('{% code title="a" %}\n```js\nb\n```\n{% endcode %}\n\n'),
    "openapi": repeated('{% openapi src="a.json" path="/a" method="get" %}\n[a](b)\n{% endopenapi %}\n\n'),
    "openapi open": repeated('{% openapi src="a.json" path="/a" method="get" %}\n'),
    "blocks of integrations": repeated('{% @a/b c="d" %}\n\n'),
    "blocks of integrations open": repeated('{% @a/b c="\n'),
    "block of integrations over lines": repeated("d\n", before='{% @a/b c="\n', after='" %}\n'),
    "block of integrations with attributes": numbered(' c#="d"', before="{% @a/b", after=" %}\n"),
    "block of integrations with open quotes": repeated(" c=\"d'e=", before="{% @a/b\n", after="\n%}\n"),
    "prompts": repeated('{% prompt description="a" %}\nb\n{% endprompt %}\n\n'),
    "raw tags": repeated("{% raw %}\na\n{% endraw %}\n"),
    # Math, entities, emoji, addresses.
    "dollars": repeated("$"),
    "dollar pairs": repeated("$$ a "),
    "math in text": repeated("a $$b^2$$ "),
    "math blocks": repeated("$$\na\n$$\n\n"),
    "math blocks open": repeated("$$ x\n"),
    "math blocks apart": repeated("$$\n\n"),
    "formula of braces": lambda n: "$$" + doubled("{", "}")(n) + "$$",
    "formula of powers": lambda n: "$$" + "a^" * (n // 2) + "b$$",
    "formula of fractions": lambda n: "$$" + "\\frac{a}{b}" * (n // 11) + "$$",
    "formulas short and different": numbered("$$a_#$$ b "),
    "entities": repeated("&amp;"),
    "entities open": repeated("&"),
    "entities without end": repeated("&amp"),
    "entities numbered": numbered("&##;"),
    "long entity": lambda n: "&" + "a" * n,
    "emoji codes": repeated(":star: "),
    "emoji codes that are none": numbered(":a#: "),
    "colons": repeated(":"),
    "colons and letters": repeated(":a"),
    "long emoji code": lambda n: ":" + "a" * n + ":",
    "addresses": repeated("https://a.b/c "),
    "addresses run together": repeated("https://"),
    "address with parentheses": lambda n: "https://a.b/" + "(" * (n // 2) + ")" * (n // 2),
    "address with closing signs": lambda n: "https://a.b/" + ")" * n,
    "address with stops": lambda n: "https://a.b/" + "." * n,
    "address with semicolons": repeated("&amp;", before="https://a.b/"),
    "mail addresses": repeated("a@b.c "),
    "www": repeated("www."),
    "curly pairs": repeated("{{"),
    "expressions": repeated("a {{ space.vars.b }} "),
    "expressions of html": repeated('a <code class="expression">space.vars.b</code> '),
    "mentions": repeated('a [b](c "mention") '),
    "backslashes": repeated("\\"),
    "backslashes and signs": repeated("\\*"),
    "backslash breaks": repeated("a\\\n"),
    "hard breaks": repeated("a  \n"),
    "spaces": lambda n: "a" + " " * n + "b",
    "spaces before breaks": lambda n: ("a" + " " * 200 + "\n") * (n // 202),
    "tabs and spaces": repeated("\t "),
    "lines": repeated("a\n"),
    "paragraphs": repeated("a\n\n"),
    "blank lines": repeated("\n"),
    "long word": repeated("a"),
    "words": repeated("ab cd "),
    "different words": numbered("word# "),
    "breaks of other systems": repeated("a\r\n"),
    "carriage returns": repeated("\r"),
    "zero characters": repeated("\0"),
    "wide characters": repeated("あ"),
    "combining characters": repeated("a\u0301"),
    "flags": repeated("\U0001f1e9\U0001f1ea"),
    "characters joined": repeated("\U0001f468\u200d"),
    "controls of direction": repeated("\u202e"),
    "underscores and dots": repeated("a_b.c-"),
    "camel words": repeated("aB"),
    "long name": lambda n: "_".join(["ab"] * (n // 3)),
    # Footnotes.
    "footnotes": numbered("a[^#]\n\n[^#]: b\n\n"),
    "footnote named often": repeated("a[^1] ", after="\n\n[^1]: b\n"),
    "long footnote named often": lambda n: "a[^1] " * (n // 12) + "\n\n[^1]: " + "b " * (n // 4) + "\n",
    "long footnote of marks named often": lambda n: (
        "a[^1] " * (n // 12) + "\n\n[^1]: " + "*b* " * (n // 8) + "\n"
    ),
    "footnotes undefined": numbered("a[^#] "),
    "footnotes of one name": repeated("[^1]: a\n\n"),
    "footnotes in footnotes": lambda n: (
        "a[^0]\n\n" + "".join(f"[^{k}]: b[^{k + 1}]\n\n" for k in range(n // 20))
    ),
    "footnote with lines": repeated("    a\n", before="b[^1]\n\n[^1]: c\n"),
    "footnote with lazy lines": repeated("a\n", before="b[^1]\n\n[^1]: c\n"),
    "footnotes as links": repeated("[a](#user-content-fn-1)[^1] ", after="\n\n[^1]: b\n"),
    "footnote openers": repeated("[^"),
    # Front matter.
    "front matter keys": _front("a#: b\n"),
    "front matter of one key": _front("a: b\n"),
    "front matter of known keys": _front("description: b\n"),
    "front matter with lists": _front("a#:\n  - b\n  - c\n"),
    "front matter nested in brackets": lambda n: "---\na: " + "[" * n + "]" * n + "\n---\n\n# a\n",
    "front matter nested in braces": lambda n: (
        "---\na: " + "{b: " * (n // 4) + "}" * (n // 4) + "\n---\n\n# a\n"
    ),
    "front matter nested by lines": lambda n: "---\n" + _stairs("a:", " ")(n) + "\n---\n\n# a\n",
    "front matter with one list": lambda n: "---\na:\n" + "- b\n" * (n // 4) + "---\n\n# a\n",
    "front matter with anchors": lambda n: (
        "---\na0: &a0 [b]\n"
        + "".join(f"a{k + 1}: &a{k + 1} [*a{k}, *a{k}]\n" for k in range(n // 24))
        + "---\n\n# a\n"
    ),
    "front matter with merges": lambda n: (
        "---\na: &a {b: c}\nd:\n" + "  <<: *a\n" * (n // 10) + "---\n\n# a\n"
    ),
    "front matter with long text": lambda n: (
        "---\ndescription: >-\n" + "  a b c\n" * (n // 8) + "---\n\n# a\n"
    ),
    "front matter with a long line": lambda n: "---\ndescription: " + "a " * (n // 2) + "\n---\n\n# a\n",
    "front matter with a long number": lambda n: "---\na: " + "1" * n + "\n---\n\n# a\n",
    "front matter with colons and numbers": lambda n: "---\na: " + "1:" * (n // 2) + "1\n---\n\n# a\n",
    "front matter with a complex key": lambda n: (
        "---\n? " + "[" * 50 + "]" * 50 + "\n: a\n" + "? b\n" * (n // 4) + "---\n\n# a\n"
    ),
    "front matter quotes": lambda n: '---\na: "' + "\\n" * (n // 2) + '"\n---\n\n# a\n',
    "front matter without end": lambda n: "---\n" + "a: b\n" * (n // 5),
    "front matter with comments": lambda n: "---\n" + "# a\n" * (n // 4) + "---\n\n# a\n",
    "front matter with tags": lambda n: "---\na: [" + "!!str b, " * (n // 9) + "]\n---\n\n# a\n",
}

_WORDS = "if else while for return class public static void int string function var let const def import"

LISTINGS: dict[str, Pattern] = {
    "letters": repeated("a"),
    "words": repeated("ab "),
    "key words": lambda n: (_WORDS + " ") * max(1, n // len(_WORDS)),
    "lines": repeated("ab\n"),
    "blank lines": repeated("\n"),
    "spaces": repeated(" "),
    "spaces and a sign": repeated(" ", after="$"),
    "tabs": repeated("\t"),
    "digits": repeated("1"),
    "digits and dots": repeated("1."),
    "digits and underscores": repeated("1_"),
    "minus": repeated("-"),
    "equals": repeated("="),
    "equals between": repeated("a="),
    "equals on lines": repeated("a =\n"),
    "colons": repeated(":"),
    "colons between": repeated("a:"),
    "dots between": repeated("a."),
    "commas": repeated("a, "),
    "signs of comments": repeated("/*"),
    "double slashes": repeated("// a\n"),
    "hashes": repeated("#"),
    "quotes": repeated('"'),
    "single quotes": repeated("'"),
    "quotes and letters": repeated('"a'),
    "three quotes": repeated('"""a'),
    "backticks": repeated("`a"),
    "backslashes": repeated("\\"),
    "backslash lines": repeated("a\\\n"),
    "dollars": repeated("$"),
    "dollar braces": repeated("${"),
    "dollar parentheses": repeated("$("),
    "at signs": repeated("@a "),
    "percents": repeated("%"),
    "percent braces": repeated("{%"),
    "double braces": repeated("{{"),
    "parentheses": repeated("("),
    "parentheses closed": doubled("(", ")"),
    "brackets": repeated("["),
    "brackets closed": doubled("[", "]"),
    "braces": repeated("{"),
    "braces closed": doubled("{", "}"),
    "less than": repeated("<"),
    "less than letters": repeated("<a "),
    "elements": repeated("<a>"),
    "elements closed": doubled("<a>", "</a>"),
    "comments open": repeated("<!--"),
    "here documents": numbered("<<A#\n"),
    "stars": repeated("*"),
    "underscores": repeated("_"),
    "calls": repeated("a("),
    "types": repeated("a<b"),
    "classes": repeated("class a "),
    "functions": repeated("function a"),
    "definitions": repeated("def a(b):\n"),
    "declarations": repeated("int a "),
    "names before a parenthesis": repeated("public static a "),
    "regular expressions": repeated("/a"),
    "substitutions": repeated("s/a/"),
    "quote-like": repeated("q{"),
    "documentation": repeated("=begin\n"),
    "assignments": repeated("a := b\n"),
    "targets": repeated("a: b\n"),
    "lines with tabs": repeated("\ta\n"),
    "stairs": _stairs("a:", " "),
    "wide characters": repeated("あ"),
    "sections": repeated("[a]\n"),
    "prompts": repeated("$ a\n"),
    "semicolons": repeated(";"),
    "pipes": repeated("| a "),
    "tildes": repeated("~"),
    "question marks": repeated("?"),
    "carets": repeated("^"),
    "ampersands": repeated("&a"),
    "exclamation marks": repeated("!"),
}


def _lines_of(line: Pattern) -> Pattern:
    """Yield lines of 1,900 characters each, until the caller stops."""
    return lambda size: (line(1900)[:1950] + "\n") * max(1, size // 1900)


SUMMARIES: dict[str, Pattern] = {
    "entries": numbered("* [a#](b#.md)\n"),
    "entries of one page": repeated("* [a](b.md)\n"),
    "entries without link": repeated("* a\n"),
    "groups": numbered("## a#\n\n* [b#](c#.md)\n"),
    "empty groups": repeated("## a\n"),
    "entries nested": lambda n: "".join("  " * (k % 40) + f"* [a](b{k}.md)\n" for k in range(n // 60)),
    "entries up and down": lambda n: "".join(
        "  " * (0 if k % 2 else 30) + f"* [a](b{k}.md)\n" for k in range(n // 50)
    ),
    "comments without end": repeated("<!--\n"),
    "fences without end": repeated("```a\n"),
    "computed entries": repeated("* ```yaml\n  type: a\n  ```\n"),
    "computed entries without end": repeated("* ```yaml\n  type: a\n"),
    "links without end": _lines_of(repeated("[a", before="* ")),
    "titles without end": _lines_of(repeated(' "b', before="* [a](c")),
    "titles and spaces": _lines_of(repeated(" ", before="* [a](c", after="d)")),
    "stars": _lines_of(repeated("*a ", before="* ")),
    "stars nested": _lines_of(doubled("*a ", " b*")),
    "backticks": _lines_of(repeated("`", before="* ")),
    "backticks of growing length": _lines_of(lambda n: "* " + " ".join("`" * k for k in range(1, 60))),
    "pins without end": _lines_of(repeated('<a id="', before="## ")),
    "pins and spaces": _lines_of(repeated(" ", before="## a", after="b")),
    "entities": _lines_of(repeated("&amp", before="* ")),
    "backslashes": _lines_of(repeated("\\", before="* ")),
}
