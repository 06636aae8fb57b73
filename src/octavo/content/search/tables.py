"""Declarations of the search tables."""

from __future__ import annotations

from octavo.content.revisions.deriving import Derived, Versioned, register_derived
from octavo.kit.db.tables import Table, declare
from octavo.organization.spaces.hooks import on_transfer

from .computed import apply, switch
from .indexing import (
    batches,
    check,
    clear,
    count,
    follow_transfer,
    is_still_true,
    prepare,
    recount,
    remove,
    write,
)
from .store import copy_space

declare(
    *(
        Table(name=name, of_space="space_id IN {spaces}", many=True, derived=True)
        for name in ("search_pages", "search_sections", "search_words")
    ),
    Table(name="search_index", derived=True),
)
register_derived(
    Derived(
        prepare,
        is_still_true,
        apply,
        clear,
        check,
        Versioned(count, batches, write, switch, ("search_pages", "page_id"), remove, copy_space, recount),
    )
)
on_transfer(follow_transfer)
