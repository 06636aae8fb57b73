"""Redirects from paths of a site that have no page."""
