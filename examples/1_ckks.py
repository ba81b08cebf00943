"""Encrypted arithmetic on vectors: a weighted average of readings that the server never sees.

Run it with ``python examples/1_ckks.py``.
"""

import argparse

import numpy as np

from noren import ckks

COUNT = 1000


def server(evaluation_keys: bytes, ciphertext: bytes) -> bytes:
    """Average the squared readings with weights of its own, without any secret."""
    keys = ckks.EvaluationKeys.from_bytes(evaluation_keys)
    evaluator = keys.context.evaluator(keys)
    readings = ckks.Ciphertext.from_bytes(keys.context, ciphertext)
    weights = np.linspace(0, 2, COUNT)
    squares = readings * readings
    weighted = squares * (weights / weights.sum())
    # The slots after the readings are zero: what the sum takes in beyond them changes nothing.
    return bytes(evaluator.sum(weighted, COUNT))


def main() -> None:
    """Play the client: make keys, encrypt, send, receive, decrypt."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # Two products follow one another, so there are two primes besides the first.
    params = ckks.Parameters(log_n=13, log_q=[48, 38, 38], log_p=[50])
    context = ckks.Context(params)
    keys = context.keygen(rotations=ckks.rotations_of_sum(COUNT))

    readings = np.random.default_rng(1).normal(0, 1, COUNT)
    sent = bytes(keys.evaluation), bytes(context.encrypt(readings, keys.secret))
    reply = server(*sent)

    result = ckks.Ciphertext.from_bytes(context, reply)
    found = context.decrypt(result, keys.secret)[0]
    weights = np.linspace(0, 2, COUNT)
    expected = np.average(readings**2, weights=weights)
    print(f"security   {params.security} bits, log2 QP = {params.log_qp:.0f}, N = {params.n}")
    print(f"sent       keys {len(sent[0]) / 1e6:.1f} MB, readings {len(sent[1]) / 1e3:.0f} kB")
    print(f"received   {len(reply) / 1e3:.0f} kB")
    print(f"average    {found:.9f}, in the clear {expected:.9f}")
    print(f"error      {abs(found - expected):.1e}, bound {result.error_bound:.1e}")


if __name__ == "__main__":
    main()
