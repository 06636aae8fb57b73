"""Tests of Fumadocs projects: their order, links, and components."""

from octavo.interchange.readers.choosing import read_source
from readers.reading import adding, brought, problems, source_of, text, tree

PROJECT = {
    "source.config.ts": "import { defineDocs, defineCollections } from 'fumadocs-mdx/config';\n\n"
    "export const blog = defineCollections({ type: 'doc', dir: 'content/blog' });\n"
    "export const docs = defineDocs({ dir: './content/docs' });\n",
    "lib/source.ts": "import { loader } from 'fumadocs-core/source';\n\n"
    "export const source = loader({ baseUrl: '/handbook', source: docs.toFumadocsSource() });\n",
    "app/layout.tsx": (
        'export default ({ children }) => <html lang="en-GB" suppressHydrationWarning>{children}</html>;\n'
    ),
    "content/blog/post.mdx": "---\ntitle: Post\n---\n",
    "content/docs/meta.json": '{"title": "Docs", "pages": ["---[Rocket]Begin---", "index", "(setup)", "---More---", '
    '"guides", "[Star][Source](https://example.org/acme)", "external:[Chat](https://example.org/chat)", "..."]}',
    "content/docs/index.mdx": "---\ntitle: Acme\n---\n\nSee [ports](/handbook/guides/ports#which-ones) and "
    "[steps](./guides/steps.mdx).\n\n"
    '<ImageZoom src="/shot.png" alt="Shot" />\n',
    "content/docs/(setup)/install.mdx": (
        "---\ntitle: Install\nicon: Download\n---\n\n## Check it [!toc]\n\n## Go on [#further]\n"
    ),
    "content/docs/(setup)/upgrade.mdx": "---\ntitle: Upgrade\n---\n",
    "content/docs/about.md": "---\ntitle: About\n---\n\n[in](/handbook/install#further)\n",
    "content/docs/guides/meta.json": '{"title": "How to", "pages": ["steps", "...deep", "!secret", "z...a"]}',
    "content/docs/guides/index.mdx": "---\ntitle: Guides\n---\n",
    "content/docs/guides/secret.mdx": "---\ntitle: Secret\n---\n",
    "content/docs/guides/ports.mdx": "---\ntitle: Ports\n---\n\n## Which ones\n\n[up](../install)\n",
    "content/docs/guides/queues.mdx": "---\ntitle: Queues\n---\n",
    "content/docs/guides/steps.mdx": "---\ntitle: Steps\n---\n",
    "content/docs/guides/deep/one.mdx": "---\ntitle: One\n---\n",
    "public/shot.png": b"\x89PNG",
}


def page(body, **files):
    """Return the page for a Fumadocs page with this body, and its problems."""
    made = brought(
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "content/docs/a.mdx": f"---\ntitle: A\n---\n\n{body}",
            **files,
        }
    )
    return text(made, "README.md").removeprefix("# A\n\n"), [code for _, _, code in problems(made)]


def test_the_tree_follows_the_meta_files():
    made = brought(PROJECT)
    assert (made.kind, made.language) == ("fumadocs", "en-GB")
    assert tree(made) == {
        "Begin": {"Acme": {}, "Setup": {"Install": {}, "Upgrade": {}}},
        "More": {
            "How to": {"Steps": {}, "One": {}, "Queues": {}, "Ports": {}},
            "Source": {},
            "Chat": {},
            "About": {},
        },
        "Secret": {},
    }
    assert "hidden: true" in text(made, "guides/secret.md")
    assert problems(made) == [("content/blog", 0, "pages_left_out")]


def test_folders_in_parentheses_are_not_in_urls():
    made = brought(PROJECT)
    assert text(made, "README.md") == (
        "# Acme\n\nSee [ports](guides/ports.md#which-ones) and [steps](guides/steps.md).\n\n"
        '<img src="shot.png" alt="Shot">\n'
    )
    assert text(made, "about.md") == "# About\n\n[in](install.md#further)\n"
    assert text(made, "guides/ports.md").endswith("[up](../install.md)\n")
    assert text(made, "install.md").endswith("# Install\n\n## Check it\n\n## Go on {#further}\n")
    assert "  handbook/install: install.md\n" in text(made, ".gitbook.yaml")


