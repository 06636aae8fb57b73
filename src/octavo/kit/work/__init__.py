"""Jobs, events and streams."""
