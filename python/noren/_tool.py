"""The command-line tool `noren`, as installed by the Python package."""

import signal
import sys
from pathlib import Path

from noren import _noren

# Starts the tool again in a process of its own: with this package, whatever lies in the current directory.
_AGAIN = """import sys
package = sys.argv.pop(1)
sys.path[:] = filter(None, sys.path)
if package not in sys.path:
    sys.path.insert(0, package)
from noren._tool import main
sys.exit(main())"""


def main() -> int:
    """Run the tool with this process's arguments and return its exit code."""
    # Python's own handler would only run when the tool is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    package = str(Path(__file__).resolve().parent.parent)
    return _noren.run_tool(["noren", *sys.argv[1:]], itself=[sys.executable, "-c", _AGAIN, package])


if __name__ == "__main__":
    sys.exit(main())
