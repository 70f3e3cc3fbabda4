"""Records and content in, a site out."""
