"""The app for authors and administrators: one page at every URL of a screen, and the files it loads. It gets all
its data from the API."""
