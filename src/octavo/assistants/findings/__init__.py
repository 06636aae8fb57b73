"""Findings: problems with the pages of a site, found by scans."""

from . import change_origins as change_origins
from . import jobs as jobs
from . import style_merging as style_merging
from . import tables as tables
