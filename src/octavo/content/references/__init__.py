"""References and what is built on them: their resolution, the index of links, and documents as readers see
them."""

from . import tables as tables
