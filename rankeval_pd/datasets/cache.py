"""Where data are kept: the user's cache folder, and a folder of data that the user names."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """Return the folder for what was read or downloaded; without pooch, only one that is named."""
    named = os.environ.get("RANKEVAL_PD_CACHE")
    if named:
        return Path(named)
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("rankeval_pd"))


def data_folder() -> Path | None:
    """Return the folder that the environment variable ``RANKEVAL_PD_DATA`` names, if any."""
    named = os.environ.get("RANKEVAL_PD_DATA")
    return Path(named) if named else None
