"""Halves that have a secret key."""

from __future__ import annotations

import os
from typing import Protocol

from noren._noren import Error
from noren._noren.compiler import SecretKey, ServerKeys


class Plan(Protocol):
    """What keys are made for."""

    def make_secret(self, *, seed: bytes | None = None) -> SecretKey:
        """Make a secret key."""

    def load_secret(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> SecretKey:
        """Read a secret key from a file."""

    def make_server_keys(self, secret: SecretKey, *, seed: bytes | None = None) -> ServerKeys:
        """Make the keys of the server."""

    def server_keys(self, data: bytes) -> ServerKeys:
        """Read the keys of the server from bytes."""

    def load_server_keys(self, path: str | os.PathLike[str]) -> ServerKeys:
        """Read the keys of the server from a file."""


class KeyHolder:
    """A half that has the secret key, or makes one."""

    def __init__(self, plan: Plan, secret: SecretKey | None = None) -> None:
        """Wrap what keys are made for, and a secret key; `keygen` makes one where there is none."""
        self._keys_of, self._secret = plan, secret

    @property
    def secret(self) -> SecretKey:
        """The secret key. Raises `noren.Error` before `keygen`."""
        if self._secret is None:
            raise Error("this client has no secret key yet: call keygen, or load one with load_secret")
        return self._secret

    def _made(self, seed: bytes | None) -> SecretKey:
        self._secret = self._secret or self._keys_of.make_secret(seed=seed)
        return self._secret

    def keygen(self, *, seed: bytes | None = None) -> ServerKeys:
        """Make a secret key, unless there is one, and return the keys of the server; nothing in them decrypts.

        They are saved with ``keys.save(path)``, or sent as ``bytes(keys)``.

        seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
        """
        return self._keys_of.make_server_keys(self._made(seed), seed=seed)

    def save_secret(self, path: str | os.PathLike[str], *, force: bool = False, passphrase: str | None = None) -> None:
        """Write the secret key to a file of mode 0600, encrypted if there is a passphrase."""
        self.secret.save(path, force=force, passphrase=passphrase)

    def load_secret(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> None:
        """Read the secret key from a file. Raises `noren.Error` for other files and for keys of other parameters."""
        self._secret = self._keys_of.load_secret(path, passphrase=passphrase)


def opened(plan: Plan, keys: ServerKeys | bytes | str | os.PathLike[str]) -> ServerKeys:
    """Return keys of a server that are given as such, as their bytes, or as the path of their file."""
    if isinstance(keys, ServerKeys):
        return keys
    if isinstance(keys, bytes):
        return plan.server_keys(keys)
    if isinstance(keys, str | os.PathLike):
        return plan.load_server_keys(keys)
    raise TypeError(f"keys are what Client.keygen returned, its bytes or a path, not {type(keys).__name__}")
