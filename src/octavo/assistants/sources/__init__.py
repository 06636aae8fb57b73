"""Context sources: records from other services, such as tickets and issues, that show the needs of readers."""

from . import jobs as jobs
from . import tables as tables
