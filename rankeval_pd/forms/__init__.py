"""The internal forms of data. All data enter and leave here."""
