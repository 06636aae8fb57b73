"""Who visits what of a published site: from a request to the proof that its sender may see a site, and a space of it."""
