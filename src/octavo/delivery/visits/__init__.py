"""Visits to published sites. They verify that the sender of a request can see a site and one of its spaces."""
