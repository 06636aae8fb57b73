"""Commit statuses that report sync results to the Git provider, if statuses are turned on."""

from __future__ import annotations

from octavo.core.problems import Problem
from octavo.kit.context import Context
from octavo.kit.net.fetch import Fetcher

from .app_access import usable_credential
from .providers import CommitStatus, send_status
from .store import SyncRow
from .urls import read_remote


def report_commit(context: Context, row: SyncRow, commit: str, wrong: str | None) -> list[Problem]:
    """Report the result of syncing a commit to the provider, if statuses are turned on. If that fails, return the
    problem."""
    said = wrong or f"Synced with {context.settings.name}"
    return report_status(context, row, commit, said, "/~/settings/git" if wrong else "", failed=bool(wrong))


def report_status(
    context: Context, row: SyncRow, commit: str, said: str, view: str, *, failed: bool
) -> list[Problem]:
    """Report a status to the provider. ``view``: the path of the page with details, relative to the space."""
    if not row.statuses:
        return []
    folder = row.folder.rstrip("/")
    status = CommitStatus(
        commit,
        "failure" if failed else "success",
        said,
        context.app.space(row.space_id, view),
        f"octavo/{folder}" if folder else "octavo",
        f"octavo-{row.space_id}",
    )
    return send_status(
        Fetcher(context.settings.allow_private_fetch),
        read_remote(row.remote, local=True),
        row.provider,
        lambda: usable_credential(context, row),
        status,
    )
