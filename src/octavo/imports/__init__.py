"""Imports over the API: uploaded files and websites become pages; and the uploads that others use too."""

from ..spaces import uses_hashes
from .entering import RunAccess
from .uploading import PATH as UPLOAD_PATH
from .uploading import get_upload, upload_endpoint

uses_hashes("file", "uploads", "hash")

__all__ = ["UPLOAD_PATH", "RunAccess", "get_upload", "upload_endpoint"]
