"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in project["dependencies"] + [r for name in sys.argv[1:] for r in extras[name]]:
    name, version = re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", requirement).groups()
    print(f"{name}=={version}")
