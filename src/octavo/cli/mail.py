"""Command that receives email."""

from __future__ import annotations

import argparse
import sys

from octavo.cli.commands import DONE, command, option
from octavo.cli.opening import opened
from octavo.cli.output import show, warn
from octavo.kit.texts import counted

_WRONG_DATA, _NO_USER = 65, 67
"""Exit codes of ``sysexits.h`` that make mail servers bounce a message."""


@command(
    "receive-mail",
    option("recipients", nargs="*", metavar="ADDRESS", help="recipient (default: the message's recipients)"),
)
def receive_mail(options: argparse.Namespace) -> int:
    """Store an email from standard input as a record in each source that it is addressed to. The exit code is 67
    if the recipient is unknown, and 65 if the message is larger than 25 MB."""
    from octavo.assistants.sources.mail import MAX_MESSAGE, UnknownRecipient
    from octavo.assistants.sources.mail import receive_mail as receive

    data = sys.stdin.buffer.read(MAX_MESSAGE + 1)
    if len(data) > MAX_MESSAGE:
        warn("The message must be at most 25 MB.")
        return _WRONG_DATA
    try:
        with opened(options) as context:
            count = receive(context, data, options.recipients)
    except UnknownRecipient as error:
        warn(f"No source receives email at this address: {error}")
        return _NO_USER
    show(options, {"sources": count}, f"Stored in {counted(count, 'source')}")
    return DONE
