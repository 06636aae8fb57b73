"""The app for authors and administrators: one page, served at the URLs of all screens, and the files that it
loads. It gets all its data from the API."""
