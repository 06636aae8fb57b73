"""The ``octavo`` command."""
