"""Readers for each kind of source. They detect the kind and determine which files become pages. Every
reader returns a ``layout.Layout``, which becomes one source of Octavo Markdown."""
