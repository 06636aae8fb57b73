"""API specifications: stored unchanged, versioned, and rendered in pages."""

from . import pages as pages
from . import processing as processing
from . import tables as tables
