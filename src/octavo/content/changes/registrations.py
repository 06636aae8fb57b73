"""Register the function that returns the change request from which a revision was merged."""

from __future__ import annotations

from octavo.content.pages.reading import register_merge_presenter

from .store import get_change
from .wire import present_change

register_merge_presenter(lambda call, tx, change_id: present_change(call, tx, get_change(tx, change_id)))
