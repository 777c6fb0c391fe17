"""Find the roles of columns, and check suspicious columns."""
