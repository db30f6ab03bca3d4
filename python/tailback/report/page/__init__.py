"""The report's page: what it says (`contents`), its template, style and script."""
