"""Where data are kept, and how: the user's cache folder, and a folder that the user names."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankeval_pd.errors import warn

_said: set[Path] = set()  # the folders that cannot be written, each of which is said once


def cache_folder() -> Path | None:
    """Return the folder for what was read or downloaded; without pooch, only one that is named."""
    named = os.environ.get("RANKEVAL_PD_CACHE")
    if named:
        return Path(named).expanduser()
    if find_spec("pooch") is None:
        return None
    import platformdirs  # pooch's own dependency: to import pooch takes long, and may warn

    return Path(platformdirs.user_cache_dir("rankeval_pd"))


def data_folder() -> Path | None:
    """Return the folder that the environment variable ``RANKEVAL_PD_DATA`` names, if any."""
    named = os.environ.get("RANKEVAL_PD_DATA")
    return Path(named).expanduser() if named else None


def kept(path: Path) -> Any:
    """Return what :func:`keep` wrote; None where nothing is there, or not what was written."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            digest, text = file.read().split("\n", 1)
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return json.loads(text) if digest == _digest(text) else None


def keep(path: Path, content: Any) -> None:
    """Write what JSON can say as a whole or not at all, readable as the user's umask has it.

    A folder that cannot be written is no error: it is said once.
    """
    text = json.dumps(content)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with gzip.open(unfinished, "xt", encoding="utf-8", compresslevel=5) as file:
                file.write(f"{_digest(text)}\n{text}")
            unfinished.replace(path)
        finally:  # after an error, or Ctrl-C
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        if path.parent not in _said:
            _said.add(path.parent)
            warn(
                f"what was read cannot be kept in {path.parent} ({error}), and is read anew in"
                " every session. Make room there, or set the environment variable"
                " RANKEVAL_PD_CACHE to another folder."
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
