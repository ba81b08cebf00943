"""A function of numpy, compiled: risk scores of patients, by a server that learns nothing of them.

A model was trained in clear. Its function, with a hidden layer and a logistic end, is compiled for tables of 64
patients. The client and the server are processes of their own that meet in files: the program, evaluation keys, the
encrypted table, the encrypted scores. Before anything is encrypted, the client simulates the function with the noise of
the scheme, and sees the error bound.

Run it with ``python examples/8_compile.py``: 128-bit security, some seconds. It needs scikit-learn, for its data and
the model.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import noren
from noren import compiler

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler
except ModuleNotFoundError:
    raise SystemExit("this example takes its data and its model from scikit-learn: pip install scikit-learn") from None

PATIENTS = 64
HIDDEN = 4
# Standardised numbers beyond so many deviations are cut off.
CLIP = 3.0
PRECISION = 1e-2

SERVER = """
import sys
from pathlib import Path
from noren import compiler
program, keys, request, reply = map(Path, sys.argv[1:])
reply.write_bytes(compiler.Server.load(program).run(request.read_bytes(), keys))
"""


def main() -> None:
    """Compile, simulate, encrypt, let a server compute, decrypt."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    data, diagnoses = load_breast_cancer(return_X_y=True)
    numbers = np.clip(StandardScaler().fit_transform(data), -CLIP, CLIP) / CLIP
    model = MLPClassifier((HIDDEN,), activation="tanh", alpha=1.0, max_iter=2000, random_state=1)
    model.fit(numbers[PATIENTS:], diagnoses[PATIENTS:])
    (first, second), (bias, last) = model.coefs_, model.intercepts_

    def score(table: Any) -> Any:  # noqa: ANN401
        return compiler.sigmoid(np.tanh(table @ first + bias) @ second[:, 0] + last[0])

    shape = (PATIENTS, data.shape[1])
    f = noren.compile(score, noren.Input(shape, -1.0, 1.0), precision=PRECISION)
    print(f.explain())

    patients = numbers[:PATIENTS]
    expected = score(patients)
    simulated, bound = f.simulate(patients, bound=True)
    print(f"\nsimulated: off by {np.abs(simulated - expected).max():.1e}, at most {bound:.1e}")

    with tempfile.TemporaryDirectory() as folder:
        program, keys, request, reply = (Path(folder) / name for name in ("program", "keys", "request", "reply"))
        f.save(program)
        f.client.keygen().save(keys)
        request.write_bytes(f.client.encrypt(patients))
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", SERVER, *map(str, (program, keys, request, reply))], check=True)
        elapsed = time.perf_counter() - start
        scores, bound = f.client.decrypt(reply.read_bytes(), bound=True)
    print(f"encrypted: off by {np.abs(scores - expected).max():.1e}, at most {bound:.1e}; {elapsed:.1f} s")
    print(f"{np.mean((scores > 0.5) == diagnoses[:PATIENTS]):.0%} of {PATIENTS} diagnoses are as known")


if __name__ == "__main__":
    main()
