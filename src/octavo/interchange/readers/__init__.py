"""Readers for all kinds of sources. A reader detects its kind of source, determines which files become pages, and
returns a ``layout.Layout``, which becomes one source of Octavo Markdown."""
