"""The forms that data take: the only way in and out."""