def test_two_groups_can_contain_pages_with_one_name():
    made = brought(
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "content/docs/(a)/x.mdx": "---\ntitle: First\n---\n",
            "content/docs/(b)/x.mdx": "---\ntitle: Second\n---\n",
        }
    )
    assert tree(made) == {"A": {"First": {}}, "B": {"Second": {}}}


def test_pages_without_a_meta_file_are_sorted_by_name():
    names = ("index", "zebra", "ant/lion", "bee")
    made = brought(
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            **{f"content/docs/{name}.mdx": f"---\ntitle: {name}\n---\n" for name in names},
        }
    )
    assert tree(made) == {"index": {}, "bee": {}, "zebra": {}, "Ant": {"ant/lion": {}}}


def test_an_unreadable_meta_file_is_reported():
    made = brought(
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "content/docs/index.mdx": "---\ntitle: A\n---\n",
            "content/docs/meta.json": '{"pages": [',
            "content/docs/b/meta.json": (
                '{"pages": [1, null, {}, "---", "", "../../..", "...b", "...../", "[x](", ".", ".."]}'
            ),
            "content/docs/b/c.mdx": "---\ntitle: C\n---\n",
        }
    )
    assert tree(made) == {"A": {}, "C": {}}
    assert ("content/docs/meta.json", 0, "invalid_configuration") in problems(made)


def test_components_are_converted():
    assert page(
        '<Cards>\n  <Card href="/docs/a" title="Again" icon={<Star />}>\n    This *one*.\n  </Card>\n</Cards>\n'
    )[0].endswith(
        "<tbody><tr><td><strong>Again</strong></td><td>This <em>one</em>.</td><td><a "
        'href="README.md">README.md</a></td></tr></tbody></table>\n'
    )
    assert page('<Callout type="warn" title="Mind">\n  The gap.\n</Callout>\n') == (
        '{% hint style="warning" %}\n#### Mind\n\nThe gap.\n{% endhint %}\n',
        [],
    )
    assert page(
        "<Tabs items={['npm', 'pnpm']}>\n  <Tab value=\"npm\">N</Tab>\n  <Tab>P</Tab>\n</Tabs>\n"
    ) == (
        (
            '{% tabs %}\n{% tab title="npm" %}\nN\n{% endtab %}\n\n{% tab title="pnpm" %}\nP\n'
            "{% endtab %}\n{% endtabs %}\n"
        ),
        [],
    )
    assert page("<Steps>\n<Step>\n\n### One\n\nDo it.\n\n</Step>\n</Steps>\n") == (
        "{% stepper %}\n{% step %}\n### One\n\nDo it.\n{% endstep %}\n{% endstepper %}\n",
        [],
    )
    assert page(
        '<Accordions type="single">\n<Accordion title="Why?">\nSo.\n</Accordion>\n</Accordions>\n'
    ) == (
        "<details>\n\n<summary>Why?</summary>\n\nSo.\n\n</details>\n",
        [],
    )
    assert page(
        '<Files>\n  <Folder name="app" defaultOpen>\n    <File name="a.ts" />\n  </Folder>\n'
        "</Files>\n\n<InlineTOC items={toc} />\n"
    ) == ("- `app/`\n  - `a.ts`\n", [])


def test_properties_of_a_type_become_a_table():
    assert page(
        "<TypeTable\n  type={{\n    port: {\n      description: 'Where it `listens`',\n"
        "      type: 'number | string',\n      default: 80,\n    },\n"
        "    loud: { type: 'boolean', default: false, deprecated: true },\n"
        "    host: { description: 'Its name', required: true },\n  }}\n/>\n"
    ) == (
        "| Property | Type | Description | Default |\n| --- | --- | --- | --- |\n"
        "| `port` | `number \\| string` | Where it `listens` | `80` |\n"
        "| `loud` *(deprecated)* | `boolean` |  | `false` |\n"
        "| `host` *(required)* |  | Its name |  |\n",
        [],
    )
    assert page("<TypeTable type={made()} />\n\nEnd\n") == ("End\n", ["expression_left_out"])


