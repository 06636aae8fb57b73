"""The editor's document format: its schema, the steps that change a page, and the conversion to and from documents."""
