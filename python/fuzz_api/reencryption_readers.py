"""Readers of keys that re-encrypt ciphertexts, and commands of the tool that take them."""

from __future__ import annotations

from functools import partial

from fuzz_api.reading import Reader, World, attempt, loaded, saved
from fuzz_api.samples import CKKS
from noren import bfv, ckks

NAMES = ("ckks.rekey", "ckks.handover", "int.rekey", "int.handover", "ckks.receiver", "int.receiver")
BARE = ("ckks.rekey.bare", "ckks.receiver.bare", "int.rekey.bare", "int.receiver.bare")


def ckks_rekey(w: World) -> None:
    key = loaded(w, ckks.ReencryptionKey, min_security=0)
    saved(w, key)
    for flood in (True, False):
        attempt(partial(w.good.ckks.reencrypt, flood=flood), w.good.objects["ckks.ct"], key)


def ckks_receiver(w: World) -> None:
    key = loaded(w, ckks.ReceiverKey, min_security=0)
    saved(w, key)
    attempt(w.good.ckks.reencryption_key, w.good.ckks_keys.secret, key)


def int_rekey(w: World) -> None:
    key = loaded(w, bfv.ReencryptionKey, min_security=0)
    saved(w, key)
    for ctx, name in ((w.good.bfv, "bfv.ct"), (w.good.bgv, "bgv.ct")):
        attempt(ctx.reencrypt, w.good.objects[name], key)


def int_receiver(w: World) -> None:
    key = loaded(w, bfv.ReceiverKey, min_security=0)
    saved(w, key)
    attempt(w.good.bfv.reencryption_key, w.good.integer_keys.secret, key)


READERS = [
    Reader("ckks.ReencryptionKey", ("ckks.rekey", "ckks.handover"), ckks_rekey),
    Reader("ckks.ReceiverKey", ("ckks.receiver",), ckks_receiver),
    Reader("bfv.ReencryptionKey", ("int.rekey", "int.handover"), int_rekey),
    Reader("bfv.ReceiverKey", ("int.receiver",), int_receiver),
]
COMMANDS: list[tuple[tuple[str, ...], str]] = [
    (("ckks.secret",), "rekey --from {} --to @ckks.successor -o >.key"),
    (("ckks.successor",), "rekey --receive {} -o >.key"),
    (("ckks.receiver",), "rekey --from @ckks.secret --to {} -o >.key"),
    (("ckks.handover",), "reencrypt --key {} @ckks.table --no-flood -o >.ct"),
    (("ckks.rekey",), "reencrypt --key {} @ckks.table -o >.ct"),
    (("int.rekey",), "reencrypt --key {} @bfv.list -o >.ct"),
    (("int.receiver",), "rekey --from @int.secret --to {} -o >.key"),
    (("int.handover",), "reencrypt --key {} @bfv.list -o >.ct"),
    (("ckks.table", "ckks.list", *CKKS), "reencrypt --key @ckks.rekey {} -o >.ct"),
    (("bfv.ct", "bfv.list", "bgv.ct", "bgv.list", "int.table"), "reencrypt --key @int.rekey {} -o >.ct"),
]
