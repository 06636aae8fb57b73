"""Shell completion of commands."""

from __future__ import annotations

import argparse

import shtab

from octavo.cli.parsing import subcommands


def write_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script for bash, fish, tcsh, or zsh."""
    return _fish(parser) if shell == "fish" else shtab.complete(parser, shell)


def _fish(parser: argparse.ArgumentParser) -> str:
    """Return a completion script for fish, which shtab doesn't support."""
    lines = ["complete -c octavo -f"]

    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def add(parser: argparse.ArgumentParser, way: tuple[str, ...]) -> None:
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in way)
        commands = subcommands(parser)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
                none = f"not __fish_seen_subcommand_from {' '.join(commands)}"
                when = quoted(f"{seen}; and {none}" if seen else none)
                lines.extend(
                    f"complete -c octavo -n {when} -a {name} -d {quoted(helps.get(name, ''))}"
                    for name in commands
                )
            elif seen and action.help is not argparse.SUPPRESS:
                takes = " -r" if action.option_strings and action.nargs != 0 else ""
                described = quoted((action.help or "").replace("%(default)s", str(action.default)))
                choices = f" -a {quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
                names = [
                    f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    for name in action.option_strings
                ]
                if names or choices:
                    lines.append(
                        f"complete -c octavo -n {quoted(seen)} {' '.join(names)}{takes}{choices} -d {described}"
                    )
        for name, inner in commands.items():
            add(inner, (*way, name))

    add(parser, ())
    # These commands have folders and files as arguments.
    lines.append(
        "complete -c octavo -n '__fish_seen_subcommand_from import export publish backup restore verify' -F"
    )
    return "\n".join(lines)
