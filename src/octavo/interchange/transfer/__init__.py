"""Everything that brings content in and takes it out: folders, archives, Git, HTML, Word, websites."""

from . import tables as tables
