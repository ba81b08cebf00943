"""Halves of what is compiled to a function with an interface of its own, such as a model or a question on a table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from noren import compiler
from noren.compiler import Compiled, Explanation, Server, ServerKeys


class Halves:
    """A compiled function: its server, and what is known of it before it runs."""

    def __init__(self, compiled: Compiled) -> None:
        """Wrap a compiled function."""
        self.compiled = compiled

    @property
    def server(self) -> Server:
        """The half that computes, on the bytes of requests."""
        return self.compiled.server

    @property
    def scheme(self) -> str:
        """The scheme, as in `noren.compile`."""
        return self.compiled.scheme

    def explain(self) -> Explanation:
        """Return what the server does step by step, with predicted errors, time and memory."""
        return self.compiled.explain()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, as a whole or not at all; an old file is replaced.

        The file is public: it holds the function of the server, with its numbers, and the ranges of inputs. Servers
        read it by `noren.compiler.Server.load`, owners of data by `noren.ml.load` or `noren.tables.Client.load`.
        """
        self.compiled.save(path)


class Owner:
    """A half that has the secret key."""

    def __init__(self, half: compiler.Client) -> None:
        """Wrap the client of a compiled function."""
        self._half = half

    def keygen(self, *, seed: bytes | None = None) -> ServerKeys:
        """Make a secret key, unless there is one, and return the keys of the server; nothing in them decrypts."""
        return self._half.keygen(seed=seed)

    def keygen_file(
        self,
        path: str | os.PathLike[str],
        *,
        seed: bytes | None = None,
        progress: Callable[[int, int], object] | None = None,
        force: bool = False,
    ) -> Path:
        """Make the same keys one at a time, in a file, as `noren.compiler.Client.keygen_file` does."""
        return self._half.keygen_file(path, seed=seed, progress=progress, force=force)

    def save_secret(self, path: str | os.PathLike[str], *, force: bool = False, passphrase: str | None = None) -> None:
        """Write the secret key to a file of mode 0600, encrypted if there is a passphrase."""
        self._half.save_secret(path, force=force, passphrase=passphrase)

    def load_secret(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> None:
        """Read the secret key from a file. Raises `noren.Error` for other files and for keys of other parameters."""
        self._half.load_secret(path, passphrase=passphrase)
