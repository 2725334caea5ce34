"""Start a fresh Python process that runs nothing of the program that started it."""

import sys

# The parent alone handles interrupts, from the first import on.
START = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "import sys; sys.path[:] = {path!r}; from {package} import {module}; {module}.main()"
)


def command(module: str) -> list[str]:
    """Return the command of a process that calls `main()` of a module.

    It works from scripts, notebooks, threads and daemonic processes, without a main guard.

    Raises:
        ValueError: This program is not run by an interpreter that can be started again.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise ValueError("there is no Python interpreter to start another process with")
    package, _, name = module.rpartition(".")
    path = [str(folder) for folder in sys.path]
    return [sys.executable, "-c", START.format(path=path, package=package, module=name)]
