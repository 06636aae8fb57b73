"""Renderers: external services that render sites. This package tells renderers which content a URL shows and which
token can read that content, and it notifies them when content changes."""

from . import notifying as notifying
