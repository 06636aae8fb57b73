"""Answer questions from content that the person asking can see, and cite sources."""

from . import tables as tables
