"""Files that people upload for later use: for imports, and as fonts."""

from ..spaces import uses_hashes
from .receiving import get_upload, upload_route
from .store import UploadRow, get_uploads

uses_hashes("file", "uploads", "hash")

__all__ = [
    "UploadRow", "get_upload", "get_uploads", "upload_route",
]  # fmt: skip
