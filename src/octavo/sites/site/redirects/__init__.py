"""Redirects from paths of a site at which there is no page."""
