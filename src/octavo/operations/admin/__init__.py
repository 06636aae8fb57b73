"""Logic of the commands and of server administration: first start, backup, archives of organizations,
diagnosis, and credentials."""
