"""The main job: real clinical records, scored and summarised by a server that never sees them.

A client (the clinic) and a server meet only in files. The client makes keys, encrypts its records and decrypts
the results; the server holds a logistic regression and the evaluation keys. Every step is a process of its own,
whose time and peak memory are measured. Run it with ``noren demo`` or ``python -m noren.demo``.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STATISTICS = ("mean", "variance", "covariance")
# Logits of unseen records go past those of the training half; the polynomial must still hold there.
INTERVAL_MARGIN = 1.25
APPROXIMATION_ERROR = 1e-5
PRECISION_BITS = 16


@dataclass
class Step:
    """One process: who ran it, how long it took and how much memory it held."""

    side: str
    name: str
    seconds: float
    peak_bytes: int
    output: dict[str, Any]


@dataclass
class Run:
    """The processes run so far."""

    steps: list[Step] = field(default_factory=list)

    def tool(self, side: str, *arguments: str | Path) -> dict[str, Any]:
        """Run ``noren ARGUMENTS --json`` as a process of its own and return what it printed."""
        command = [sys.executable, "-m", "noren._tool", *map(str, arguments), "--json"]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            printed = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"noren demo: `{' '.join(command[2:])}` failed with exit code {process.returncode}")
        output: dict[str, Any] = json.loads(printed) if printed.strip() else {}
        step = Step(side, str(arguments[0]), time.perf_counter() - start, usage.ru_maxrss * 1024, output)
        if arguments[0] == "eval":
            step.name = f"eval {arguments[1]}"
        self.steps.append(step)
        print(f"  {side:<6}  {step.name:<16} {step.seconds:7.2f} s   {step.peak_bytes / 2**20:7.0f} MiB", flush=True)
        return output


def load_records() -> tuple[Array, NDArray[np.int64], list[str]]:
    """Return the Wisconsin diagnostic breast-cancer records: (569, 30) features, labels (1 = benign), names."""
    try:
        from sklearn.datasets import load_breast_cancer
    except ModuleNotFoundError:
        raise SystemExit("noren demo takes its data from scikit-learn: pip install scikit-learn matplotlib") from None

    data = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names]
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.int64), names


def fit(features: Array, labels: NDArray[np.int64]) -> tuple[dict[str, Any], Any]:
    """Fit a logistic regression in the clear; return noren's model file and the clear pipeline."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    pipeline.fit(features, labels)
    scaler, regression = pipeline[0], pipeline[1]
    largest_logit = float(np.abs(pipeline.decision_function(features)).max())
    model = {
        "weights": regression.coef_[0].tolist(),
        "bias": float(regression.intercept_[0]),
        "mean": scaler.mean_.tolist(),
        "scale": scaler.scale_.tolist(),
        "interval": float(math.ceil(INTERVAL_MARGIN * largest_logit)),
        "error": APPROXIMATION_ERROR,
    }
    return model, pipeline


