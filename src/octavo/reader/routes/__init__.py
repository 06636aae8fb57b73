"""What is at a site: each module declares the routes of one thing."""

from . import (
    asking,
    assistants,
    blocks,
    embedding,
    files,
    images,
    indexes,
    pages,
    ratings,
    references,
    searching,
    seen,
    trying,
)

__all__ = [
    "asking", "assistants", "blocks", "embedding", "files", "images", "indexes", "pages", "ratings", "references",
    "searching", "seen", "trying",
]  # fmt: skip
