"""The app for writers and administrators: one page at every address of a screen, and the files that it loads. What it
shows and does, it asks the API for."""
