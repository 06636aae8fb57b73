"""Opening what an import comes from, named as people name it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .sources import AllowUrl, Source, SourceError, open_archive, open_folder


@contextmanager
def open_source(
    where: str, *, allow_url: AllowUrl, local: bool = False, whole: bool = False
) -> Iterator[Source]:
    """``where`` is ``https://host/repository.git``, if wanted with ``//subfolder`` and ``#ref`` (a branch, tag
    or commit); if ``local``, also ``file://`` with the same, or the path of a folder or ZIP archive.

    ``allow_url`` is asked before every connection, redirects included, and the connection goes to the
    address it answers with. ``whole``: the one folder that an archive may hold is kept. Raises ``SourceError``.
    """
    if not where or re.search(r"[\x00-\x1f\x7f]", where):
        raise SourceError("a source must be named without control characters")
    with ExitStack() as stack:
        if re.match(r"https?://", where, re.IGNORECASE):
            # Loaded only where it is used: Git takes long to load.
            from .repositories import open_remote

            yield open_remote(where, allow_url, stack)
        elif not local:
            raise SourceError("a source must be an http or https URL of a Git repository")
        elif where.startswith("file://"):
            from .repositories import open_local

            yield open_local(where, stack)
        elif re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", where):
            raise SourceError("of URLs only https, http and file are read")
        elif os.path.isdir(where):
            yield open_folder(where)
        elif os.path.isfile(where):
            yield open_archive(where, stack, whole)
        else:
            raise SourceError(f"{where} does not exist")


def source_of_tree(repository: Any, tree_id: bytes | None, name: str, commit: str) -> Source:
    """The files of a tree of a repository that is open already (``dulwich.repo.Repo``); None: no file. Raises
    ``SourceError``."""
    from .repositories import read_tree

    source = Source(name, keeps_names=True)
    source.commit = commit
    if tree_id is not None:
        read_tree(source, repository, tree_id)
    return source
