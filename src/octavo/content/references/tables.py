"""Declarations of the reference tables."""

from __future__ import annotations

from octavo.content.revisions.deriving import Derived, Versioned, register_derived
from octavo.kit.db.tables import Table, declare

from .index import (
    apply,
    batches,
    check,
    clear,
    copy_references,
    count,
    is_still_true,
    prepare,
    remove,
    switch,
    write,
)
from .totals import finish_counting, recount

declare(
    *(
        Table(name=name, of_space="space_id IN {spaces}", many=True, derived=True)
        for name in (
            "content_references",
            "reference_questions",
            "reference_targets",
            "reference_totals",
            "reference_counting",
        )
    )
)
register_derived(
    Derived(
        prepare,
        is_still_true,
        apply,
        clear,
        check,
        Versioned(
            count,
            batches,
            write,
            switch,
            ("content_references", "owner_id"),
            remove,
            copy_references,
            recount,
            finish_counting,
        ),
    )
)
