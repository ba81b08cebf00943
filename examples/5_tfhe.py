"""Encrypted readings of a river: in how many years it had less than a limit, itself a secret, and in which it had most.

The readings are the annual flow of the Nile at Aswan in 10^8 cubic metres, 1871 to 1970, measured at the gauge there
(G. W. Cobb, The problem of the Nile: conditional solution to a changepoint problem, Biometrika 65, 1978, table 1); here
the 32 years around the change of 1899.

Run it with ``python examples/5_tfhe.py``; ``--preset toy`` does the same with parameters that keep nothing secret.
"""

import argparse
import time

import numpy as np

from noren import tfhe

FIRST_YEAR = 1884
FLOWS = np.array(
    [
        *(994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774),
        *(840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702),
    ],
    dtype=np.uint16,
)
LIMIT = np.array([900], dtype=np.uint16)


def server(keys: bytes, flows: bytes, limit: bytes, min_security: int) -> tuple[bytes, bytes]:
    """Count the years below the limit, and find the one with the largest flow; nothing here decrypts."""
    server_keys = tfhe.ServerKeys.from_bytes(keys, min_security=min_security)
    context = server_keys.context
    evaluator = context.evaluator(server_keys)
    x, least = (tfhe.EncryptedArray.from_bytes(context, data) for data in (flows, limit))

    start = time.perf_counter()
    dry = x < least[np.zeros(x.size, dtype=int)]
    count = evaluator.sum(dry.astype(np.uint8))
    print(f"threshold  {x.size} readings in {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    wettest = evaluator.argmax(x)
    print(f"argmax     {x.size} readings in {time.perf_counter() - start:.2f} s")
    return bytes(count), bytes(wettest)


def main() -> None:
    """Play the client: make keys, encrypt the readings and the limit, send, receive, decrypt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["secure", "toy"], default="secure", help="which parameters")
    toy = parser.parse_args().preset == "toy"
    context = tfhe.Context(tfhe.Parameters("TOY_2_2" if toy else "2_2"))
    print(context.parameters)
    keys = context.keygen()
    flows, limit = (bytes(context.encrypt(values, keys.secret)) for values in (FLOWS, LIMIT))
    print(f"sent       keys of {len(bytes(keys.server)) / 1e6:.1f} MB, {len(flows) / 1e3:.1f} KB of readings")

    answers = server(bytes(keys.server), flows, limit, 0 if toy else 128)
    count, wettest = (
        int(context.decrypt(tfhe.EncryptedArray.from_bytes(context, answer), keys.secret)) for answer in answers
    )
    assert (count, wettest) == (np.sum(FLOWS < LIMIT), np.argmax(FLOWS))
    print(f"{count} of {FLOWS.size} years below {LIMIT[0]}; the most water in {FIRST_YEAR + wettest}: {FLOWS[wettest]}")


if __name__ == "__main__":
    main()
