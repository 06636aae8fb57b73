"""Answer questions from the content that the asker can see, and cite sources."""

from . import tables as tables
