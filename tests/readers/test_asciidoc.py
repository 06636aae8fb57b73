"""Tests of AsciiDoc pages: the result of each construct, Antora resource ids, and limits of includes."""

import time

import pytest

from octavo.interchange.readers.tools import asciidoc
from readers.reading import brought, problems, text, tree
from settled import PATIENCE
from tools import absent


@pytest.fixture(autouse=True)
def library():
    if not asciidoc.SCRIPT.is_file():
        absent("the reader of AsciiDoc was not built")


ANTORA = {
    "docs/antora.yml": (
        "name: acme\ntitle: Acme\nversion: '2.0'\nnav:\n- modules/ROOT/nav.adoc\nasciidoc:\n"
        "  attributes:\n    product: Acme Pro\n    off: false\n"
    ),
    "docs/modules/ROOT/nav.adoc": (
        ".Start\n* xref:index.adoc[Home]\n* Using\n** xref:guide/steps.adoc[]\n"
        "include::partial$nav-more.adoc[]\n* xref:nowhere.adoc[Gone]\n"
    ),
    "docs/modules/ROOT/partials/nav-more.adoc": (
        "** xref:cli:index.adoc[The {product} CLI]\n* https://example.org[Elsewhere^]\n"
    ),
    "docs/modules/ROOT/partials/part.adoc": "From a part, {product}.\n",
    "docs/modules/ROOT/examples/a.rb": "# tag::one[]\nputs 1 # <1>\n# end::one[]\nputs 2\n",
    "docs/modules/ROOT/images/a.png": b"\x89PNG",
    "docs/modules/ROOT/attachments/x.zip": b"PK",
    "docs/modules/cli/pages/index.adoc": (
        "= The CLI\n\n[[flag]]\n`-f`:: Forces it.\n\n[#more]\n== More\n\n[#deep]\nWords.\n"
    ),
    "docs/modules/ROOT/pages/_hidden.adoc": "= Never\n",
    "docs/modules/ROOT/pages/alone.adoc": "= Alone\n",
    "docs/modules/ROOT/pages/index.adoc": (
        "= {product}\n:description: What it is\n\n"
        "See xref:guide/steps.adoc#do-it[the steps], xref:guide/steps.adoc[], "
        "xref:cli:index.adoc#deep[deep], xref:acme:cli:index.adoc#flag[flag] and xref:gone.adoc[gone].\n"
        '\nimage::a.png[An A,title="The A"]\n\nTake xref:attachment$x.zip[it].\n'
    ),
    "docs/modules/ROOT/pages/guide/steps.adoc": """= Steps
:page-aliases: old.adoc

include::partial$part.adoc[]

.Mind
WARNING: The *gap* in {nobody}.

[#do-it]
== Do it

.a.rb
[source,ruby]
----
include::example$a.rb[tag=one]
----
<1> Says it

[tabs]
====
One:: First
Two::
+
----
plain
----
====

.Opens
[%collapsible]
====
Inside
====

[cols="1,1"]
|===
|A |B

|1
|`2`
|===

* [x] done
* [ ] open

[quote,Ada]
Words

include::nothing.adoc[]

stem:[sqrt(x) < 2] and latexmath:[\\beta] and kbd:[Ctrl+C] footnote:[Said below.]
""",
}


def test_an_antora_component_is_read():
    made = brought(ANTORA)
    assert (made.kind, made.name) == ("antora", "Acme")
    assert tree(made) == {
        "Start": {
            "Home": {},
            "Using": {"Steps": {}, "The Acme Pro CLI": {}},
            "Elsewhere": {},
        },
        "Alone": {},
    }
    assert text(made, "alone.md") == "---\nhidden: true\n---\n\n# Alone\n"
    home = text(made, "README.md")
    assert home.startswith("---\ndescription: What it is\n---\n\n# Acme Pro\n")
    assert (
        "[the steps](guide/steps.md#do-it), [Steps](guide/steps.md), [deep](cli/README.md#more), "
        "[flag](cli/README.md) and gone."
    ) in home.replace("[gone](gone.adoc)", "gone")
    assert '<figure><img src="images/a.png" alt="An A"><figcaption><p>The A</p></figcaption></figure>' in home
    assert "[it](attachments/x.zip)" in home
    assert {"images/a.png", "attachments/x.zip"} <= set(made.paths())
    assert not any(path.endswith((".rb", ".adoc", ".yml")) for path in made.paths())


