"""The app for writers and administrators: one page at every address of a screen, and the files that it loads. What it
shows and does, it asks the API for."""

from .serving import find_missing, studio_routes

__all__ = ["find_missing", "studio_routes"]
