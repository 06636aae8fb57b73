"""Commands for the configuration of a server."""

from __future__ import annotations

import argparse

from octavo.cli.commands import DONE, FAILED, CommandGroup, command, option
from octavo.cli.opening import load_settings, opened
from octavo.cli.output import show, table
from octavo.kit.texts import counted

SECRETS = CommandGroup("secrets", "Manage the key that encrypts secrets in the database.")


@SECRETS.command("rotate")
def rotate_key(options: argparse.Namespace) -> int:
    """Re-encrypt all secrets with the first configured key."""
    from octavo.kit.secrets.sealing import rotate

    with opened(options) as context:
        with context.db.write() as tx:
            count = rotate(tx, context.sealer)
        current = context.sealer.current
    show(
        options,
        {"sealed": count, "key": current},
        f"{counted(count, 'secret')} encrypted with key {current}",
    )
    return DONE


@command(
    "completion",
    option("shell", choices=("bash", "fish", "tcsh", "zsh"), help="shell to print the script for"),
    common=(),
)
def print_completion(options: argparse.Namespace) -> int:
    """Print a shell completion script."""
    from octavo.cli.completion import write_script

    print(write_script(options.parser, options.shell))
    return DONE


@command("check")
def check(options: argparse.Namespace) -> int:
    """Check the server's configuration, database, files, and services."""
    from octavo.operations.admin.diagnosis import check_installation

    findings = check_installation(load_settings(options))
    show(
        options,
        [{"part": part, "ok": ok, "message": message} for part, ok, message in findings],
        table(
            ("part", "works", "detail"),
            [(part, "yes" if ok else "NO", message) for part, ok, message in findings],
        ),
    )
    return DONE if all(ok for _, ok, _ in findings) else FAILED
