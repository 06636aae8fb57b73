"""Renderers: services that render sites elsewhere. This package tells them which content a URL shows, which
token reads it, and which content has changed."""

from . import notifying as notifying
