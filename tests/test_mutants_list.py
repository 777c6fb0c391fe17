"""The list of seeded faults does not rot: every fault still has its place, and tests to notice it.

Whether they do is what ``python tests/tools/mutants.py`` sees.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def _mutants():
    spec = importlib.util.spec_from_file_location("mutants", HERE / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


mutants = _mutants()


def test_every_fault_has_one_place_and_changes_it():
    for fault in mutants.FAULTS:
        assert mutants.where(fault, ROOT) > 0
        assert fault.text != fault.faulty
        source = fault.path(ROOT).read_text(encoding="utf-8")
        ast.parse(source.replace(fault.text, fault.faulty))  # a syntax error would prove nothing


def test_every_fault_has_tests():
    for fault in mutants.FAULTS:
        for test in fault.tests:
            file, _, name = test.partition("::")
            assert f"def {name or 'test_'}" in (ROOT / file).read_text(encoding="utf-8"), test


def test_faults_are_many_and_in_every_file():
    assert len(set(mutants.FAULTS)) == len(mutants.FAULTS) >= 100
    files = {
        path.relative_to(ROOT / mutants.STATS) for path in (ROOT / mutants.STATS).rglob("*.py")
    }
    computing = {str(file) for file in files if file.name not in ("__init__.py", "_types.py")}
    seeded = {fault.file for fault in mutants.FAULTS}
    assert seeded >= computing
    assert all((ROOT / mutants.PACKAGE / file).is_file() for file in seeded - computing)
