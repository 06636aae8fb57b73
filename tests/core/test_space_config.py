import pytest

from octavo.core.space_config import read_config, read_variables
from octavo.core.tags import Tag, read_tags
from octavo.core.yaml_text import MAX_CHARACTERS, YamlError, read_yaml, write_yaml


def codes(problems):
    return [(problem.line, problem.code) for problem in problems]


def test_configuration_is_read():
    config = read_config(
        "# comment\nroot: ./docs/\nstructure:\n  readme: ./start.md\n  summary: nav/TOC.md\n"
        "redirects:\n  old/path: new/file.md\n  /other/: https://example.org\n"
    )
    assert (config.root, config.readme, config.summary) == ("docs/", "start.md", "nav/TOC.md")
    assert config.redirects == {"old/path": "new/file.md", "other": "https://example.org"}
    assert not config.problems


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "root: ./\n", "root: /\n", "root:\n", "\ufeffstructure: {}\r\n"]
)
def test_configuration_has_defaults(text):
    config = read_config(text)
    assert (config.root, config.readme, config.summary, config.problems) == (
        "",
        "README.md",
        "SUMMARY.md",
        [],
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("root: ../x", [(1, "bad_path")]),
        ("redirects: {}\nroot: 5", [(2, "bad_path")]),
        ("structure:\n  readme: 'a\\b.md'", [(2, "bad_path")]),
        ("structure: x", [(1, "bad_value")]),
        ("redirects:\n  a: 1\n  b:\n", [(2, "bad_redirect"), (3, "bad_redirect")]),
        ("redirects: [a]", [(1, "bad_value")]),
        ("rot: x", [(1, "unknown_key")]),
        ("- a", [(1, "bad_value")]),
        ("a: b: c", [(1, "invalid_yaml")]),
        ("a: &x 1\nredirects: {a: *x}", [(1, "unknown_key"), (2, "bad_redirect")]),
        ("a: " + "[" * 100_000, [(1, "invalid_yaml")]),
        ("x" * (MAX_CHARACTERS + 1), [(0, "invalid_yaml")]),
    ],
)
def test_invalid_configuration_is_reported(text, found):
    config = read_config(text)
    assert codes(config.problems) == found
    assert (config.root, config.readme) == ("", "README.md")


def test_variables_are_read():
    variables, problems = read_variables(
        "api: https://x.test\nlimit: 500\nrate: 2.0\nlive: true\ntime: 06:00\nyes: no\n_x: 1\nlist: [1]\n1a: 2\nlong: "
        + "x" * 257
    )
    assert variables == {
        "api": "https://x.test",
        "limit": 500,
        "rate": 2.0,
        "live": True,
        "time": "06:00",
        "yes": "no",
    }
    assert codes(problems) == [
        (7, "bad_variable"),
        (8, "bad_variable"),
        (9, "bad_variable"),
        (10, "bad_variable"),
    ]


def test_tags_are_read():
    tags, problems = read_tags(
        "- tag: a\n  label: A\n  icon: star\n  color: '#f00'\n- tag: b\n- label: c\n- tag: a\n- x\n"
    )
    assert tags == [Tag("a", "A", "star", "#f00"), Tag("b", "b")]
    assert codes(problems) == [(6, "bad_tag"), (7, "bad_tag"), (8, "bad_tag")]
    assert codes(read_tags("a: 1")[1]) == [(1, "bad_value")]


def test_yaml_is_plain_data():
    text = (
        "a: [1, 0x1f, 007, 1.5, ~, 2024-01-01, 1_000, '5', !!str 5, 1:30]\nb: |\n  x\n"
        "c: {d: !!python/name:os.system e}\n"
    )
    assert read_yaml(text).value == {
        "a": [1, 31, "007", 1.5, None, "2024-01-01", "1_000", "5", "5", "1:30"],
        "b": "x\n",
        "c": {"d": "e"},
    }
    assert read_yaml(text).line("c", "d") == 4
    assert read_yaml(write_yaml(read_yaml(text).value)).value == read_yaml(text).value


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]", "? [1]\n: 2", "a: '\x00'", "a\n---\nb", "a: \ud800", "{" * 40, "[" + "1," * 60_000 + "]"],
)
def test_yaml_is_limited(text):
    with pytest.raises(YamlError):
        read_yaml(text)


def test_configuration_of_the_corpora_is_read(corpora):
    read = 0
    for file in corpora.rglob("vars.yaml"):
        variables, problems = read_variables(file.read_text())
        assert variables and not problems
        read += 1
    for file in corpora.rglob("tags.yaml"):
        tags, problems = read_tags(file.read_text())
        assert tags and not problems
        read += 1
    assert read >= 10
