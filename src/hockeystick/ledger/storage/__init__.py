"""Where the ledger is kept: SQLite and PostgreSQL, the tables and their migrations, export and import."""
