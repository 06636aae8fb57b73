"""Content that comes in and goes out: imports, exports and Git sync."""
