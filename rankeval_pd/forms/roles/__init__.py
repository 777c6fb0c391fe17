"""Roles of columns, and checks of odd columns."""
