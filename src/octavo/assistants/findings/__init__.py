"""Findings: problems of the pages of a site that scans found."""

from . import jobs as jobs
from . import tables as tables
