"""Private set membership: which of a clinic's patients does another clinic know? Neither shows its records.

Records are hashed to elements of a field GF(2^d), which a slot of BGV in a ring of general index holds. For a query
x and the elements s of the other clinic's list, the product of all x - s in a slot is zero where x is one of them;
times a random element it is random where x is not. Against a clinic that asks with more than its key, an answer would
need noise besides: that of the ciphertext still depends on the list.

Run it with ``python examples/6_membership.py``: 128-bit security, some seconds. It needs scikit-learn for its data.
"""

import argparse
import hashlib
import secrets
import time

import numpy as np
from numpy.typing import NDArray

from noren import bgv

try:
    from sklearn.datasets import load_breast_cancer
except ModuleNotFoundError:
    raise SystemExit("this example takes its data from scikit-learn: pip install scikit-learn") from None

# An element of the list is taken for the query with a probability of 2^-BITS.
BITS = 40
# How many elements of the list share a slot: their differences to the query are multiplied.
TOGETHER = 2
QUERIES = 6


def elements(records: NDArray[np.float64], degree: int) -> NDArray[np.int64]:
    """Hash each record to an element of GF(2^degree), by its coefficients."""
    digests = [hashlib.blake2b(record.tobytes()).digest() for record in records]
    bits = np.unpackbits(np.array([np.frombuffer(digest, np.uint8) for digest in digests]), axis=1)
    return bits[:, :degree].astype(np.int64)


def server(evaluation_keys: bytes, queries: list[bytes], records: NDArray[np.float64]) -> list[bytes]:
    """Mark the queries that are in the list; the server learns neither queries nor marks."""
    keys = bgv.EvaluationKeys.from_bytes(evaluation_keys)
    context = keys.bgv_context
    evaluator = context.evaluator(keys)
    slots, degree = context.parameters.slots, context.parameters.slot_degree
    listed = elements(records, degree)
    # What fills up the last slots is listed already.
    listed = listed[np.arange(slots * TOGETHER) % len(listed)].reshape(TOGETHER, slots, degree)
    answers = []
    for query in queries:
        x = evaluator.bind(bgv.Ciphertext.from_bytes(context, query))
        product = x - listed[0]
        for others in listed[1:]:
            product = product * (x - others)
        mask = np.array([[secrets.randbelow(2) for _ in range(degree)] for _ in range(slots)])
        # An element that is not zero: with a probability of 2^-degree it would be.
        mask[~mask.any(axis=1), 0] = 1
        answers.append(bytes(product * mask))
    return answers


def main() -> None:
    """Play the clinic that asks: choose parameters, make keys, encrypt, send, receive, decrypt."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    records = load_breast_cancer().data
    known = records[: len(records) // 2]
    asked = np.concatenate([known[: QUERIES // 2], records[-(QUERIES - QUERIES // 2) :]])

    params = bgv.Parameters.for_requirements(
        depth=1,
        plaintext_modulus=2,
        plain_products=1,
        slots=-(-len(known) // TOGETHER),
        slot_degree=BITS,
        scheme="bgv",
    )
    print(f"{params.security}-bit security, m = {params.m}, {params.slots} slots of GF(2^{params.slot_degree})")
    context = bgv.Context(params)
    keys = context.keygen()
    every = np.ones((params.slots, 1), np.int64)
    queries = [context.encrypt(every * x, keys.secret, elements=True) for x in elements(asked, params.slot_degree)]
    sent = [bytes(query) for query in queries]

    start = time.perf_counter()
    answers = server(bytes(keys.evaluation), sent, known)
    seconds = time.perf_counter() - start
    print(f"{len(asked)} queries against {len(known)} records in {seconds:.2f} s; {len(sent[0]) // 1000} kB a query")

    marks = [
        context.decrypt(bgv.Ciphertext.from_bytes(context, answer), keys.secret, elements=True) for answer in answers
    ]
    found = [bool((mark == 0).all(axis=1).any()) for mark in marks]
    expected = [bool((known == record).all(axis=1).any()) for record in asked]
    print(f"known to the other clinic: {found}")
    if found != expected:
        raise SystemExit(f"in the clear: {expected}")


if __name__ == "__main__":
    main()
