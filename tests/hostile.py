"""Hostile content that tries to break out of pages, prints, and responses.

``VECTORS`` are the words, ``wrapped`` puts one into every construct of Markdown, ``every_node`` into every field of
every node type.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Mark, Text
from octavo.core.document.schema import BLOCKS, INLINES


def text(words: str, *marks: Mark) -> Text:
    return Text([Leaf(words, list(marks))])


def paragraph(*nodes: Any) -> Block:
    return Block("paragraph", {}, [text(n) if isinstance(n, str) else n for n in nodes])


def url(address: str) -> dict[str, str]:
    return {"kind": "url", "url": address}


SCHEMES = (None, "http", "https", "mailto", "tel")


def scheme_a_browser_sees(address: str) -> str | None:
    """Return the scheme of a URL as the URL standard parses it, without controls and spaces at the ends,
    tabs, and line breaks; and stricter, without any other invisible character, as old clients do."""
    bare = "".join(c for c in address if unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp", "Zs"))
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", bare)
    return match[1].lower() if match else None


VECTORS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script/src=//x>",
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)//",
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1)>",
    "<svg><a xlink:href=javascript:alert(1)>",
    "<svg><use href=data:image/svg+xml,x>",
    "<svg><foreignObject><body onload=alert(1)>",
    "<math><mtext></math><img onerror=x>",
    "<math href=javascript:alert(1)>x",
    "<math><mi xlink:href=javascript:x>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:x>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=javascript:x>",
    "<embed src=javascript:x>",
    "<base href=//evil>",
    "<meta http-equiv=refresh content='0;url=//evil'>",
    "<link rel=stylesheet href=//evil>",
    "<style>*{display:none}</style>",
    "<form action=//evil><input name=x>",
    "<button formaction=javascript:x>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<isindex action=javascript:x>",
    "<noscript><p title='</noscript><img onerror=x>'>",
    "<template><script>x</script></template>",
    "<xmp><script>x</script>",
    "<plaintext>",
    "<textarea></textarea><script>x</script>",
    "<!--><script>alert(1)</script>",
    "<!-- --!><script>x</script>",
    "<![CDATA[<script>x</script>]]>",
    "<?php x ?>",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'z'>]>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '"/onmouseover=alert(1)//',
    "` onmouseover=alert(1)",
    '" autofocus onfocus=alert(1) x="',
    'x" style="background:url(javascript:x)',
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "java\r\nscript:alert(1)",
    "java\x00script:alert(1)",
    "javascript\t:alert(1)",
    "javascript:/*--></title>*/alert(1)",
    "javascript://%0aalert(1)",
    "javascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6A;avascript:alert(1)",
    "&Tab;javascript:alert(1)",
    "vbscript:msgbox(1)",
    "livescript:x",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "DATA:text/html,x",
    "blob:https://x/y",
    "file:///etc/passwd",
    "view-source:javascript:x",
    "feed:javascript:alert(1)",
    "jar:javascript:x",
    "mhtml:x",
    "ms-its:x",
    "filesystem:https://x",
    "about:blank",
    "ftp://x/y",
    "\u2028javascript:alert(1)",
    "\ufeffjavascript:alert(1)",
    "\u00a0javascript:alert(1)",
    "java\u00adscript:alert(1)",
    "java\u200bscript:alert(1)",
    "\u202ejavascript:x",
    "//evil.example/x",
    "\\\\evil.example",
    "/\\evil.example",
    'https://evil.example/" onclick="x',
    "https://evil.example/<script>",
    "https://e.example/'onclick='x",
    "http://[",
    "https://[::1",
    "http://a:99999999/",
    "http://a\u2100b/x",
    "mailto:a@b?subject=<script>",
    'tel:"onclick=',
    '#"><script>x</script>',
    '?q="><img onerror=x>',
    "{{ 7*7 }}",
    "{% raw %}",
    "${alert(1)}",
    "expression(alert(1))",
    "url(javascript:alert(1))",
    "}*{background:red",
    "\\href{javascript:alert(1)}{x}",
    "\\text{<img src=x onerror=alert(1)>}",
    "\\style{background:url(javascript:x)}{x}",
    '\\class{x" onclick="y}{z}',
    "\\url{javascript:x}",
    '\\color{red" onmouseover="x}{y}',
    "\\unicode{x3C}script",
    '\\begin{array}{c" onclick=x}a\\end{array}',
    "\\mathbf{</math><script>x</script>}",
    "\x00",
    "\ud83d",
    "a" * 9000,
    "<" * 500,
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\"'<>&`=/",
    "%3Cscript%3Ealert(1)%3C/script%3E",
]


def filled(kind: str, vector: str) -> Any:
    if kind == "ref":
        return url(vector)
    if kind == "texts":
        return [vector, vector]
    if kind == "object":
        return {
            vector: vector,
            "url": vector,
            "content": vector,
            "name": vector,
            "method": vector,
            "path": vector,
        }
    return {"text": vector, "length": {"unit": vector, "value": vector}}.get(kind, vector)


def every_node(vector: str) -> Document:
    """Return a document with the vector in every field of every type, in every text, and in every fragment."""
    inlines: list[Any] = [
        text(vector),
        text(vector, Mark(vector), Mark("color", {"text": vector, "background": vector})),
    ]
    for name, kind in INLINES.items():
        data = {field: filled(f.kind, vector) for field, f in kind.data.items()}
        fragments = [Fragment(vector, [paragraph(vector)], vector)] if kind.fragments else []
        inlines.append(Inline(name, data, [text(vector)] if kind.children else [], fragments))
        without = {k: v for k, v in data.items() if k not in ("action", "refDark")}
        inlines.append(Inline(name, without, [text(vector)] if kind.children else [], fragments))
    for action in ("ask", "search"):
        inlines.append(
            Inline("button", {"label": vector, "kind": "primary", "action": action, "query": vector})
        )
    blocks = [paragraph(*inlines)]
    for name, block_type in BLOCKS.items():
        data = {field: filled(f.kind, vector) for field, f in block_type.data.items()}
        children: list[Any] = []
        if block_type.children == "blocks":
            children = [paragraph(*inlines), Block("heading-1", {"id": vector}, [text(vector)])]
        elif block_type.children == "inlines":
            children = list(inlines)
        elif block_type.children is not None:
            inner = BLOCKS[block_type.children]
            inner_data = {field: filled(f.kind, vector) for field, f in inner.data.items()}
            inside: list[Any] = list(inlines) if inner.children == "inlines" else [paragraph(vector)]
            captions = [Fragment("caption", [paragraph(vector)])] if inner.fragments else []
            children = [
                Block(inner.type, dict(inner_data), [] if inner.void else inside, captions) for _ in range(2)
            ]
        names = ("caption", "expandable-title", "expandable-body", vector) if block_type.fragments else ()
        fragments = [Fragment(n, [paragraph(*inlines)], n) for n in names]
        blocks.append(Block(name, data, children, fragments))
        for kind_of_unknown in ("html", "text") if name == "unknown" else ():
            blocks.append(Block(name, {"source": vector, "kind": kind_of_unknown}))
    return Document([*blocks, *tables(vector)])


def tables(vector: str) -> list[Block]:
    types = (
        "text",
        "number",
        "checkbox",
        "files",
        "users",
        "rating",
        "select",
        "content-ref",
        "image",
        vector,
    )
    out = []
    for value in (
        vector,
        [vector],
        url(vector),
        {"ref": url(vector), "objectFit": vector, "alt": vector},
        {vector: vector},
        True,
    ):
        definition: dict[str, Any] = {
            t: {
                "id": t,
                "title": vector,
                "type": t,
                "textAlignment": vector,
                "verticalAlignment": vector,
                "max": vector,
                "options": [{"value": vector, "label": vector, "color": vector}],
            }
            for t in types
        }
        for view in (
            {"type": "grid", "columns": list(types), "columnWidths": {"text": vector}, "hideHeader": False},
            {
                "type": "cards",
                "cardSize": vector,
                "columns": list(types),
                "targetDefinition": "content-ref",
                "coverDefinition": "image",
                "coverDefinitionDark": "image",
            },
        ):
            records = {vector: {"orderIndex": vector, "values": dict.fromkeys(types, value)}}
            out.append(Block("table", {"view": view, "definition": definition, "records": records}))
    return out


def wrapped(vector: str) -> list[str]:
    """Return the vector in Markdown, as a person would submit it."""
    one = vector.replace("\n", " ")
    return [
        vector,
        f"# {one}",
        f"[x]({one})",
        f"[x](<{one}>)",
        f"![{one}]({one})",
        f"[{one}][r]\n\n[r]: {one}",
        f"<{one}>",
        f'<a href="{one}">x</a>',
        f"<a href='{one}'>x</a>",
        f'<img src="{one}" alt="{one}">',
        f"```{one}\n{vector}\n```",
        f'{{% hint style="{one}" icon="{one}" %}}\n{vector}\n{{% endhint %}}',
        f'{{% embed url="{one}" %}}',
        f'{{% file src="{one}" %}}',
        f'{{% content-ref url="{one}" %}}\n[{one}]({one})\n{{% endcontent-ref %}}',
        f'{{% tabs %}}\n{{% tab title="{one}" %}}\n{vector}\n{{% endtab %}}\n{{% endtabs %}}',
        f'{{% code title="{one}" %}}\n```\n{vector}\n```\n{{% endcode %}}',
        f"$$\n{vector}\n$$",
        f"$${one}$$",
        f"| {one} |\n| --- |\n| {one} |",
        f"<table><tr><td>{vector}</td></tr></table>",
        f"<details><summary>{vector}</summary>\n\n{vector}\n\n</details>",
        f'<figure><img src="{one}"><figcaption>{vector}</figcaption></figure>',
        f'<mark style="color:{one};">x</mark>',
        f'<a href="{one}" class="button primary" data-icon="{one}">{one}</a>',
        f":{one}:",
        f"[^1]\n\n[^1]: {vector}",
        f"x\n\n{vector}\n\ny",
    ]
