"""Uploaded files for later use in imports, fonts, and pages."""

from . import tables as tables
from .receiving import get_upload, upload_route
from .store import UploadRow, get_uploads

__all__ = ["UploadRow", "get_upload", "get_uploads", "upload_route"]
