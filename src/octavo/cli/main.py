"""Entry point of the ``octavo`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from octavo.cli import (
    accounts,
    backups,
    descriptions,
    exports,
    git_syncs,
    imports,
    integrations,
    jobs,
    mail,
    maintenance,
    server,
    serving,
)
from octavo.cli.commands import DONE, FAILED, Command, Failure
from octavo.cli.output import warn
from octavo.cli.parsing import create_parser
from octavo.errors import OctavoError

_MODULES = (
    serving,
    accounts,
    imports,
    exports,
    backups,
    maintenance,
    jobs,
    descriptions,
    git_syncs,
    integrations,
    mail,
    server,
)
"""Modules with commands, in the order of ``octavo --help``."""


def create_command_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    found = (value for module in _MODULES for value in vars(module).values())
    return create_parser(value for value in found if isinstance(value, Command))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command, and exit with code 0 (done), 1 (failed), or 2 (wrong usage)."""
    options = create_command_parser().parse_args(arguments)
    # Files that a command creates (SQLite, the file store, temporary files) are private to its user.
    os.umask(0o077)
    if isinstance(sys.stdout, TextIOWrapper):
        # Characters that the output's encoding lacks, such as those of file names that are not Unicode, are
        # escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = options.run(options)
    except BrokenPipeError:
        code = DONE
    except (OctavoError, Failure, OSError) as error:
        warn(str(error))
        code = FAILED
    except UnicodeEncodeError as error:
        # Names of files can be any bytes. Everything else must be text.
        warn(f"{error.object!a} is not valid UTF-8")
        code = FAILED
    except KeyboardInterrupt:
        code = FAILED
    sys.exit(code)
