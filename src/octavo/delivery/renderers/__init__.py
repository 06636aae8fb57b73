"""Renderers: external services that render sites. For renderers, this package determines which content a
URL shows and which token can read it, and it notifies them when content changes."""

from . import notifying as notifying
