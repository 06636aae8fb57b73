"""The command-line parser, which is created from the command declarations."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from octavo.cli.commands import Command

_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.S)
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.S)


class _Version(argparse.Action):
    """Action that prints the version. It looks up the version only when needed, so that other commands
    start faster."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"octavo {version('octavo')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Parser that suggests the closest command, choice, or option if an argument is misspelled, and writes its epilog
    only when help is shown."""

    write_epilog: Callable[[], str] | None = None

    def format_help(self) -> str:
        if self.write_epilog is not None:
            self.epilog = self.write_epilog()
            self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            used: argparse.ArgumentParser = self
            for name in (getattr(found, "command", None), getattr(found, "action", None)):
                used = subcommands(used).get(name or "", used)
            used.error(f"unrecognized arguments: {' '.join(rest)}")
        return found

    def error(self, message: str) -> NoReturn:
        if (choice := _CHOICE.search(message)) is not None:
            given, known = choice[1], re.findall(r"[\w-]+", choice[2])
        elif (unknown := _UNKNOWN.search(message)) is not None:
            given, known = unknown[1].split()[0], list(self._option_string_actions)
        else:
            super().error(message)
        near = difflib.get_close_matches(given, known, 1, 0.6)
        super().error(f"{message}; did you mean {near[0]}?" if near else message)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the subcommands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def create_parser(declared: Iterable[Command]) -> argparse.ArgumentParser:
    """Return a parser for the commands. The parsed namespace contains the command's ``run`` function and the
    ``parser`` itself."""
    parser = _Parser(prog="octavo", description="Self-hosted documentation with an open HTTP API.")
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    groups: dict[str, argparse._SubParsersAction[_Parser]] = {}
    for each in declared:
        place = commands
        if (group := each.group) is not None:
            if group.name not in groups:
                made = commands.add_parser(group.name, help=group.text, description=group.text)
                groups[group.name] = made.add_subparsers(dest="action", required=True)
            place = groups[group.name]
        made = place.add_parser(each.name, help=each.text, description=each.text)
        made.set_defaults(run=each.run, **each.defaults)
        made.write_epilog = each.epilog
        for one in (*each.common, *each.options):
            made.add_argument(*one.names, **one.described)
    return parser
