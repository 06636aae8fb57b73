"""Visits at published sites: from a request to the proof that its sender can see a site, and a space of it."""
