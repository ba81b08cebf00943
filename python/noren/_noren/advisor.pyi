# Types of `noren.advisor`; see the beginning of `__init__.pyi`.

from pathlib import Path

def advise_json(
    workload: str,
    *,
    client: str | None,
    machine: Path | None,
    threads: int | None,
    server_memory: int | None,
    client_memory: int | None,
    server_seconds: float | None,
    client_seconds: float | None,
) -> str: ...
def calibrate_to(path: Path | None, *, threads: int | None, force: bool) -> Path: ...
def devices() -> list[tuple[str, str, bool]]: ...
