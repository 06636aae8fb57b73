"""Answer questions from content that the asker can see, and cite sources."""

from . import tables as tables
