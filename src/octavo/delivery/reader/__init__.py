"""What visitors see: published sites."""
