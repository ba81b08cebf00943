"""Ray in this process: a cluster that was joined, or workers that were started on this machine for this process."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator

import ray
from ray.exceptions import RayError

from noren.cluster._errors import ClusterError
from noren.cluster._executor import INLINE

MOST_INLINE = 1 << 22
HELD_INLINE = 1 << 28
"""The most bytes of an item that goes along with its task, and of all of them."""
PATIENCE = 10.0
"""Seconds in which a cluster must answer."""
LOOPBACK = "127.0.0.1"


class Session:
    """Ray in this process: joined by the first cluster, unless the caller has, and left with the last one."""

    def __init__(self) -> None:
        self._users = 0
        self._ours: str | None = None
        self._settings: dict[str, str] = {}
        self.inline = INLINE
        """Bytes of an item, or a result, that go along with their task."""

    def join(self, address: str | None, cores: int | None, retries: int) -> None:
        """Join a Ray cluster, or start one here."""
        if ray.is_initialized():
            if address is not None or cores is not None:
                raise ClusterError(
                    "this process has joined a Ray cluster: leave address and workers out, or ray.shutdown() first"
                )
            if self._ours != session():
                self._users, self._ours, self.inline = 0, None, INLINE
            self._users += 1
            return
        if address is not None and address.startswith("ray://"):
            raise ClusterError("a client of Ray has no node for keys: run the program on a machine of the cluster")
        if address is not None:
            check_reachable(address)
        # On one machine items go along with tasks, as long as those of a window do not take too much of the driver.
        here = min(MOST_INLINE, HELD_INLINE // (4 * (cores or os.cpu_count() or 1)))
        self.inline = here if address is None else INLINE
        # What is counted stays here. Tasks that need more memory than there is would be tried again for ever.
        self._set(RAY_USAGE_STATS_ENABLED="0", RAY_task_oom_retries=str(retries))
        if address is None:
            self._set(RAY_max_direct_call_object_size=str(here))
        try:
            if address is None:
                _start_here(cores)
            else:
                ray.init(address=address, logging_level=logging.WARNING)
        except (ConnectionError, RuntimeError, RayError) as error:
            self._restore()
            raise ClusterError(f"there is no Ray cluster at {address or 'local'}: {error}") from error
        except ClusterError:
            self._restore()
            raise
        self._users, self._ours = 1, session()

    def leave(self, joined: str) -> None:
        """Leave a Ray cluster with its last user."""
        if joined != session():
            return
        self._users -= 1
        if self._users <= 0 and self._ours == joined:
            self._ours = None
            ray.shutdown()
            self._restore()

    def _set(self, **settings: str) -> None:
        """Set what the user has not set."""
        for name, value in settings.items():
            if name not in os.environ:
                self._settings[name] = value
                os.environ[name] = value

    def _restore(self) -> None:
        """Take back what was set."""
        for name in self._settings:
            os.environ.pop(name, None)
        self._settings.clear()


SESSION = Session()


def _start_here(cores: int | None) -> None:
    """Start Ray on this machine, for this machine alone: its processes listen on the loopback address.

    Raises `ClusterError` for a version of Ray that listens on others.
    """
    with _alone():
        ray.init(
            address="local",
            num_cpus=cores,
            include_dashboard=False,
            logging_level=logging.WARNING,
            _node_ip_address=LOOPBACK,
        )
    found = ray.get_runtime_context().gcs_address
    if found.rpartition(":")[0] != LOOPBACK:
        ray.shutdown()
        raise ClusterError(
            f"Ray {ray.__version__} listens at {found}, and not at {LOOPBACK} alone: start it yourself, `ray.init()`, "
            "behind a firewall"
        )


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Have Ray take the loopback address for that of this machine, as where it knows no clusters of machines."""
    from ray._private import ray_constants

    before = getattr(ray_constants, "ENABLE_RAY_CLUSTER", True)
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def check_reachable(address: str) -> None:
    """Refuse a Ray cluster that nothing answers for; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"there is no Ray cluster at {address} ({error}): `ray start --head` prints the address of one"
        ) from error


def session() -> str | None:
    """Return the name of the Ray session of this process; None if there is none."""
    if not ray.is_initialized():
        return None
    # That of the job alone is the same in each session that starts here.
    name: str = ray.get_runtime_context().get_node_id() + ray.get_runtime_context().get_job_id()
    return name
