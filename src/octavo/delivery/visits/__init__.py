"""Visits to published sites. A visit verifies that the sender of a request can see a site and one of its spaces."""
