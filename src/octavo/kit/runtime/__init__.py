"""Running scripts that we do not trust, each in a process of its own without any permission."""
