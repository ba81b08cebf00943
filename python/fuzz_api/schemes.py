"""All families of cases."""

from __future__ import annotations

import importlib.util

from fuzz_api import (
    advisor,
    arrays,
    bootstrapping,
    ckks,
    ckks_verbs,
    compiler,
    cyclotomic,
    files,
    integers,
    lookups,
    mistakes,
    questions,
    retrieval,
    selftest,
    signatures,
    switching,
    tables,
    tfhe,
    tool,
)
from fuzz_api.program import Scheme

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("ckks", ckks.World, [*ckks_verbs.VERBS, *mistakes.CKKS], first=2, steps=(8, 22), weight=5),
        Scheme("ckks128", ckks.SecureWorld, ckks_verbs.VERBS, first=2, steps=(5, 10), weight=0.1),
        Scheme("integers", integers.World, [*integers.VERBS, *mistakes.INTEGERS], first=2, steps=(8, 22), weight=4),
        Scheme("coefficients", integers.CoefficientWorld, integers.COEFFICIENT_VERBS, first=2, steps=(5, 12), weight=1),
        Scheme("cyclotomic", cyclotomic.World, cyclotomic.VERBS, first=2, steps=(6, 16), weight=2),
        Scheme("tfhe", tfhe.World, [*tfhe.VERBS, *arrays.VERBS, *mistakes.TFHE], first=2, steps=(5, 12), weight=3),
        Scheme("tables", tables.World, tables.VERBS, first=1, steps=(3, 8), weight=2),
        Scheme("lookups", lookups.World, lookups.VERBS, first=1, steps=(3, 8), weight=0.7),
        Scheme("bootstrapping", bootstrapping.World, bootstrapping.VERBS, first=2, steps=(4, 9), weight=0.4),
        Scheme("signatures", signatures.World, signatures.VERBS, weight=0.3, each=True),
        Scheme("switching", switching.World, switching.VERBS, first=2, steps=(5, 12), weight=0.6),
        Scheme("compiler", compiler.World, compiler.VERBS, steps=(2, 4), weight=0.6),
        Scheme("questions", questions.World, questions.VERBS, steps=(2, 5), weight=0.6),
        Scheme("retrieval", retrieval.World, retrieval.VERBS, steps=(3, 8), weight=0.4),
        Scheme("tool", tool.World, tool.VERBS, first=1, steps=(3, 6), weight=0.15),
        Scheme("advisor", advisor.World, advisor.VERBS, first=1, steps=(3, 8), weight=0.3),
    )
}

# Without scikit-learn there are no fitted models.
if importlib.util.find_spec("sklearn") is not None:
    from fuzz_api import models

    SCHEMES["models"] = Scheme("models", models.World, models.VERBS, steps=(2, 5), weight=0.6)

# Without Ray there is no noren.cluster.
if importlib.util.find_spec("ray") is not None:
    from fuzz_api import cluster

    SCHEMES["cluster"] = Scheme("cluster", cluster.World, cluster.VERBS, first=1, steps=(3, 8), weight=1)

# Changed files, which `make fuzz-files` runs alone.
FILES = "files"
SCHEMES[FILES] = Scheme(FILES, files.World, files.VERBS, limit=300, each=True)

# What the fuzzer must find; run by its own tests alone.
SELFTESTS = tuple(f"selftest-{kind}" for kind in selftest.KINDS)
SCHEMES |= {
    f"selftest-{kind}": Scheme(
        f"selftest-{kind}", selftest.World, selftest.verbs(kind), weight=0, steps=(9, 10), limit=3
    )
    for kind in selftest.KINDS
}
