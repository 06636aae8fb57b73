"""Renderers: external services that render sites. This package tells them which content a URL shows, which
token can read it, and which content has changed."""

from . import notifying as notifying
