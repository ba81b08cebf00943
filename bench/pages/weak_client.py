"""Tables of the suite `weak-client`: what a device of little memory makes, beside the keys of a stronger one."""

from collections.abc import Iterable

from records import Record, Results, milliseconds, number, size, table

SUITE = {"suite": "weak-client", "library": "noren", "threads": 1}
ISAS = {"avx512": "AVX-512", "avx2": "AVX2"}
# Parts, and their names.
PARTS = {
    "own": "the client: secrets, light keys, encryption, decryption",
    "public": "a public key, and encryption with it",
    "full": "keys of TFHE that travel whole",
    "all": "all keys of bootstrapping, switching and TFHE",
}
# Steps in their order, with the part in which they are measured, and their names.
STEPS = [
    ("own", "context", "context of CKKS"),
    ("own", "keygen_secret", "secret of CKKS"),
    ("own", "light_keys", "secret and light keys of TFHE"),
    ("own", "encode", "encode 2^15 reals"),
    ("own", "encrypt_secret", "encrypt them with the secret key"),
    ("own", "decrypt", "decrypt and decode a result"),
    ("public", "keygen_public", "public key"),
    ("public", "encrypt", "encrypt with the public key"),
    ("full", "tfhe_keys", "keys of TFHE"),
    ("all", "switch_keys", "switching keys"),
    ("all", "bootstrap_keys", "bootstrapping keys of 2^15 slots"),
]
# Operations that are repeated: the first one, which counts for the whole, is told apart.
REPEATED = {"encode", "encrypt", "encrypt_secret"}


def spent(records: Iterable[Record]) -> float | None:
    """Return the time of all that a device does once, and of one message; None if a result was wrong."""
    times = [found.get("first_ns", 0.0) if found["op"] in REPEATED else found["median_ns"] for found in records]
    return None if any(time is None for time in times) else sum(times)


def devices_table(results: Results) -> str:
    """Return what each device does: its time on one core, its peak memory, and what it sends."""
    rows = []
    for part, title in PARTS.items():
        each = {isa: results.select(**SUITE, part=part, isa=isa) for isa in ISAS}
        found = next((records for records in each.values() if records), [])
        times = [spent(records) if records else None for records in each.values()]
        peaks = [record["peak_rss_bytes"] or 0 for record in found]
        sent = sum(record.get("file_bytes", 0) for record in found)
        seconds = [number(None if time is None else time / 1e9, 2) for time in times]
        rows.append([title, *seconds, size(max(peaks, default=None)), size(sent)])
    return table(["device makes", *(f"s, {name}" for name in ISAS.values()), "peak memory", "sends"], rows)


def steps_table(results: Results) -> str:
    """Return the time of each step."""
    rows = []
    for part, op, title in STEPS:
        found = [results.one(**SUITE, part=part, op=op, isa=isa) for isa in ISAS]
        sent = next((record.get("file_bytes", record.get("result_bytes")) for record in found if record), None)
        times = [milliseconds(record["median_ns"]) if record else "" for record in found]
        rows.append([title, *times, size(sent)])
    return table(["step", *(f"ms, {name}" for name in ISAS.values()), "bytes"], rows)
