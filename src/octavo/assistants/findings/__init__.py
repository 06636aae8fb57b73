"""Findings: problems of the pages of a site that scans found."""

from . import jobs as jobs
from . import style_merging as style_merging
from . import tables as tables
