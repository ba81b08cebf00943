"""Any function of two encrypted integers, by its table: quotients, and mortality from age and risk class.

An insurer looks up what it does not see. The mortality table is made by Makeham's law, the force of mortality
``A + B c^age``, with the constants of the standard ultimate survival model (Dickson, Hardy and Waters, Actuarial
Mathematics for Life Contingent Risks, 2nd edition, Cambridge 2013, section 4.3), times ``1 + class/4``.

Run it with ``python examples/4_lookup.py``; ``--preset toy`` does the same in a small ring without security.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from noren import bfv

RECORDS = 400
# Ages, and all other numbers, are below 128: so each ciphertext holds 256 of them at 2^15 slots.
AGES, CLASSES = 128, 16
SIZE = 128


def deaths(age: NDArray[np.int64], risk: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the deaths within a year of 10 000 people of an age and a risk class."""
    a, b, c = 0.00022, 2.7e-6, 1.124
    # The force of mortality, integrated over a year.
    force = a + b * c**age * (c - 1) / np.log(c)
    return np.rint(10_000 * -np.expm1(-force * (1 + risk / 4)))


def server(lookup_keys: bytes, columns: dict[str, list[bytes]], min_security: int) -> dict[str, list[bytes]]:
    """Divide claims by years, and look up the deaths; nothing here decrypts."""
    keys = bfv.LookupKeys.from_bytes(lookup_keys, min_security=min_security)
    context = keys.context
    evaluator = context.evaluator(keys.evaluation)
    read = {name: [bfv.Ciphertext.from_bytes(context, x) for x in column] for name, column in columns.items()}

    # Prepared once, for any number of queries; what takes long can be saved, and mapped by PreparedLookup.load.
    mean = bfv.Lookup(lambda x, y: x // y, domain=(SIZE, SIZE), undefined=0).prepare(context)
    mortality = bfv.Lookup(deaths, domain=(AGES, CLASSES)).prepare(context)
    print(f"prepared   {mean}, {mortality}")

    start = time.perf_counter()
    results = {
        "claims a year": mean.many(evaluator, list(zip(read["claims"], read["years"], strict=True)), keys=keys),
        "deaths": mortality.many(evaluator, list(zip(read["age"], read["class"], strict=True)), keys=keys),
    }
    seconds = time.perf_counter() - start
    print(f"looked up  {2 * RECORDS} values in {seconds:.2f} s")
    return {name: [bytes(x) for x in column] for name, column in results.items()}


def main() -> None:
    """Play the client: make keys, encrypt columns, send, receive, decrypt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["secure", "toy"], default="secure", help="which parameters")
    toy = parser.parse_args().preset == "toy"
    params = bfv.Parameters.for_lookups(log_n=9, security=None) if toy else bfv.Parameters.for_lookups()
    plan = bfv.LookupPlan(params, domain=(SIZE, SIZE))
    print(f"security   {params.security} bits, N = {params.n}, {plan.queries} queries in a pair of ciphertexts")
    print(f"memory     {plan.memory_bytes() / 1e6:.0f} MB for a lookup, {plan.key_bytes / 1e6:.0f} MB of it keys")

    context = bfv.Context(params)
    keys = context.keygen()
    rng = np.random.default_rng(7)
    columns = {
        "claims": rng.integers(0, SIZE, RECORDS),
        "years": rng.integers(0, 12, RECORDS),
        "age": rng.integers(18, AGES, RECORDS),
        "class": rng.integers(0, CLASSES, RECORDS),
    }

    def encrypt(column: NDArray[np.int64]) -> list[bytes]:
        parts = np.split(column, range(plan.queries, RECORDS, plan.queries))
        return [bytes(context.encrypt(plan.spread(part), keys.secret)) for part in parts]

    def decrypt(column: list[bytes]) -> NDArray[np.int64]:
        read = [bfv.Ciphertext.from_bytes(context, x) for x in column]
        return np.concatenate([plan.gather(context.decrypt(x, keys.secret)) for x in read])[:RECORDS]

    encrypted = {name: encrypt(column) for name, column in columns.items()}
    results = server(bytes(plan.keygen(keys.secret)), encrypted, 0 if toy else 128)

    years = columns["years"]
    expected = {
        "claims a year": np.where(years > 0, columns["claims"] // np.maximum(years, 1), 0),
        "deaths": deaths(columns["age"], columns["class"]),
    }
    for name, column in results.items():
        found = decrypt(column)
        print(
            f"{name:<15}", *found[:8], f"... {np.count_nonzero(found == expected[name])} of {RECORDS} as in the clear"
        )
        if (found != expected[name]).any():
            raise SystemExit("results differ from the clear ones")


if __name__ == "__main__":
    main()
