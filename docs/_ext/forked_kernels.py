"""Fork the Jupyter kernels from one process that has already imported common packages.

Each page that runs code has its own kernel. A new kernel takes two seconds to import pandas, xarray
and matplotlib. The process does not import rankeval_pd, because pages must import the accessor
themselves. If the system cannot fork processes, kernels start as usual.
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
    """The parts of a process handle that Jupyter uses."""

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
        return 0  # called only after the process has ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class ForkedProvisioner(LocalProvisioner):
    """Start a kernel by sending a request to the forking process."""

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
    """Fork a kernel for each input line and print its process ID."""
    import importlib

    # kernels set this before they import matplotlib; the backend then finds its own kernel
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels leave no zombies on exit
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
