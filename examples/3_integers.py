"""Exact integers from parameters to decryption: how often does a number occur in an encrypted column?

Run it with ``python examples/3_integers.py``.
"""

import argparse
import time

import numpy as np

from noren import bfv

# A Fermat prime: x^65536 is 1 modulo 65537 but for x = 0.
MODULUS = 65537
# The number of squarings that lead to that power.
SQUARINGS = 16


def server(evaluation_keys: bytes, column: bytes, number: bytes) -> bytes:
    """Count the entries of a column that equal a number; the server learns neither."""
    keys = bfv.EvaluationKeys.from_bytes(evaluation_keys)
    context = keys.bfv_context
    evaluator = context.evaluator(keys)
    x, y = (bfv.Ciphertext.from_bytes(context, data) for data in (column, number))
    power = x - y
    for _ in range(SQUARINGS):
        power = evaluator.square(power)
    rows = evaluator.sum(1 - power, context.parameters.n // 2)
    return bytes(rows + evaluator.swap_rows(rows))


def main() -> None:
    """Play the client: choose parameters, make keys, encrypt, send, receive, decrypt."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    # What the computation needs decides the parameters, at 128-bit security.
    params = bfv.Parameters.for_requirements(depth=SQUARINGS, plaintext_modulus=MODULUS, terms=2, sum=1 << 15)
    print(f"{params.security}-bit security, degree {params.n}, {params.max_limbs} limbs, {params.log_qp:.0f} bits")
    context = bfv.Context(params)
    keys = context.keygen(rotations=bfv.rotations_of_sum(params.n // 2), swap=True)

    column, number = np.arange(params.n) ** 2 % 1009, 25
    x = context.encrypt(column, keys.public)
    y = context.encrypt(np.full(params.n, number), keys.public)
    sent = [bytes(thing) for thing in (keys.evaluation, x, y)]

    start = time.perf_counter()
    count = bfv.Ciphertext.from_bytes(context, server(*sent))
    print(f"counted in {time.perf_counter() - start:.2f} s, {count.noise_budget:.0f} bits of noise budget left")

    # The count is in every slot.
    found, expected = context.decrypt(count, keys.secret)[0], np.count_nonzero(column == number)
    print(f"{number} occurs {found} times, in the clear {expected} times")
    if found != expected:
        raise SystemExit("the counts differ")


if __name__ == "__main__":
    main()
