"""Teams of an organization."""
