"""Sync spaces with branches of Git repositories."""

from . import collection_folders as collection_folders
from . import jobs as jobs
from . import registrations as registrations
from . import tables as tables
