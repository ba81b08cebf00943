# Types of `noren.advisor`; see the beginning of `__init__.pyi`.

from pathlib import Path

from noren._noren import _Security
from noren._noren.compiler import Graph, Program

def advise_workload(
    workload: str,
    *,
    client: str | None,
    machine: Path | None,
    threads: int | None,
    server_memory: int | None,
    client_memory: int | None,
    server_seconds: float | None,
    client_seconds: float | None,
) -> tuple[str, list[tuple[Program, int]]]: ...
def advise_function(
    graph: Graph,
    *,
    precision: float | None,
    dead_zone: float | None,
    security: _Security,
    objective: str,
    client: str | None,
    machine: Path | None,
    threads: int | None,
    limits: tuple[int | None, int | None, float | None, float | None],
) -> tuple[str, list[tuple[Program, int]]]: ...
def calibrate_to(path: Path | None, *, threads: int | None, force: bool) -> Path: ...
def devices() -> list[tuple[str, str, bool]]: ...