def test_blocks_are_converted():
    made = brought(ANTORA)
    steps = text(made, "guide/steps.md")
    assert "From a part, Acme Pro." in steps
    assert '{% hint style="warning" %}\n**Mind**\n\nThe **gap** in {nobody}.\n{% endhint %}' in steps
    assert '{% code title="a.rb" %}\n```ruby\nputs 1 (1)\n```\n{% endcode %}' in steps
    assert "1. Says it" in steps
    assert '{% tab title="One" %}\nFirst\n{% endtab %}' in steps
    assert '{% tab title="Two" %}\n```\nplain\n```\n{% endtab %}' in steps
    assert "<summary>Opens</summary>" in steps and "| 1   | `2` |" in steps
    assert "* [x] done\n* [ ] open" in steps
    assert "> Words" in steps and "Ada" in steps
    assert "$$\\sqrt{ x } < 2$$ and $$\\beta$$" in steps
    assert "<kbd>Ctrl</kbd>" in steps and "Said below." in steps
    assert "Unresolved" not in steps
    told = problems(made)
    assert ("docs/modules/ROOT/pages/guide/steps.adoc", 49, "missing_include") in told
    assert ("docs/modules/ROOT/pages/guide/steps.adoc", 7, "variable") in told
    assert ("docs/modules/ROOT/pages/index.adoc", 4, "broken_link") in told
    assert sum(code == "broken_link" for _, _, code in told) == 2


def test_a_folder_of_asciidoc_pages_is_read():
    made = brought(
        {
            "README.adoc": (
                "= Guide\n\ninclude::parts/intro.adoc[]\n\n"
                "See <<use.adoc#_run,running>> and image:img/a.png[A].\n"
            ),
            "parts/intro.adoc": "Hello, {docname}.\n",
            "use.adoc": "= Use\n:imagesdir: img\n\n== Run\n\nNOTE: It runs.\n\nimage::a.png[A]\n",
            "img/a.png": b"\x89PNG",
        }
    )
    assert made.kind == "asciidoc" and list(tree(made)) == ["Guide", "Use"]
    assert "[running](use.md#_run)" in text(made, "README.md") and 'src="img/a.png"' in text(
        made, "README.md"
    )
    assert "img/a.png" in text(made, "use.md") and '## Run <a href="#_run" id="_run"></a>' in text(
        made, "use.md"
    )


def test_chapters_of_a_book_become_pages():
    made = brought(
        {
            "docs/book.adoc": (
                "////\nOurs\n////\n= The book\n:doctype: book\n:product: Acme\n\nBefore all.\n\n"
                "include::one.adoc[]\n\n== More\n\ninclude::{root}/docs/two.adoc[leveloffset=+1]\n\n"
                "include::tail.adoc[]\n"
            ),
            "docs/one.adoc": (
                "[[first]]\n== The first\n\n{product}: see <<inside>> and <<first>>.\n\n"
                "include::part.adoc[]\n\n=== Below\n"
            ),
            "docs/two.adoc": "= The second\n\n[[inside]]\n== Inside it\n\nBack to <<first,the first>>.\n",
            "docs/tail.adoc": "== Tail\n\nWords.\n",
            "docs/part.adoc": "A part.\n",
        }
    )
    assert tree(made) == {"The book": {"The first": {}, "More": {"The second": {}, "Tail": {}}}}
    assert "Before all." in text(made, "README.md") and "Tail" not in text(made, "README.md")
    first = text(made, "one.md")
    assert first.startswith("# The first\n\nAcme: see [Inside it](two.md#inside) and [The first](one.md).")
    assert "A part." in first and "\n## Below" in first
    assert "[the first](one.md)" in text(made, "two.md")
    assert problems(made) == []


def test_includes_are_limited(monkeypatch):
    monkeypatch.setattr(asciidoc, "SECONDS", 3.0)
    began = time.monotonic()
    made = brought(
        {
            "a.adoc": "= A\n\n" + "include::b.adoc[]\n" * 50,
            "b.adoc": (
                "x\n\ninclude::b.adoc[]\n\ninclude::b.adoc[]\n\ninclude::/etc/passwd[]\n\n"
                "include::https://example.org/x[]\n"
            ),
            "c.adoc": "= C\n\nAfter it.\n",
        }
    )
    assert time.monotonic() - began < PATIENCE
    assert "After it." in text(made, "c.md")
    assert ("a.adoc", 0, "not_converted") in problems(made)
    assert "root:" not in text(made, "README.md")


def test_files_that_include_each_other_are_reported():
    made = brought(
        {"a.adoc": "= A\n\ninclude::_b.adoc[]\n", "_b.adoc": "of b\n\ninclude::_b.adoc[]\n\nend\n"}
    )
    assert problems(made) == [("a.adoc", 3, "circular_include")]
    assert "include" not in text(made, "README.md") and "of b" in text(made, "README.md")


def test_a_mermaid_diagram_stays_a_diagram():
    made = brought({"a.adoc": "= A\n\n[mermaid,abc,svg]\n....\ngraph TD\n....\n\nlink:#[Up]\n"})
    assert text(made, next(iter(made.origins))) == "# A\n\n```mermaid\ngraph TD\n```\n\n[Up](README.md)\n"
