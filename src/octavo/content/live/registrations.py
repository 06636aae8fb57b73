"""Save live pages before a change request is merged."""

from __future__ import annotations

from octavo.content.changes.saving import before_merge

from .saving import save_branch

before_merge(save_branch)
