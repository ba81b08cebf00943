"""One small file of every kind that the tool and Python write, and what the files are used with."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api.tool import tool
from noren import (
    Input,
    SigningKey,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    compile,
    intersection,
    owners,
    programs,
    retrieval,
    sign,
    switching,
    tfhe,
)

# Kinds of the wire format that no file of the tool or of Python has: parts of other objects, and objects of Rust alone.
NOT_WRITTEN = {
    **dict.fromkeys((0x0001, *range(0x0005, 0x000B)), "a part of keys and ciphertexts of a scheme"),
    **dict.fromkeys((0x000C, 0x000D, 0x000E), "a part of keys of TFHE and of switching"),
    0x000F: "a part of messages of joint keys",
    0x0301: "a part of bootstrapping keys",
    0x0402: "written by Rust alone",
    0x0602: "written by Rust alone; Python and the tool write columns",
    0x0603: "written by Rust alone; Python and the tool write columns",
    0x0606: "written by Rust alone; Python and the tool write columns",
    0x060A: "written by Rust alone; Python and the tool write columns",
    **dict.fromkeys((0x0804, 0x0805), "keys of several objects, each of which has a file of its own"),
}

MACHINE = Path(__file__).parents[2] / "crates" / "noren" / "src" / "cost" / "reference.json"
"""Costs of a machine, as `noren calibrate` writes them."""

# Ranges and types of the arguments of compiled functions.
COMPILED: dict[Any, tuple[float, float, type]] = {
    "ckks": (-1.0, 1.0, float),
    "bgv": (0, 7, int),
    "bfv": (0, 7, int),
    "tfhe": (0, 7, int),
}
ASKED = ["key 3", "none"]
"""Keywords that are asked for, of a table of another."""
CKKS = ("ckks.ct", "ckks.seeded", "ckks.raw")
"""Names of ciphertexts of CKKS."""
PASSPHRASE, SIGNED = "open sesame", "ckks.ct"

OWNERS = 3
"""Sets of files: the first, that of another secret, and that of other parameters."""

VALUES = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, 3.0], [-0.5, 1.0, 1.0], [0.0, 2.0, -3.0]])
MODELS: dict[str, dict[str, Any]] = {
    "linear": {"weights": [1.0, -0.5, 0.25], "bias": 0.5, "mean": [0, 1, 2], "scale": [1, 2, 3], "columns": [0, 1, 2]},
    "logistic": {"weights": [0.1, 0.1, 0.1], "interval": 8, "degree": 7, "outputs": ["p"]},
    "polynomial": {"coefficients": [0.5, 1, 0, 0.25], "interval": [-10, 10]},
    "variance": {"ddof": 1},
    "inner-product": {"pairs": [["a", "b"], [0, 2]]},
}


class Samples:
    """The files of one owner, and the objects that they are used with."""

    def __init__(self, owner: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.seed, self.odd = bytes([owner] * 32), owner == OWNERS - 1
        self.files: dict[str, bytes] = {}
        self.objects: dict[str, Any] = {}
        self._ckks()
        self._protected()
        self._integers()
        self._slots()
        self._tfhe()
        self._bootstrapping()
        self._compiled()
        self._retrieval()
        self._joint()
        self._texts()
        self._tables()

    def path(self, name: str) -> Path:
        """Return the file of this name."""
        return self.folder / name

    def _put(self, name: str, value: Any) -> Any:
        """Keep an object and its bytes."""
        self.objects[name] = value
        data = value if isinstance(value, bytes) else bytes(value)
        self.files[name] = data
        self.path(name).write_bytes(data)
        return value

    def _bare(self, *names: str) -> None:
        """Keep what pickles have instead of files: keys without their parameters."""
        for name in names:
            parts = pickled(name, self.objects[name])[1]
            data = next(part for part in parts if isinstance(part, bytes))
            self.path(f"{name}.bare").write_bytes(data)
            self.files[f"{name}.bare"] = data

    def _found(self, name: str) -> None:
        """Keep a file that is there."""
        self.files[name] = self.path(name).read_bytes()

    def _ckks(self) -> None:
        sizes = [50] + [40] * (5 if self.odd else 6)
        self.ckks = ctx = ckks.Context(ckks.Parameters(5, sizes, [50, 50], security=None), threads=1)
        keys = ctx.keygen(rotations=range(1, 16), conjugation=True, seed=self.seed)
        self.ckks_keys, self.evaluator = keys, ctx.evaluator(keys.evaluation)
        self._put("ckks.params", ctx.parameters)
        self._put("ckks.secret", keys.secret)
        self._put("ckks.public", keys.public)
        self._put("ckks.eval", keys.evaluation)
        self.successor = bytes(byte ^ 1 for byte in self.seed)
        new = self._put("ckks.successor", ctx.keygen(seed=self.successor).secret)
        self._put("ckks.rekey", ctx.reencryption_key(keys.secret, new, seed=self.seed))
        receiver = self._put("ckks.receiver", ctx.receiver_key(new, seed=self.seed))
        self._put("ckks.handover", ctx.reencryption_key(keys.secret, receiver, seed=self.seed))
        self._bare("ckks.secret", "ckks.public", "ckks.eval", "ckks.rekey", "ckks.receiver")
        keys.evaluation.save(self.path("ckks.mapped"), expanded=True)
        self._found("ckks.mapped")
        self._put("ckks.plain", ctx.encode([1.0, 2.0], slots=4))
        x = self._put("ckks.ct", ctx.encrypt([1.0, -2.0], keys.public, slots=4, seed=self.seed))
        self._put("ckks.seeded", ctx.encrypt([1j, 2.0], keys.secret, seed=self.seed))
        self._put("ckks.raw", x.to_bytes(packed=False))
        self.objects["ckks.raw"] = x
        ctx.save(self.path("ckks.list"), [x, ctx.encrypt([3.0], keys.secret, level=2, seed=self.seed)])
        self._found("ckks.list")
        table = programs.encrypt_table(VALUES, keys.public, column_names=list("abc"), seed=self.seed)
        self._put("ckks.table", table)

    def _protected(self) -> None:
        """Make files of other formats: a key under a passphrase, and a signature. Their salts and keys are random."""
        self.ckks_keys.secret.save(self.path("ckks.locked"), passphrase=PASSPHRASE)
        self._found("ckks.locked")
        key = SigningKey.generate()
        key.save(self.path("signing.key"))
        key.signer.save(self.path("signer.pub"))
        sign(self.path(SIGNED), key)
        self.objects["signer.pub"] = key.signer
        for name in ("signing.key", "signer.pub", f"{SIGNED}.minisig"):
            self._found(name)

    def _integers(self) -> None:
        sizes = [40] * (11 if self.odd else 12)
        params = bfv.Parameters(4, 97, sizes, [40] * 2, security=None)
        self.bfv, self.bgv = bfv.Context(params, threads=1), bgv.Context(params, threads=1)
        keys = self.integer_keys = self.bfv.keygen(rotations=(1, 2), seed=self.seed)
        self._put("int.params", params)
        self._put("int.secret", keys.secret)
        self._put("int.public", keys.public)
        self._put("int.eval", keys.evaluation)
        keys.evaluation.save(self.path("int.mapped"), expanded=True)
        self._found("int.mapped")
        new = self.bfv.keygen(seed=self.successor).secret
        self._put("int.rekey", self.bfv.reencryption_key(keys.secret, new, seed=self.seed))
        receiver = self._put("int.receiver", self.bfv.receiver_key(new, seed=self.seed))
        self._put("int.handover", self.bfv.reencryption_key(keys.secret, receiver, seed=self.seed))
        self._bare("int.secret", "int.public", "int.eval", "int.rekey", "int.receiver")
        for name, ctx in (("bfv", self.bfv), ("bgv", self.bgv)):
            x = self._put(f"{name}.ct", ctx.encrypt([1, 2, 3], keys.public, seed=self.seed))
            self._put(f"{name}.seeded", ctx.encrypt([1, 2, 3], keys.secret, seed=self.seed))
            ctx.save(self.path(f"{name}.list"), [x, x])
            self._found(f"{name}.list")
        self.plan = bfv.LookupPlan(params, (8, 5))
        self._put("lookup.keys", self.plan.keygen(keys.secret, seed=self.seed)).save(
            self.path("lookup.mapped"), expanded=True
        )
        self._found("lookup.mapped")
        x, y = np.indices((8, 5))
        for name, table in (("lookup.matrix", (x * x + 3 * y) % 97), ("lookup.line", (x + y) % 97)):
            self.objects[name] = bfv.Lookup(table).prepare(self.bfv)
            self.objects[name].save(self.path(name))
            self._found(name)
        spread = [self.bfv.encrypt(self.plan.spread(np.array([1, 2]), axis=i), keys.public) for i in (0, 1)]
        self.queries = (spread[0], spread[1])

    def _slots(self) -> None:
        """Slots of a ring whose index is no power of two: six, of degree 2, modulo 4."""
        sizes = [40] * (2 if self.odd else 3)
        self.slots = ctx = bgv.Context(
            bgv.Parameters(m=21, p=2, r=2, log_q=sizes, log_p=[40], security=None), threads=1
        )
        keys = self.slot_keys = ctx.keygen(automorphisms=ctx.automorphisms_of_matrices(), seed=self.seed)
        self._put("slots.params", ctx.parameters)
        matrix = bgv.SlotMatrix(ctx, [[1, 2], [3, 0]])
        self._put("slots.matrix", matrix)
        matrix.save(self.path("slots.prepared"), prepared=True)
        self._found("slots.prepared")
        self._put("slots.ct", ctx.encrypt([1, 3], keys.public, seed=self.seed))

    def _tfhe(self) -> None:
        self.tfhe: dict[str, Any] = {}
        for name, preset in (("tfhe", "TOY_2_2"), ("bool", "TOY_BOOL"), ("light", "BOOL_LIGHT")):
            ctx = tfhe.Context(tfhe.Parameters(preset), threads=1)
            keys = ctx.keygen(circuit=name == "tfhe", seed=self.seed)
            values: Any = np.array([1, 200], np.uint8) if name == "tfhe" else np.array([True, False])
            self._put(f"{name}.params", ctx.parameters)
            self._put(f"{name}.secret", keys.secret)
            self._put(f"{name}.server", keys.server)
            x = self._put(f"{name}.fresh", ctx.encrypt(values, keys.secret, seed=self.seed))
            self.tfhe[name] = (ctx, keys, x)
            if name == "light":
                continue
            ev = self.objects[f"{name}.evaluator"] = ctx.evaluator(keys.server, keys.circuit)
            self._put(f"{name}.result", ev.bind(x) ^ ev.bind(x))
            tfhe.ExpandedServerKeys.write(self.path(f"{name}.mapped"), keys.server)
            self._found(f"{name}.mapped")
        ctx, keys, _ = self.tfhe["tfhe"]
        self._put("tfhe.circuit", keys.circuit)
        self._put("tfhe.digits", ctx.encrypt(np.array([[1, 2]]), keys.secret, digits=True, seed=self.seed))

    def _bootstrapping(self) -> None:
        params = bootstrapping.Parameters("toy")
        self.boot = ckks.Context(params.ckks, threads=1)
        self.boot_secret = self._put("boot.secret", self.boot.keygen(seed=self.seed).secret)
        self._bare("boot.secret")
        self._put("boot.keys", bootstrapping.BootstrapKeys.generate(params, self.boot_secret, seed=self.seed))
        level = params.input_level
        self._put("boot.ct", self.boot.encrypt([0.5, 0.25], self.boot_secret, level=level, seed=self.seed))
        table = programs.encrypt_table(VALUES[:, :1], self.boot_secret, level=level, seed=self.seed)
        self._put("boot.table", table)
        both = switching.Parameters(params, "TOY_SWITCH")
        self.switch_tfhe = tfhe.Context(both.tfhe, threads=1).keygen(seed=self.seed)
        keys = switching.SwitchingKeys.generate(both, self.boot_secret, self.switch_tfhe.secret, seed=self.seed)
        self._put("boot.switch", keys)
        tool("expand", self.path("boot.keys"), "-o", self.path("boot.mapped"))
        self._found("boot.mapped")

    def _compiled(self) -> None:
        """Compile a function for each scheme; its messages go both ways."""
        for name, (low, high, dtype) in COMPILED.items():
            given = Input((2,), low, high, dtype)
            made = compile(self._function, given, scheme=name, precision=0.1 if name == "ckks" else None, security=None)
            self._put(f"{name}.program", made)
            if name == "tfhe":
                continue
            keys = made.client.keygen(seed=self.seed)
            request = self._put(f"{name}.request", made.client.encrypt(np.zeros(2, dtype), seed=self.seed))
            self.objects[f"{name}.program.keys"] = keys
            self._put(f"{name}.reply", made.server.run(request, keys))

    def _function(self, x: Any) -> Any:
        return x * x + (1 if self.odd else 2)

    def _retrieval(self) -> None:
        """Describe a table of another in both ways; their messages go both ways."""
        rows: dict[bytes | str, bytes | str] = {f"key {k}": bytes([k]) * (3 if self.odd else 4) for k in range(20)}
        for name, database, client_of in (
            ("rows", retrieval.Database(rows, security=None), retrieval.Client),
            ("shared", intersection.Database(rows, asked=5, security=None, seed=self.seed), intersection.Client),
        ):
            client: Any = client_of(self._put(f"{name}.description", database.description), min_security=0)
            keys = client.keygen(seed=self.seed)
            request = self._put(f"{name}.request", client.encrypt(ASKED, seed=self.seed))
            self._put(f"{name}.reply", database.answer(request, keys))
            self.objects[f"{name}.halves"] = (database, client, keys)

    def _joint(self) -> None:
        """Let two parties make joint keys, and open a ciphertext."""
        sizes = [40] * (4 if self.odd else 5)
        params = bfv.Parameters(5, 193, sizes, [45], secret="joint:2", security=None)
        session = owners.Session(params, ["a", "b"], results=2, relinearization=True, rotations=[1], seed=self.seed)
        parties = [
            owners.Party.create(self.path(f"party-{name}"), session, name, seed=self.seed) for name in session.names
        ]
        rounds: list[list[bytes]] = [[]]
        while sent := [message for party in parties if (message := party.next(rounds[-1])) is not None]:
            rounds.append(sent)
        # The share of one party, those of whose keys are the largest.
        before, (share, beside), after = [message for sent in rounds[:4] for message in sent], rounds[4], rounds[5]
        public, _ = parties[0].keys()
        ciphertext = bfv.Context(params, threads=1).encrypt([1, 2, 3], public, seed=self.seed)
        shares = [party.open(ciphertext) for party in parties]
        self._put("joint.session", session)
        self._put("joint.message", share)
        self._put("joint.shares", shares[0])
        self._put("joint.request", session.request(ciphertext))
        self.objects["joint.messages"] = session, before, [beside, *after]
        self.objects["joint.opening"] = session, ciphertext, shares[1]
        self.objects["joint.folder"] = self.path("party-a")
        self.files["joint.secret"] = (self.path("party-a") / "secret").read_bytes()

    def _texts(self) -> None:
        for name, model in MODELS.items():
            self._put(f"model.{name}", json.dumps(model).encode())
        self._put("machine.json", MACHINE.read_bytes())
        self._put("bounds.json", json.dumps({"a": 120, "b": 60, "c": 1e3}).encode())
        rows = "\n".join(",".join(map(str, row)) for row in VALUES.tolist())
        self._put("table.csv", f'a,"b",c\n{rows}\n'.encode())
        self._put("pairs.csv", b"x,y\n1,2\n7,4\n0,0\n")
        self._put("function.csv", "\n".join(["f", *(str(i % 97) for i in range(256))]).encode())
        self._put("grid.csv", "\n".join(["a,b,c", *(f"{i},{i * i},{i + 1}" for i in range(8))]).encode())
        self._array("table.npy", VALUES)
        self._array("pairs.npy", np.array([[1, 2], [7, 4]], np.int32))
        self._array("function.npy", np.arange(40).reshape(8, 5).astype(np.uint8))

    def _array(self, name: str, values: Any) -> None:
        np.save(self.path(name), values)
        self._found(name)

    def _tables(self) -> None:
        """Encrypt with the tool what Python has no call for."""
        for name, key, options in (
            ("int.table", "int.public", ("--domain", "8,5")),
            ("tfhe.table", "tfhe.secret", ("--type", "uint8")),
        ):
            tool("encrypt", "--key", self.path(key), self.path("pairs.csv"), *options, "-o", self.path(name))
            self._found(name)


def pickled(name: str, value: Any) -> tuple[Any, Any]:
    """Return what a pickle holds: a function, and what it is called with."""
    make, parts = value._reduce_with_secret() if name.endswith("secret") else value.__reduce__()
    return make, parts


@functools.cache
def samples(owner: int) -> Samples:
    """Return the files of an owner, which all cases of a process share."""
    return Samples(owner)
