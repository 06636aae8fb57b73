"""Tests that scripts are bundled into one module with the options that integrations expect."""

from __future__ import annotations

import pytest

from octavo.errors import BadRequest, Unavailable
from octavo.operations.developing.bundling import BundleFailed, bundle, install_packages

pytestmark = pytest.mark.usefixtures("npm")


def test_several_files_are_bundled_into_one_module(tmp_path):
    (tmp_path / "a.ts").write_text(
        'import text from "./b.raw.js"; export default { text: text as string, MODE };'
    )
    (tmp_path / "b.raw.js").write_text("of its own")
    made = bundle(tmp_path / "a.ts")
    assert '"of its own"' in made and '"production"' in made and "import" not in made
    assert '"development"' in bundle(tmp_path / "a.ts", development=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("export default {\n  a: ,\n};", 'a.ts:2: Unexpected ","'),
        ('\nimport a from "no-such-package"; export default a;', "is the package in package.json?"),
        ('import a from "./absent"; export default a;', 'a.ts:1: Could not resolve "./absent"'),
    ],
)
def test_bundling_errors_name_file_and_line(tmp_path, text, says):
    (tmp_path / "a.ts").write_text(text)
    with pytest.raises(BundleFailed) as caught:
        bundle(tmp_path / "a.ts")
    assert says in caught.value.message and "at " not in caught.value.message.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "error"), [("{", BadRequest), ('{"dependencies": {"a b c": "1"}}', Unavailable)]
)
def test_unavailable_packages_are_reported(tmp_path, text, error):
    (tmp_path / "package.json").write_text(text)
    with pytest.raises(error, match="package.json"):
        install_packages(tmp_path, print)


def test_packages_are_fetched_once_and_only_if_required(tmp_path):
    said = []
    install_packages(tmp_path, said.append)
    (tmp_path / "package.json").write_text('{"name": "mine", "dependencies": {"event-iterator": "2.0.0"}}')
    for _ in range(2):
        install_packages(tmp_path, said.append)
    assert len(said) == 1 and (tmp_path / "node_modules" / "event-iterator").exists()
