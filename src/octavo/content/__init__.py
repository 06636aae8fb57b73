"""Content of spaces: pages, files, reusable content, and where they come from."""