def write_csv(path: Path, names: Sequence[str], rows: Array) -> None:
    """Write a table with a header row; 17 digits carry a float64 exactly."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([[f"{value:.17g}" for value in row] for row in rows])


def read_npy(path: Path) -> Array:
    """Read a float64 matrix that ``noren decrypt`` wrote."""
    return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)


def plot(path: Path, clear: Array, encrypted: Array, labels: NDArray[np.int64]) -> None:
    """Save encrypted against clear scores, and their differences."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), constrained_layout=True)
    for label, name, colour in ((0, "malignant", "tab:red"), (1, "benign", "tab:blue")):
        chosen = labels == label
        left.scatter(clear[chosen], encrypted[chosen], s=14, alpha=0.7, color=colour, label=name)
        right.scatter(clear[chosen], np.abs(encrypted - clear)[chosen], s=14, alpha=0.7, color=colour, label=name)
    left.plot([0, 1], [0, 1], color="grey", linewidth=0.8, zorder=0)
    left.set(xlabel="score of the clear model", ylabel="score computed on encrypted records", title="Scores")
    left.legend()
    right.set(xlabel="score of the clear model", ylabel="absolute difference", yscale="log", title="Errors")
    figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the main job and return 0 when it reached what it promises."""
    parser = argparse.ArgumentParser(prog="noren demo", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="directory for all files (default: demo-out)"
    )
    options = parser.parse_args(arguments)
    client, server = options.out / "client", options.out / "server"
    try:
        for directory in (client, server):
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise SystemExit(f"noren demo: {refused}: choose another directory with --out") from None

    features, labels, names = load_records()
    order = np.random.default_rng(1).permutation(len(features))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    model, pipeline = fit(features[train], labels[train])
    (server / "model.json").write_text(json.dumps(model, indent=1))
    write_csv(client / "records.csv", names, features[test])
    print(f"{len(train)} records train a logistic regression in the clear; {len(test)} are scored under encryption.\n")

    run = Run()
    programs = ",".join(("logistic", *STATISTICS))
    keys = run.tool(
        "client", "keygen", "--out", client, "--force", "--program", programs, "--model", server / "model.json",
        "--rows", str(len(test)), "--columns", str(len(names)), "--precision", str(PRECISION_BITS),
    )  # fmt: skip
    run.tool(
        "client", "encrypt", "--force", "--key", client / "secret.key", client / "records.csv",
        "-o", server / "records.ct",
    )  # fmt: skip
    (server / "eval.keys").write_bytes((client / "eval.keys").read_bytes())
    for program in ("logistic", *STATISTICS):
        extra = ("--model", server / "model.json") if program == "logistic" else ()
        run.tool(
            "server", "eval", program, "--force", "--keys", server / "eval.keys", server / "records.ct", *extra,
            "--last", "-o", client / f"{program}.ct",
        )  # fmt: skip
    bounds: dict[str, float] = {}
    for program in ("logistic", *STATISTICS):
        printed = run.tool(
            "client", "decrypt", "--force", "--key", client / "secret.key", client / f"{program}.ct",
            "-o", client / f"{program}.npy",
        )  # fmt: skip
        bounds[program] = float(printed["error_bound"])

    clear_scores = pipeline.predict_proba(features[test])[:, 1]
    expected = {
        "logistic": clear_scores,
        "mean": features[test].mean(axis=0),
        "variance": features[test].var(axis=0, ddof=1),
        "covariance": np.cov(features[test], rowvar=False),
    }
    found = {name: read_npy(client / f"{name}.npy").reshape(value.shape) for name, value in expected.items()}
    scores = found["logistic"]
    plot(options.out / "scores.png", clear_scores, scores, labels[test])

    score_error = float(np.abs(scores - clear_scores).max())
    same = int(((scores > 0.5) == (clear_scores > 0.5)).sum())
    logits = np.abs(pipeline.decision_function(features[test])).max()
    parameters = keys["plan"]["parameters"]
    security = min(key["reached_bits"] for key in parameters["keys"])
    log_qp = max(key["log_modulus"] for key in parameters["keys"])
    print(f"\nsecurity            {security} bits (log2 QP = {log_qp:.0f}, N = {parameters['n']})")
    accuracy = {
        name: ((s > 0.5) == labels[test]).mean() for name, s in (("clear", clear_scores), ("encrypted", scores))
    }
    print("accuracy            " + "   ".join(f"{name} {value:.4f}" for name, value in accuracy.items()))
    print(f"same prediction     {same} of {len(test)} records")
    print(f"largest |logit|     {logits:.1f}, approximated on [-{model['interval']}, {model['interval']}]")
    print(f"score error         {score_error:.2e}   (bound {bounds['logistic']:.2e})")
    for name in STATISTICS:
        scale = np.abs(expected[name]).max()
        error = float(np.abs(found[name] - expected[name]).max())
        print(
            f"{name + ' error':<19} {error:.2e}   ({error / scale:.1e} of the largest entry; bound {bounds[name]:.2e})"
        )
    travel = {
        "evaluation keys": (server / "eval.keys").stat().st_size,
        "encrypted records": (server / "records.ct").stat().st_size,
        "encrypted results": sum((client / f"{name}.ct").stat().st_size for name in expected),
    }
    print("bytes that travel   " + "   ".join(f"{name} {size / 1e6:.2f} MB" for name, size in travel.items()))
    for side in ("client", "server"):
        steps = [step for step in run.steps if step.side == side]
        print(f"{side:<19} {sum(step.seconds for step in steps):.2f} s, "
              f"peak {max(step.peak_bytes for step in steps) / 2**20:.0f} MiB")  # fmt: skip
    print(f"plot                {options.out / 'scores.png'}")

    reached = same == len(test) and score_error < 1e-4 and security >= 128
    if not reached:
        print("noren demo: the result is not what it promises", file=sys.stderr)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
