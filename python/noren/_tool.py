"""The command-line tool `noren`, as installed by the Python package."""

import signal
import sys

from noren import _noren


def main() -> int:
    """Run the tool with this process's arguments and return its exit code."""
    # Python's own handler would only run when the tool is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _noren.run_tool(["noren", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
