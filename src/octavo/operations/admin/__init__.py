"""What the commands do: first start, backup, archives of organizations, diagnosis, credentials."""
