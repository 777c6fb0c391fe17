# What the scripts of this folder share: the settings, and clean environments.
# RANKEVAL_PD_DATA names the folder of the published data, and without it their tests fail.
# RANKEVAL_PD_WITHOUT_DATA=1 skips these tests, and pytest lists them.
# PYTHON is the Python that makes the environments, python3 unless it is set.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONDONTWRITEBYTECODE # compiled once, not once for each process
export CI=true MPLBACKEND=Agg PIP_DISABLE_PIP_VERSION_CHECK=1
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 # no threads that wait for each other
export PYTHON="${PYTHON:-python3}"
if [ -n "${RANKEVAL_PD_WITHOUT_DATA:-}" ]; then
  unset RANKEVAL_PD_DATA
elif [ -z "${RANKEVAL_PD_DATA:-}" ]; then
  RANKEVAL_PD_DATA="$(cd .. && pwd)/shared/data"
  export RANKEVAL_PD_DATA
fi

part() { # what comes next, and when
  printf '\n== %s (%s s)\n' "$1" "$SECONDS"
}

enter() { # an environment
  if [ -d "$1/bin" ]; then
    . "$1/bin/activate"
  else # Windows
    . "$1/Scripts/activate"
  fi
}

if [ -z "${ROOMS:-}" ]; then # .ci/run shares its folder with the scripts that it calls
  ROOMS="$(mktemp -d)"
  trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$ROOMS"' EXIT
  export ROOMS
  "$PYTHON" -m venv "$ROOMS/tools"
  # uv installs what pip does in a tenth of the time
  (enter "$ROOMS/tools" && pip install -q uv) || echo 'uv is not there: pip installs'
fi

room() { # NAME PYTHON WHAT...: enter a clean environment of this name, with what is installed
  local name="$1" python="$2"
  shift 2
  printf '\n== %s\n' "$name"
  if (enter "$ROOMS/tools" && command -v uv > /dev/null); then
    (enter "$ROOMS/tools" && uv venv -q --python "$python" "$ROOMS/$name")
    enter "$ROOMS/$name"
    PATH="$PATH:$ROOMS/tools/bin:$ROOMS/tools/Scripts" uv pip install -q "$@"
  else
    "$python" -m venv "$ROOMS/$name"
    enter "$ROOMS/$name"
    pip install -q --no-compile "$@" # what is never imported need not be compiled
  fi
}

python_of() { # VERSION: print a Python of this version that is installed, or that uv can bring
  local candidate
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if "$candidate" -c '' 2> /dev/null; then
      echo "$candidate"
      return
    fi
  done
  (enter "$ROOMS/tools" && uv python install -q "$1" 2> /dev/null && uv python find -q "$1")
}

versions() {
  python -c '
import sys
from importlib.metadata import version
print("python", sys.version.split()[0])
for name in "numpy", "scipy", "pandas", "xarray", "matplotlib":
    print(name, version(name))'
}
