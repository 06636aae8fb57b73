"""Integrations: third-party code that can be installed in organizations, spaces, and sites."""

from . import computing as computing
from . import registrations as registrations
from . import tables as tables
from . import visitors as visitors
