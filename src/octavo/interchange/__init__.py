"""Import and export of content, and Git sync."""
