"""Files that people upload for later use: for imports, as fonts, and for pages."""

from . import tables as tables
from .receiving import PATH as UPLOAD_PATH
from .receiving import get_upload, upload_route
from .store import UploadRow, get_uploads

__all__ = [
    "UPLOAD_PATH", "UploadRow", "get_upload", "get_uploads", "tables", "upload_route",
]  # fmt: skip
