"""Logic for the commands and for server administration: first start, backup, organization archives, diagnosis, and
credentials."""
