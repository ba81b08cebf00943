# Types of `noren.tables`; see the beginning of `__init__.pyi`.

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from noren._noren import _Security
from noren._noren.compiler import Program

_Table: TypeAlias = Mapping[str, NDArray[np.float64] | list[str]]

def schema_of(table: _Table, rows: int, steps: Mapping[str, float]) -> str: ...

@final
class Query:
    @staticmethod
    def compile(
        schema: str,
        question: str,
        *,
        scheme: str = "auto",
        security: _Security = 128,
        machine: str | PathLike[str] | None = None,
        unlimited: bool = False,
    ) -> Query: ...
    @staticmethod
    def of(program: Program) -> Query: ...
    @property
    def program(self) -> Program: ...
    @property
    def schema(self) -> str: ...
    def inputs(self, table: _Table) -> list[NDArray[np.float64]]: ...
    def answer(self, values: Sequence[NDArray[np.float64]]) -> tuple[list[str], int, list[list[Any]]]: ...