def test_code_blocks_with_tabs_become_tabs():
    assert page(
        '```ts tab="A" title="a.ts"\nconst a = 1; // [!code ++]\n```\n\n```ts tab="<Star /> B"\nb\n'
        "```\n\nText\n\n```npm\nnpm i acme\n```\n\n```package-install\nacme\n```\n"
    ) == (
        '{% tabs %}\n{% tab title="A" %}\n{% code title="a.ts" %}\n```ts\nconst a = 1;\n```\n'
        "{% endcode %}\n{% endtab %}\n\n"
        '{% tab title="B" %}\n```ts\nb\n```\n{% endtab %}\n{% endtabs %}\n\nText\n\n'
        "```bash\nnpm i acme\n```\n\n```bash\nnpm install acme\n```\n",
        [],
    )


def test_other_files_and_parts_of_them_are_included():
    parts = {
        "content/parts.mdx": (
            '<section id="first">\nFirst part.\n</section>\n\n<section id="second">\nSecond *part*.\n'
            "</section>\n"
        ),
        "content/acme.ts": "export const acme = 1;\n",
    }
    assert page(
        (
            "<include>../parts.mdx#second</include>\n\n<include>\n  ../acme.ts\n</include>\n\n"
            "<include>./gone.mdx</include>\n"
        ),
        **parts,
    ) == ("Second *part*.\n\n```typescript\nexport const acme = 1;\n```\n", ["missing_include"])
    whole, _ = page('<include lang="md">../parts.mdx</include>\n', **parts)
    assert whole.startswith("```md\n<section")


I18N = "export const i18n = defineI18n({ defaultLanguage: 'en', languages: ['en', 'de', 'fr'], %s });\n"
BY_NAMES = {
    "source.config.ts": "from 'fumadocs-mdx/config'",
    "lib/i18n.ts": I18N % "hideLocale: 'default-locale'",
    "content/docs/index.mdx": "---\ntitle: Home\n---\n\n[b](/docs/b)\n",
    "content/docs/index.de.mdx": "---\ntitle: Heim\n---\n\n[b](/docs/b) [b](./b.mdx)\n",
    "content/docs/b.mdx": "---\ntitle: Both\n---\n",
    "content/docs/meta.json": '{"pages": ["---First---", "index", "b"]}',
    "content/docs/meta.de.json": '{"pages": ["---Zuerst---", "index", "b"]}',
}
BY_FOLDERS = {
    "source.config.ts": "from 'fumadocs-mdx/config'",
    "lib/i18n.ts": I18N % "parser: 'dir'",
    "content/docs/en/index.mdx": "---\ntitle: Home\n---\n",
    "content/docs/en/b.mdx": "---\ntitle: Both\n---\n",
    "content/docs/de/index.mdx": "---\ntitle: Heim\n---\n\n[b](/docs/b)\n",
    "content/docs/de/b.mdx": "---\ntitle: Beide\n---\n",
}


def in_languages(files):
    return read_source(source_of(files), lambda source: source, adding, lambda: None, None, True)


def test_languages_are_recognized_by_file_suffix():
    made = in_languages(BY_NAMES)
    assert [(entry.key, entry.language) for entry in made.structure] == [("en", "en"), ("de", "de")]
    assert tree(made.parts["en"]) == {"First": {"Home": {}, "Both": {}}}
    assert tree(made.parts["de"]) == {"Zuerst": {"Heim": {}, "Both": {}}}
    assert "[b](b.md) [b](b.md)" in text(made.parts["de"], "README.md")
    one = brought(BY_NAMES)
    assert (one.language, tree(one)) == ("en", {"First": {"Home": {}, "Both": {}}})
    assert [code for _, _, code in problems(one)] == ["translations_left_out"]


def test_languages_are_recognized_by_folder():
    made = in_languages(BY_FOLDERS)
    assert [entry.key for entry in made.structure] == ["en", "de"]
    assert tree(made.parts["de"]) == {"Heim": {}, "Beide": {}}
    assert "[b](b.md)" in text(made.parts["de"], "README.md")
