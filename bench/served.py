"""A server in a process of its own, which runs what its client leaves in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stopwatch import Stopwatch

SERVER = Path(__file__).parent / "functions.py"


def served(
    halves: Any, timed: Stopwatch, encrypt: Callable[[], bytes], decrypt: Callable[[bytes], Any], rounds: int
) -> tuple[Any, dict[str, Any]]:
    """Return what the client of a compiled function decrypts, and what both halves took, beside the prediction."""
    price = halves.explain().price
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        halves.save(folder / "function")
        timed("keys", halves.client.keygen).save(folder / "keys")
        request = timed("encrypt", encrypt)
        (folder / "request").write_bytes(request)
        command = [sys.executable, str(SERVER), "--serve", name, "--rounds", str(rounds)]
        figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        reply = (folder / "reply").read_bytes()
        found = timed("decrypt", lambda: decrypt(reply))
        key_bytes = (folder / "keys").stat().st_size
    return found, {
        "scheme": halves.scheme,
        "parameters": str(halves.compiled.parameters),
        "predicted": {what: price[what] for what in ("server_seconds", "server_memory")},
        **timed.seconds,
        **figures,
        "key_bytes": key_bytes,
        "request_bytes": len(request),
        "reply_bytes": len(reply),
    }
