"""Events on their way to whoever is told of them, and what became of each."""

from . import tables as tables
