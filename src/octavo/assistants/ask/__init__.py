"""Answer questions from the content that the asker can see, and cite the sources."""

from . import tables as tables
