"""API specifications: stored unchanged, versioned, and rendered on pages."""

from . import pages as pages
from . import processing as processing
from . import tables as tables
