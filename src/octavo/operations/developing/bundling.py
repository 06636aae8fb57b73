"""Bundle the files of a script into one module with esbuild, and install the npm packages that the script uses.

Both steps run in Deno, as scripts do, so Node.js isn't required. None of the integration's code is executed.
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
_INSTALL_VARIABLES = re.compile(
    r"(?i)PATH|HOME|USERPROFILE|TMPDIR|XDG_CACHE_HOME|(HTTPS?|ALL|NO)_PROXY"
    r"|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|NPM_CONFIG_\w+|DENO_\w+"
)
"""Environment variables that are passed on when packages are installed: cache locations and network settings."""
_SECONDS = 300
"""Time limit in seconds. It is long enough to install packages over a slow network."""


class BundleFailed(OctavoError):
    """Raised if bundling failed. The message has one line for each problem, with the file and line number."""


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
    """Bundle a script whose entry file is ``entry``, and return the source of the module. Raises BundleFailed if the
    script can't be bundled, and Unavailable if Deno isn't installed."""
    entry = entry.resolve()
    given = msgspec.json.encode({"entry": str(entry), "development": development}).decode()
    arguments = ["run", "--allow-all", "--no-config", "--no-lock", "--node-modules-dir=none"]
    done = _deno([*arguments, str(_PROGRAM), given], entry.parent)
    if done.returncode != 0:
        raise Unavailable(f"esbuild, which bundles scripts, failed: {_last_lines(done.stderr)}")
    answer = msgspec.json.decode(done.stdout, type=_Answer)
    if answer.problems:
        lines = [_format_problem(problem, entry.parent) for problem in answer.problems]
        raise BundleFailed("\n".join(["The script couldn't be bundled:", *lines]))
    return answer.script


def install_packages(folder: Path, say: Callable[[str], None]) -> None:
    """Install missing dependencies of the nearest ``package.json``. If there is a lock file, install the versions
    in it. Raises BadRequest if the dependencies can't be installed, and Unavailable if Deno isn't installed."""
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
    say(f"Installing packages from {home / 'package.json'}")
    done = _deno(["install"], home)
    if done.returncode != 0:
        raise Unavailable(
            f"The packages in {home / 'package.json'} couldn't be installed: {_last_lines(done.stderr)}"
        )


def _deno(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    command, *options = arguments
    try:
        return run_child(
            [find_deno(), command, "--quiet", *options],
            environment={
                name: value for name, value in os.environ.items() if _INSTALL_VARIABLES.fullmatch(name)
            },
            folder=folder,
            seconds=_SECONDS,
        )
    except TimeoutError:
        raise Unavailable(
            f"Installing packages took longer than {_SECONDS} seconds. Check the network connection, and try"
            " again."
        ) from None


def _format_problem(problem: _Problem, folder: Path) -> str:
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
    return " ".join(lines[-3:]) or "no error message"
