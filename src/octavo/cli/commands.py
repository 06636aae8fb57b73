"""Declare commands. A declaration contains a command's name, options, and function.

Modules that declare commands import heavy modules inside the functions that need them, so that help is shown
instantly.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

DONE, FAILED, WRONG_USAGE = 0, 1, 2
"""Exit codes."""

Run = Callable[[argparse.Namespace], int]
"""Function that runs a command with its options and returns the exit code."""


class Failure(Exception):
    """Error that ends a command with a message on standard error and exit code 1."""


class Option(NamedTuple):
    """Option or argument of a command, with the parameters of argparse's ``add_argument``."""

    names: tuple[str, ...]
    described: dict[str, Any]


def option(*names: str, **described: object) -> Option:
    """Declare an option or argument with the parameters of ``add_argument``."""
    return Option(names, described)


SERVER = (
    option("--data", metavar="DIR", help="data folder, with the embedded database and files"),
    option("--config", metavar="FILE", type=Path, help="settings file, such as octavo.toml"),
)
JSON = (option("--json", action="store_true", help="print JSON"),)
QUIET = option("--quiet", action="store_true", help="hide the progress bar")


class Command(NamedTuple):
    """Command-line command. ``common``: the options that it shares with other commands. ``epilog``: a function
    that returns the text at the end of the help. ``defaults``: the values of options that the command doesn't
    have."""

    run: Run
    group: CommandGroup | None
    name: str
    options: tuple[Option, ...]
    common: tuple[Option, ...] = (*SERVER, *JSON)
    epilog: Callable[[], str] | None = None
    defaults: Mapping[str, Any] = MappingProxyType({})

    @property
    def text(self) -> str:
        """Return the description of the command: the docstring of its function."""
        return " ".join((self.run.__doc__ or "").split())


class CommandGroup(NamedTuple):
    """Group of commands that start with the same word, such as ``octavo token``."""

    name: str
    text: str

    def command(self, name: str, *options: Option, **more: Any) -> Callable[[Run], Command]:
        """Declare the decorated function as a command of this group. ``more``: the other fields of ``Command``."""
        return lambda run: Command(run, self, name, options, **more)


def command(name: str, *options: Option, **more: Any) -> Callable[[Run], Command]:
    """Declare the decorated function as a command. ``more``: the other fields of ``Command``."""
    return lambda run: Command(run, None, name, options, **more)
