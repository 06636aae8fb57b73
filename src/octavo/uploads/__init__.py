"""Files that people upload for later use: for imports, and as fonts."""

from ..spaces import uses_hashes
from .receiving import PATH as UPLOAD_PATH
from .receiving import get_upload, upload_endpoint
from .store import UploadRow, get_uploads

uses_hashes("file", "uploads", "hash")

__all__ = [
    "UPLOAD_PATH", "UploadRow", "get_upload", "get_uploads", "upload_endpoint",
]  # fmt: skip
