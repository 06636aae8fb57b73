"""Fonts: those that come along, and those of organizations, made of uploaded files."""

from . import tables as tables
