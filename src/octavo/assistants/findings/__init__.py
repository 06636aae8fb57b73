"""Findings: problems with a site's pages that scans have found."""

from . import change_origins as change_origins
from . import jobs as jobs
from . import style_merging as style_merging
from . import tables as tables
