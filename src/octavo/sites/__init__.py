"""Published sites: structure, customization, audiences, API references, PDFs, and insights."""
