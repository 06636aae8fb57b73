"""Readers for all kinds of sources. A reader detects its kind of source, determines which files become pages, and
returns a ``layout.Layout``, which is then converted to one source of Octavo Markdown."""
