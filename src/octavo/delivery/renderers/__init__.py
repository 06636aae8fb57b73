"""Renderers: services that draw sites elsewhere. This package tells them what a URL shows, which token reads it,
and what has changed."""

from . import notifying as notifying
