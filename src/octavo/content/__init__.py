"""Content of spaces: revisions, pages, change requests, comments, search, and notifications."""
