"""Register the functions that save live pages before the content of their change request is used."""

from __future__ import annotations

from octavo.content.changes.pending import Pending, register_pending

from .saving import hold_branch, save_branch
from .store import find_unsaved_since

register_pending(Pending(find_unsaved_since, save_branch, hold_branch))
