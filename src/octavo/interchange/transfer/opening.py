"""Open an import source at a URL or path that a person entered."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from octavo.core.sources import Source, SourceError, SourceFiles, source_of

AllowUrl = Callable[[str], str]
"""Callback that returns the IP address to connect to for a URL, or raises ``ValueError`` if connecting isn't
allowed."""


@contextmanager
def open_source(
    where: str, *, allow_url: AllowUrl, local: bool = False, whole: bool = False
) -> Iterator[Source]:
    """Open a source. ``where`` is ``https://host/repository.git``, optionally with ``//subfolder`` and ``#ref`` (a
    branch, tag, or commit). If ``local`` is true, it can also be ``file://`` with the same suffixes, or the path of
    a folder or ZIP archive.

    ``allow_url`` is called before each connection, including those for redirects, and the connection is made to the
    address that it returns. ``whole``: whether to keep the top-level folder of an archive that consists of a single
    folder. Raises ``SourceError`` if the source can't be opened."""
    if not where or re.search(r"[\x00-\x1f\x7f]", where):
        raise SourceError("the source contains control characters. Remove them.")
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.opening import open_archive, open_folder

    with ExitStack() as stack:
        if re.match(r"https?://", where, re.IGNORECASE):
            # Imported here because Git loads slowly.
            from .repositories import open_remote

            yield open_remote(where, allow_url, stack)
        elif not local:
            raise SourceError("the source must be the http or https URL of a Git repository")
        elif where.startswith("file://"):
            from .repositories import open_local

            yield open_local(where, stack)
        elif re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", where):
            raise SourceError("the URL must be an https, http, or file URL")
        elif os.path.isdir(where):
            yield open_folder(where)
        elif os.path.isfile(where):
            yield open_archive(where, stack, whole)
        else:
            raise SourceError(f"{where} doesn't exist")


def source_of_tree(repository: Any, tree_id: bytes | None, name: str, commit: str) -> Source:
    """Return the files of a tree in an open repository (``dulwich.repo.Repo``). If ``tree_id`` is None, there are
    no files. Raises ``SourceError`` if the files can't be read."""
    from .repositories import read_tree

    source = SourceFiles(name, keeps_names=True)
    if tree_id is not None:
        read_tree(source, repository, tree_id)
    return source_of(source, commit)
