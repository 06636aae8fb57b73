"""Findings: problems with the pages of a site, found by scans."""

from . import jobs as jobs
from . import style_merging as style_merging
from . import tables as tables
