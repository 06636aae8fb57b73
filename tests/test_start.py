"""Modules loaded at startup: each costs time at every start, and memory while the process runs."""

from __future__ import annotations

import subprocess
import sys

SERVING = {
    "msgspec",
    "typing_extensions",  # what comes and goes
    "granian",
    "prosemirror",
    "lxml",
    "cssselect",  # pages that several people write
    "anyio",
    "uvloop",
    "idna",
    "certifi",  # HTTP
    "brotli",
    "backports",  # compression
    "cryptography",
    "argon2",  # secrets and passwords
    "markdown_it",
    "mdurl",
    "yaml",
    "Stemmer",  # documents and search
    "jinja2",
    "markupsafe",
    "fontawesome_free_pack",  # pages of sites
    "obstore",
    "prometheus_client",
}
"""Packages of others that each process needs for what it is asked most. Whatever else one needs (Git, SAML,
PDFs, feeds, formulas, listings) is loaded by the function that uses it."""
MODULES_OF_OTHERS = 560
"""Number of modules from other packages, including the standard library's."""
HELP_MODULES = 90


def _loaded(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def _of_others(modules: set[str]) -> set[str]:
    names = {name.partition(".")[0] for name in modules}
    # Extensions register themselves under their own names, which start with an underscore or the name of
    # their compiler.
    own = {name for name in names if name.startswith("_") or name.startswith("cython")}
    return names - own - sys.stdlib_module_names - {"octavo"}


def test_startup_loads_only_required_modules():
    modules = _loaded("import octavo.app\noctavo.app.load_packages()")
    # The server looks for dotenv, which only tools of tests bring.
    assert _of_others(modules) - {"dotenv"} <= SERVING
    assert _of_others(modules) >= SERVING - {"idna", "mdurl", "typing_extensions"}, (
        "a name that nothing needs"
    )
    assert len([name for name in modules if not name.startswith("octavo")]) <= MODULES_OF_OTHERS


def test_startup_loads_no_import_reader():
    modules = _loaded("import octavo.app\noctavo.app.load_packages()")
    assert "octavo.interchange.transfer.runs" in modules
    assert not [name for name in modules if name.startswith("octavo.interchange.readers")]


def test_help_loads_no_dependencies():
    modules = _loaded("from octavo.cli.main import create_command_parser\ncreate_command_parser()")
    assert not _of_others(modules)
    ours = {name for name in modules if name.startswith("octavo") and not name.startswith("octavo.cli.")}
    assert ours <= {"octavo", "octavo.cli", "octavo.errors", "octavo.kit", "octavo.kit.texts"}
    assert len([name for name in modules if not name.startswith("octavo")]) <= HELP_MODULES
