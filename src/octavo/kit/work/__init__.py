"""Jobs, events, and streams."""
