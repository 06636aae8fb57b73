"""Visits to published sites: verify that the sender of a request can see a site and a space on it."""
