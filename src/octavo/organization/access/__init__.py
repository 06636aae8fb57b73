"""Authentication and authorization."""

from . import tables as tables
