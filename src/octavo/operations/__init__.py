"""Code for running a server: its database, backups, administration, and development tools."""
