"""Tables of pandas as Parquet and Arrow files, in a tool that has them: `make test-parquet` names it."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

TOOL = os.environ.get("NOREN_PARQUET_TOOL")

pytestmark = pytest.mark.skipif(TOOL is None, reason="NOREN_PARQUET_TOOL names no tool: make test-parquet")

FORMATS = ("snappy.parquet", "gzip.parquet", "zstd.parquet", "uncompressed.arrow", "lz4.feather", "zstd.feather")


def tool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    assert TOOL is not None
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)


def patients(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": rng.integers(20, 90, rows).astype(np.int16),
            "bmi": rng.uniform(18, 35, rows),
            "smokes": rng.uniform(size=rows) < 0.5,
        }
    )


def write(table: pd.DataFrame, path: Path) -> None:
    compression, end = path.name.split(".")
    writer: Any = table.to_parquet if end == "parquet" else table.to_feather
    writer(path, compression=compression)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("parquet") / "keys"
    done = tool("keygen", "--out", out, "--program", "mean", "--rows", "2000", "--columns", "3")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_of_pandas_is_read_and_means_of_it_are_written(tmp_path: Path, keys: Path, name: str) -> None:
    table = patients(2000)
    write(table, tmp_path / name)
    columns = ["smokes", "age", "bmi"]
    encrypt = ("encrypt", "--key", keys / "public.key", tmp_path / name, "-o", tmp_path / "table.ct")
    done = tool(*encrypt)
    assert done.returncode == 1
    assert 'column 1 ("name")' in done.stderr
    assert "--columns" in done.stderr
    done = tool(*encrypt, "--columns", ",".join(columns))
    assert done.returncode == 0, done.stderr
    done = tool("eval", "mean", "--keys", keys / "eval.keys", tmp_path / "table.ct", "-o", tmp_path / "mean.ct")
    assert done.returncode == 0, done.stderr
    result = tmp_path / f"mean.{name.split('.')[1]}"
    done = tool("decrypt", "--key", keys / "secret.key", tmp_path / "mean.ct", "-o", result)
    assert done.returncode == 0, done.stderr
    mean = pd.read_parquet(result) if result.suffix == ".parquet" else pd.read_feather(result)
    assert list(mean.columns) == ["row", *columns]
    assert np.allclose(mean.iloc[0][columns].astype(float), table[columns].astype(float).mean(), rtol=0, atol=1e-4)


def test_an_index_and_missing_numbers_are_refused_by_name(tmp_path: Path, keys: Path) -> None:
    table = patients(10)[["age", "bmi"]]
    encrypt = ("encrypt", "--key", keys / "public.key", tmp_path / "t.parquet", "-o", tmp_path / "table.ct")
    table[table["age"] > 0].sample(frac=1, random_state=1).to_parquet(tmp_path / "t.parquet")
    done = tool(*encrypt)
    assert done.returncode == 1
    assert "index=False" in done.stderr
    table.loc[3, "bmi"] = np.nan
    table.to_parquet(tmp_path / "t.parquet")
    done = tool(*encrypt)
    assert done.returncode == 1
    assert 'row 4, column 2 ("bmi")' in done.stderr
    assert "--missing drop" in done.stderr
    done = tool(*encrypt, "--missing", "drop")
    assert done.returncode == 0, done.stderr
