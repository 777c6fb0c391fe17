"""The kernels of pages are forks of one process, which has imported what most pages import.

Each page that runs code has a kernel of its own, and one that starts anew takes two seconds until
pandas, xarray and matplotlib are there. This package is not among them: a page that does not
import it must not find its accessor. Where a process cannot be forked, kernels start as usual.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

NAME = "forked"
IMPORTED = (
    "IPython.core.completer",
    "ipykernel.kernelapp",
    "ipykernel.zmqshell",
    "matplotlib.pyplot",
    "pandas",
    "pandas.io.formats.style",
    "scipy.special",
    "scipy.stats",
    "xarray",
)


class Fork:
    """What of a process's handle Jupyter asks for."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        return 0  # asked for when it has ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class ForkedProvisioner(LocalProvisioner):
    """Start a kernel by asking the process that is forked."""

    first: subprocess.Popen[str] | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        cls = type(self)
        if cls.first is None or cls.first.poll() is not None:
            cls.first = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            atexit.register(cls.first.terminate)
        asked = {"file": self.parent.connection_file, **{n: kwargs.get(n) for n in ("cwd", "env")}}
        assert cls.first.stdin is not None
        assert cls.first.stdout is not None
        cls.first.stdin.write(json.dumps(asked) + "\n")
        cls.first.stdin.flush()
        self.pid = int(cls.first.stdout.readline())
        self.process, self.pgid = Fork(self.pid), None
        return self.connection_info


def setup(app: Any) -> dict[str, bool]:
    if hasattr(os, "fork"):
        factory = KernelProvisionerFactory.instance()
        factory.provisioners[NAME] = EntryPoint(
            NAME, f"{__name__}:{ForkedProvisioner.__name__}", factory.GROUP_NAME
        )
        factory.default_provisioner_name = NAME
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fork_as_asked() -> None:
    """Fork a kernel for each line that comes in, and say which process it is."""
    import importlib

    # what a kernel says before matplotlib is there; the backend itself looks for its kernel
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who ends is gone
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _be_a_kernel(**json.loads(line))
        print(pid, flush=True)


def _be_a_kernel(file: str, cwd: str | None, env: dict[str, str] | None) -> None:
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.environ.update(env or {})
    os.chdir(cwd or ".")
    sys.path[0] = ""
    ends_with = f"--IPKernelApp.parent_handle={os.getppid()}"
    IPKernelApp.launch_instance(["-f", file, "--log-level=ERROR", ends_with])
    os._exit(0)


if __name__ == "__main__":
    fork_as_asked()
