"""What references mean, and what is made of that: the index of links, and documents as somebody sees them."""

from . import tables as tables
