"""Homomorphic encryption: arithmetic on numbers that stay encrypted.

- `noren.ckks`: vectors of real or complex numbers, with a known bound on their error;
- `noren.bgv`, `noren.bfv`: vectors of integers modulo t, exact;
- `noren.tfhe`: arrays of truth values and integers, encrypted element by element;
- `noren.bootstrapping`: new levels for ciphertexts, so that programs of any depth run;
- `noren.switching`: comparisons and any function of the numbers of CKKS, by TFHE;
- `noren.programs`: whole computations on encrypted tables;
- `noren.advise`, `noren.advisor`: which scheme and parameters suit a computation, and what they cost;
- `noren.compile`, `noren.Input`: functions of numpy, compiled to a client half and a server half;
- `noren.ml`: fitted models of scikit-learn, XGBoost and LightGBM, and graphs of ONNX, compiled by one call;
- `noren.tables`: questions on encrypted tables, in words of SQL;
- `noren.retrieval`, `noren.intersection`: rows of a table of another, by numbers and keywords that stay encrypted;
- `noren.owners`: keys of several owners, and results that they open together;
- `noren.federated`: averages of updates of a model that several parties have;
- `noren.flower`: such averages under Flower, which the extra `noren[flower]` brings;
- `noren.cluster`: programs on several cores or machines, over Ray, which the extra `noren[cluster]` brings;
- `noren.sign`, `noren.verify`, `noren.SigningKey`, `noren.Signer`: files that say who made them;
- `noren.PicklableSecret`: a secret key that is pickled on purpose;
- `noren.progress`: a function that hears how far long calls are;
- `noren.Error` and its subclasses: what the library refuses, with what was found and what is needed;
- `noren.SecurityWarning`: parameters that promise fewer than 128 bits are used.

The command-line tool `noren` comes with this package. What it does is in `noren --help`.
"""

from noren import (
    advisor,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    compiler,
    federated,
    intersection,
    ml,
    owners,
    programs,
    retrieval,
    switching,
    tables,
    tfhe,
)
from noren._noren import (
    EncodingError,
    Error,
    InsecureError,
    KeyMismatchError,
    LevelError,
    MissingKeyError,
    ParameterMismatchError,
    RangeError,
    ScaleError,
    SecurityWarning,
    SignatureError,
    Signer,
    SigningKey,
    WireError,
    __version__,
    sign,
    verify,
)
from noren._progress import progress
from noren._secret import PicklableSecret
from noren.advisor import advise
from noren.compiler import Input, compile

__all__ = [
    "EncodingError",
    "Error",
    "Input",
    "InsecureError",
    "KeyMismatchError",
    "LevelError",
    "MissingKeyError",
    "ParameterMismatchError",
    "PicklableSecret",
    "RangeError",
    "ScaleError",
    "SecurityWarning",
    "SignatureError",
    "Signer",
    "SigningKey",
    "WireError",
    "__version__",
    "advise",
    "advisor",
    "bfv",
    "bgv",
    "bootstrapping",
    "ckks",
    "compile",
    "compiler",
    "federated",
    "intersection",
    "ml",
    "owners",
    "programs",
    "progress",
    "retrieval",
    "sign",
    "switching",
    "tables",
    "tfhe",
    "verify",
]
