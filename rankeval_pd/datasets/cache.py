"""Where data are kept: the user's cache folder, and a folder of data that the user names."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for what was read or downloaded."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("RANKEVAL_PD_CACHE") or user_cache_dir("rankeval_pd"))


def data_folder() -> Path | None:
    """Return the folder that the environment variable ``RANKEVAL_PD_DATA`` names, if any."""
    named = os.environ.get("RANKEVAL_PD_DATA")
    return Path(named) if named else None
