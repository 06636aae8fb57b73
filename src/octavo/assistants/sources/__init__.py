"""Context sources, which are records from other services, such as tickets and issues, that show what readers need."""

from . import jobs as jobs
from . import tables as tables
