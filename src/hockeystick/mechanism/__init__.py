"""What is released: frozen descriptions, one family per file, each of which knows how to build its losses."""
