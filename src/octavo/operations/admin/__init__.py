"""Logic for the commands and for server administration: first start, backup, archives of organizations, diagnosis, and
credentials."""
