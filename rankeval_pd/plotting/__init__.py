"""Pictures of the tables that the methods return.

Each function takes data and asks what it draws, or takes a table that is there (a DataFrame, or a
Dataset of the same); draws it on ``ax`` or on a new figure, and returns the Axes, or an array of
them. Colours are told apart by the colour-blind, and lines by their dashes in grey.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
