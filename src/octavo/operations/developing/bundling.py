"""Making one module of the files of a script, with esbuild; and fetching the npm packages that it uses.

Both are run by the Deno that runs scripts, so that nobody needs Node.js. Nothing of the integration is run by that.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, OctavoError, Unavailable
from octavo.kit.processes.children import run_child
from octavo.kit.runtime.process import find_deno

_PROGRAM = Path(__file__).with_name("bundle.mjs")
_FETCHING = re.compile(
    r"(?i)PATH|HOME|USERPROFILE|TMPDIR|XDG_CACHE_HOME|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|NPM_CONFIG_\w+|DENO_\w+"
)
"""Names of what fetching packages takes from an author's environment: where they are cached, and the way to them."""
_SECONDS = 300
"""For fetching packages over a slow network."""


class BundleFailed(OctavoError):
    """The message has a line for each problem, with file and line."""


class _Problem(Struct):
    message: str
    file: str | None = None
    line: int | None = None


class _Answer(Struct):
    script: str = ""
    problems: list[_Problem] = []


class _Package(Struct):
    dependencies: dict[str, str] = {}
    name: str = ""


def bundle(entry: Path, *, development: bool = False) -> str:
    """The text of the module that a script is, beginning in the file ``entry``. Raises BundleFailed, Unavailable."""
    entry = entry.resolve()
    given = msgspec.json.encode({"entry": str(entry), "development": development}).decode()
    arguments = ["run", "--allow-all", "--no-config", "--no-lock", "--node-modules-dir=none"]
    done = _deno([*arguments, str(_PROGRAM), given], entry.parent)
    if done.returncode != 0:
        raise Unavailable(f"esbuild, which bundles scripts, could not be run: {_last_lines(done.stderr)}")
    answer = msgspec.json.decode(done.stdout, type=_Answer)
    if answer.problems:
        lines = [_shown(problem, entry.parent) for problem in answer.problems]
        raise BundleFailed("\n".join(["the script cannot be bundled:", *lines]))
    return answer.script


def install_packages(folder: Path, say: Callable[[str], None]) -> None:
    """Fetches what the nearest ``package.json`` depends on, where it is not there yet; a lock file beside it says which
    versions. Raises BadRequest, Unavailable."""
    folder = folder.resolve()
    above = [folder, *folder.parents]
    home = next((one for one in above if (one / "package.json").is_file()), None)
    if home is None:
        return
    try:
        package = msgspec.json.decode((home / "package.json").read_bytes(), type=_Package)
    except msgspec.MsgspecError as error:
        raise BadRequest(f"{home / 'package.json'}: {error}") from None
    if all(any((one / "node_modules" / name).exists() for one in above) for name in package.dependencies):
        return
    say(f"fetching the packages of {home / 'package.json'}")
    done = _deno(["install"], home)
    if done.returncode != 0:
        raise Unavailable(
            f"the packages of {home / 'package.json'} could not be fetched: {_last_lines(done.stderr)}"
        )


def _deno(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    command, *options = arguments
    try:
        return run_child(
            [find_deno(), command, "--quiet", *options],
            environment={name: value for name, value in os.environ.items() if _FETCHING.fullmatch(name)},
            folder=folder,
            seconds=_SECONDS,
        )
    except TimeoutError:
        raise Unavailable(f"fetching packages took longer than {_SECONDS} seconds") from None


def _shown(problem: _Problem, folder: Path) -> str:
    if problem.file is None:
        return f"  {problem.message}"
    hint = ""
    if problem.message.startswith("Could not resolve") and not problem.message.startswith(
        ('Could not resolve "./', 'Could not resolve "../')
    ):
        hint = " (is the package in package.json?)"
    return f"  {(folder / problem.file).resolve()}:{problem.line}: {problem.message}{hint}"


def _last_lines(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-3:]) or "it said nothing"
