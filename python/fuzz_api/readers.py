"""All that reads files: verbs of the tool and classes of Python, each with what is done with what was read."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_api import joint_readers, reencryption_readers
from fuzz_api.reading import LARGEST, SAVED, Reader, World, attempt, loaded, saved, unpickled
from fuzz_api.samples import ASKED, CKKS, COMPILED, MODELS, PASSPHRASE, SIGNED, Samples
from fuzz_api.tfhe_readers import tfhe_array, tfhe_circuit, tfhe_mapped, tfhe_params, tfhe_secret, tfhe_server
from fuzz_api.tool import tool
from fuzz_api.verdict import Finding
from noren import (
    Error,
    Signer,
    SigningKey,
    advisor,
    bfv,
    bgv,
    bootstrapping,
    ckks,
    compiler,
    intersection,
    programs,
    retrieval,
    sign,
    switching,
    tfhe,
    verify,
)


def bare(w: World) -> None:
    """Keys without parameters, as they are in pickles."""
    name = w.name if w.name in BARE else BARE[0]
    key = unpickled(w, name.removesuffix(".bare"))
    saved(w, key)
    ctx = {"ckks": w.good.ckks, "boot": w.good.boot}.get(name.split(".")[0], w.good.bfv)
    if ".eval" in name:
        attempt(lambda: ctx.evaluator(key))
    else:
        attempt(lambda: ctx.encrypt([1], key))


def ckks_params(w: World) -> None:
    params = ckks.Parameters.from_bytes(w.data)
    bytes(params)
    if params.n <= LARGEST:
        ctx = ckks.Context(params, threads=1)
        keys = ctx.keygen(seed=bytes(32), rotations=(1,))
        x = ctx.evaluator(keys.evaluation).bind(ctx.encrypt([0.5], keys.public))
        ctx.decrypt(x if params.max_level == 0 else x * x, keys.secret)


def ckks_secret(w: World) -> None:
    key = loaded(w, ckks.SecretKey, min_security=0)
    saved(w, key)
    good = w.good
    for x in (key.context.encrypt([1.0], key), good.objects["ckks.ct"], good.objects["boot.ct"]):
        attempt(good.ckks.decrypt, x, key)
        attempt(key.context.decrypt, x, key)
    key.context.evaluation_keys(key, rotations=(1,))


def ckks_public(w: World) -> None:
    key = loaded(w, ckks.PublicKey, min_security=0)
    saved(w, key)
    x = key.context.encrypt([1.0], key)
    attempt(lambda: w.good.ckks.decrypt(x, w.good.ckks_keys.secret))


def ckks_eval(w: World) -> None:
    keys = loaded(w, ckks.EvaluationKeys, min_security=0)
    saved(w, keys)
    x = w.good.objects["ckks.ct"]
    for ctx in (w.good.ckks, keys.context):
        attempt(compute_with, w, ctx, keys, x)
    attempt(lambda: saved(w, keys.at_level(1)))
    attempt(lambda: saved(w, keys | w.good.ckks_keys.evaluation))


def compute_with(w: World, ctx: Any, keys: Any, x: Any) -> None:
    compute(w, ctx.evaluator(keys), x)


def compute(w: World, ev: Any, x: Any) -> None:
    """Use every kind of key, and decrypt."""
    x = ev.bind(x)
    for work in (lambda: x * x, lambda: ev.rotate(x, 1), lambda: ev.conjugate(x), lambda: x + 1, lambda: ev.sum(x)):
        attempt(decrypted, work, w.good.ckks, w.good.ckks_keys.secret, complex=True)


def decrypted(work: Callable[[], Any], ctx: Any, secret: Any, **named: Any) -> Any:
    """Decrypt what a call gives."""
    return ctx.decrypt(work(), secret, **named)


def ckks_plain(w: World) -> None:
    x = loaded(w, ckks.Plaintext, context=w.good.ckks)
    saved(w, x)
    attempt(lambda: w.good.ckks.decode(x))
    attempt(lambda: compute(w, w.good.evaluator, w.good.evaluator.bind(w.good.objects["ckks.ct"]) * x))


def ckks_ct(w: World) -> None:
    use_ckks(w, loaded(w, ckks.Ciphertext, context=w.good.ckks))


def use_ckks(w: World, x: Any) -> None:
    """Compute with a ciphertext."""
    saved(w, x)
    _ = (x.explain(), x.magnitude, x.error_bound, x.range, x.period)
    repr(x)
    attempt(lambda: w.good.ckks.decrypt(x, w.good.ckks_keys.secret))
    attempt(lambda: w.good.ckks.decrypt_for_release(x, w.good.ckks_keys.secret, bits=2))
    compute(w, w.good.evaluator, x)


def ckks_list(w: World) -> None:
    found = w.good.ckks.load(w.path)
    for x in found if isinstance(found, list) else [found]:
        use_ckks(w, x)


def ckks_table(w: World) -> None:
    table = loaded(w, programs.EncryptedTable, context=w.good.ckks)
    saved(w, table)
    attempt(lambda: programs.decrypt_table(table, w.good.ckks_keys.secret))
    for name in ("sum", "variance", "covariance", "linear", "logistic", "polynomial", "inner-product"):
        program = programs.Program.from_json(name, json.dumps(MODELS[name]) if name in MODELS else None)
        attempt(run_program, w, program, table)


def run_program(w: World, program: programs.Program, table: programs.EncryptedTable) -> None:
    programs.decrypt_table(program.run(w.good.evaluator, table), w.good.ckks_keys.secret)


def int_params(w: World) -> None:
    params = bfv.Parameters.from_bytes(w.data)
    bytes(params)
    if params.n <= LARGEST:
        for module in (bfv, bgv):
            attempt(square, module.Context(params, threads=1))


def square(ctx: Any) -> None:
    """Use parameters: keys, a product, and its decryption."""
    keys = ctx.keygen(seed=bytes(32))
    x = ctx.evaluator(keys.evaluation).bind(ctx.encrypt([1, 0], keys.public))
    ctx.decrypt(x * x, keys.secret)


def int_secret(w: World) -> None:
    key = loaded(w, bfv.SecretKey, min_security=0)
    saved(w, key)
    for ctx, name in ((w.good.bfv, "bfv.ct"), (w.good.bgv, "bgv.ct")):
        attempt(ctx.decrypt, w.good.objects[name], key)
        attempt(ctx.encrypt, [1], key)


def int_public(w: World) -> None:
    key = loaded(w, bfv.PublicKey, min_security=0)
    saved(w, key)
    for ctx in (w.good.bfv, w.good.bgv):
        attempt(decrypted, partial(ctx.encrypt, [1], key), ctx, w.good.integer_keys.secret)


def mapped(cls: Any, name: str) -> Callable[[World], None]:
    """Evaluation keys that are mapped unread: used, in place of the good ones, and kept."""

    def run(w: World) -> None:
        keys = cls.load(w.path, check=False, min_security=0)
        _ = (keys.owner, keys.nbytes, repr(keys), len(keys))
        x = w.good.objects[name]
        attempt(lambda: x.context.evaluator(keys).mul(x, x))
        attempt(lambda: keys.save(w.output(SAVED), expanded=True))

    return run


def int_eval(w: World) -> None:
    keys = loaded(w, bfv.EvaluationKeys, min_security=0)
    saved(w, keys)
    for ctx, name in ((w.good.bfv, "bfv.ct"), (w.good.bgv, "bgv.ct")):
        attempt(integers_with, w, ctx, keys, w.good.objects[name])


def integers_with(w: World, ctx: Any, keys: Any, x: Any) -> None:
    use_integers(w, ctx, ctx.evaluator(keys), x)


def use_integers(w: World, ctx: Any, ev: Any, x: Any) -> None:
    """Compute with a ciphertext."""
    saved(w, x)
    _ = (x.noise_budget, repr(x))
    x = ev.bind(x)
    for work in (lambda: x, lambda: x * x, lambda: ev.rotate(x, 1), lambda: x + 1, lambda: x * 3):
        attempt(decrypted, work, ctx, w.good.integer_keys.secret)


def integer_ct(scheme: str) -> Callable[[World], None]:
    def run(w: World) -> None:
        module, ctx = (bfv, w.good.bfv) if scheme == "bfv" else (bgv, w.good.bgv)
        x = loaded(w, module.Ciphertext, context=ctx)
        use_integers(w, ctx, ctx.evaluator(w.good.integer_keys.evaluation), x)
        if scheme == "bfv":
            attempt(lambda: saved(w, w.good.bgv.convert(x)))

    return run


def slot_matrix(w: World) -> None:
    matrix = loaded(w, bgv.SlotMatrix, context=w.good.slots)
    saved(w, matrix)
    slot_product(w, matrix, w.good.objects["slots.ct"])


def slot_ct(w: World) -> None:
    x = loaded(w, bgv.Ciphertext, context=w.good.slots)
    saved(w, x)
    slot_product(w, w.good.objects["slots.matrix"], x)


def slot_product(w: World, matrix: Any, x: Any) -> None:
    """Multiply a matrix with a vector."""
    ctx, keys = w.good.slots, w.good.slot_keys
    _ = (matrix.shape, matrix.factors, repr(matrix), repr(x))
    for work in (lambda: x, lambda: ctx.evaluator(keys.evaluation).matvec(matrix, x)):
        attempt(decrypted, work, ctx, keys.secret)


def integer_list(scheme: str) -> Callable[[World], None]:
    def run(w: World) -> None:
        ctx = w.good.bfv if scheme == "bfv" else w.good.bgv
        found = ctx.load(w.path)
        for x in found if isinstance(found, list) else [found]:
            use_integers(w, ctx, ctx.evaluator(w.good.integer_keys.evaluation), x)

    return run


def lookup_keys(w: World) -> None:
    keys = loaded(w, bfv.LookupKeys, min_security=0)
    saved(w, keys)
    ev = w.good.bfv.evaluator(w.good.integer_keys.evaluation)
    for name in ("lookup.matrix", "lookup.line"):
        attempt(look_up, w, w.good.objects[name], ev, keys)
    attempt(lambda: keys.context.evaluator(keys.evaluation))


def look_up(w: World, prepared: Any, ev: Any, keys: Any) -> None:
    x, y = w.good.queries
    w.good.bfv.decrypt(prepared(ev, x, y, keys=keys), w.good.integer_keys.secret)


def prepared(check: bool) -> Callable[[World], None]:
    def run(w: World) -> None:
        found = bfv.PreparedLookup.load(w.good.bfv, w.path, check=check)
        _ = (found.line, found.nbytes, found.plan)
        ev = w.good.bfv.evaluator(w.good.integer_keys.evaluation)
        attempt(lambda: look_up(w, found, ev, w.good.objects["lookup.keys"]))
        attempt(lambda: found.save(w.output(SAVED)))

    return run


def boot_keys(w: World) -> None:
    keys = loaded(w, bootstrapping.BootstrapKeys, min_security=0)
    use_boot(w, keys)


def use_boot(w: World, keys: Any) -> None:
    attempt(lambda: keys.save(w.output(SAVED)))
    bootstrapper = bootstrapping.Bootstrapper(keys)
    w.good.boot.decrypt(bootstrapper.bootstrap(w.good.objects["boot.ct"]), w.good.boot_secret)


def boot_switch(w: World) -> None:
    keys = loaded(w, switching.SwitchingKeys, min_security=0)
    saved(w, keys)
    _ = (repr(keys), keys.nbytes, keys.parameters.law(), keys.context)
    switch = switching.Switch(bootstrapper(w.good), w.good.switch_tfhe.server, keys)
    samples = switch.down(w.good.objects["boot.ct"].with_range(-1, 1), 0.25)
    w.good.boot.decrypt(switch.up(switch.signs(samples), bits=True), w.good.boot_secret)


def boot_ct(w: World) -> None:
    x = loaded(w, ckks.Ciphertext, context=w.good.boot)
    saved(w, x)
    attempt(lambda: w.good.boot.decrypt(x, w.good.boot_secret))
    w.good.boot.decrypt(bootstrapper(w.good).bootstrap(x), w.good.boot_secret)


def bootstrapper(good: Samples) -> Any:
    """Return the bootstrapper of the good keys, made once."""
    if "bootstrapper" not in good.objects:
        good.objects["bootstrapper"] = bootstrapping.Bootstrapper(good.objects["boot.keys"])
    return good.objects["bootstrapper"]


def text_model(w: World) -> None:
    name = w.name.removeprefix("model.")
    text = w.data.decode()
    program = programs.Program.from_json(name, text)
    program.plan(4, 3, slots=16, column_names=list("abc"))


def table_rule(w: World) -> None:
    prepared = bfv.Lookup(w.path).prepare(w.good.bfv)
    attempt(lambda: prepared.save(w.output(SAVED)))


def locked_secret(w: World) -> None:
    key = ckks.SecretKey.load(w.path, passphrase=PASSPHRASE, min_security=0)
    saved(w, key)
    attempt(w.good.ckks.decrypt, w.good.objects["ckks.ct"], key)


def signed(changed: str) -> Callable[[World], Any]:
    """Return the verification of a file with its signature, one of which is the changed file."""

    def run(w: World) -> None:
        signature = f"{SIGNED}.minisig"
        with tempfile.TemporaryDirectory() as folder:
            files = {name: w.good.files[name] for name in (SIGNED, signature)}
            files[changed] = w.data
            for name, data in files.items():
                (Path(folder) / name).write_bytes(data)
            verify(Path(folder) / SIGNED, w.good.objects["signer.pub"])
        # The first line of a signature is a comment that nobody signs, and white space does not matter.
        parts = [data.partition(b"\n")[2].split() for data in (w.data, w.good.files[changed])]
        if w.data != w.good.files[changed] and (changed == SIGNED or parts[0] != parts[1]):
            raise Finding("signature", f"a changed {changed} was verified")

    return run


def signer(w: World) -> None:
    attempt(verify, w.good.path(SIGNED), Signer.load(w.path))


def signing_key(w: World) -> None:
    key = SigningKey.load(w.path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SIGNED
        path.write_bytes(w.good.files[SIGNED])
        sign(path, key)
        verify(path, key.signer)


def run_tool(command: str) -> Callable[[World], Any]:
    """Return the run of a verb of the tool: `{}` is the changed file, `@name` a good one, `>.ct` an output."""

    def run(w: World) -> Any:
        given: list[str | Path] = []
        for argument in command.split():
            if argument.startswith("@"):
                given.append(w.good.path(argument[1:]))
            elif argument.startswith(">"):
                given.append(w.output(argument[1:]))
            else:
                given.append(argument.replace("{}", str(w.path)))
        return tool(*given)

    return run


def add_keys(role: str, takes: tuple[str, ...]) -> Callable[[World], Any]:
    """Add keys to those of a directory, in which one file is the changed one."""

    def run(w: World) -> Any:
        folder = w.output(".dir")
        folder.mkdir()
        kind = (w.name if w.name in takes else takes[0]).split(".")[0]
        files = {"secret.key": f"{kind}.secret", "eval.keys": f"{kind}.eval", "bootstrap.keys": f"{kind}.keys"}
        for name, good in files.items():
            if good in w.good.files:
                shutil.copy(w.path if name == role else w.good.path(good), folder / name)
        if role == "bootstrap.keys":
            (folder / "eval.keys").unlink(missing_ok=True)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        try:
            return tool("keygen", "--add", "--out", folder, "--rotations", "3")
        except Error:
            after = {path.name: path.read_bytes() for path in folder.iterdir()}
            if before == after:
                shutil.rmtree(folder)
            raise

    return run


def compiled(w: World) -> None:
    """A compiled function: explained, simulated, and run with the keys of the good one."""
    made = compiler.Compiled.load(w.path, min_security=0)
    saved(w, made)
    attempt(lambda: str(made.explain()))
    attempt(lambda: made.simulate(np.zeros(2), seed=bytes(32)))
    keys, request = w.good.objects.get(f"{w.name}.keys"), w.good.files.get(w.name.replace("program", "request"))
    if keys is not None and request is not None:
        attempt(lambda: made.server.run(request, keys))


def message(w: World) -> None:
    """A message between the halves of a compiled function: what the server takes, and what the client takes."""
    scheme = w.name.split(".")[0] if w.name in MESSAGES else "ckks"
    good = w.good.objects[f"{scheme}.program"]
    keys = w.good.objects[f"{scheme}.program.keys"]
    if w.name.endswith("request"):
        attempt(lambda: good.client.decrypt(w.data, bound=True))
        good.server.run(w.data, keys)
    else:
        attempt(lambda: good.server.run(w.data, keys))
        good.client.decrypt(w.data, bound=True)


def description(w: World) -> None:
    """A description of a table of another: keys are made for it, and a request."""
    made = retrieval.Client if w.name.startswith("rows") else intersection.Client
    client: Any = made(w.data, min_security=0)
    client.keygen(seed=bytes(32))
    client.encrypt(ASKED, seed=bytes(32))


def exchange(w: World) -> None:
    """A message between the client and the holder of the rows."""
    kind = w.name.split(".")[0] if w.name in EXCHANGES else "rows"
    database, client, keys = w.good.objects[f"{kind}.halves"]
    if w.name.endswith("request"):
        attempt(lambda: client.decrypt(w.data, ASKED))
        database.answer(w.data, keys)
    else:
        attempt(lambda: database.answer(w.data, keys))
        client.decrypt(w.data, ASKED)


def machine(w: World) -> None:
    advice = advisor.advise("compare", integer=4, machine=w.path, threads=1)
    str(advice)


ARRAYS = ("tfhe.fresh", "tfhe.result", "tfhe.digits", "tfhe.table", "bool.fresh", "bool.result", "light.fresh")
BARE = (
    *("ckks.secret.bare", "ckks.public.bare", "ckks.eval.bare", "boot.secret.bare"),
    *("int.secret.bare", "int.public.bare", "int.eval.bare"),
    *reencryption_readers.BARE,
)
PROGRAMS = tuple(f"{scheme}.program" for scheme in COMPILED)
MESSAGES = tuple(f"{scheme}.{way}" for scheme in COMPILED if scheme != "tfhe" for way in ("request", "reply"))
DESCRIPTIONS = ("rows.description", "shared.description")
EXCHANGES = ("rows.request", "rows.reply", "shared.request", "shared.reply")
CONTAINERS = (
    *BARE,
    *PROGRAMS,
    *MESSAGES,
    *DESCRIPTIONS,
    *EXCHANGES,
    *joint_readers.NAMES,
    *reencryption_readers.NAMES,
    *("ckks.params", "ckks.secret", "ckks.public", "ckks.eval", "ckks.plain", "ckks.list", "ckks.table", *CKKS),
    *("int.params", "int.secret", "int.public", "int.eval", "int.table", "lookup.keys", "lookup.matrix", "lookup.line"),
    *("ckks.mapped", "int.mapped", "lookup.mapped", "ckks.successor"),
    *("slots.params", "slots.matrix", "slots.prepared", "slots.ct"),
    *("bfv.ct", "bfv.seeded", "bfv.list", "bgv.ct", "bgv.seeded", "bgv.list", "tfhe.params", "tfhe.secret"),
    *("tfhe.server", "tfhe.circuit", "tfhe.mapped", "bool.params", "bool.secret", "bool.server", "bool.mapped"),
    *("light.params", "light.secret", "light.server", *ARRAYS),
    *("boot.secret", "boot.keys", "boot.ct", "boot.table", "boot.mapped", "boot.switch"),
)
PARAMS = ("ckks.params", "int.params", "slots.params")
WHOLE, TABLES = ("pairs.csv", "pairs.npy"), ("table.csv", "table.npy", "pairs.csv", "pairs.npy")
MODEL_NAMES = tuple(f"model.{name}" for name in MODELS)

PYTHON: list[Reader] = [
    Reader("ckks.Parameters", ("ckks.params",), ckks_params),
    Reader("ckks.SecretKey", ("ckks.secret", "ckks.successor", "boot.secret"), ckks_secret),
    Reader("ckks.PublicKey", ("ckks.public",), ckks_public),
    Reader("ckks.EvaluationKeys", ("ckks.eval", "ckks.mapped"), ckks_eval),
    Reader("ckks.EvaluationKeys, check=False", ("ckks.mapped",), mapped(ckks.EvaluationKeys, "ckks.ct"), checks=False),
    Reader("pickles of keys", BARE, bare),
    Reader("ckks.Plaintext", ("ckks.plain",), ckks_plain),
    Reader("ckks.Ciphertext", CKKS, ckks_ct),
    Reader("ckks.Context.load", (*CKKS, "ckks.list"), ckks_list),
    Reader("programs.EncryptedTable", ("ckks.table",), ckks_table),
    Reader("bfv.Parameters", ("int.params", "slots.params"), int_params),
    Reader("bgv.SlotMatrix", ("slots.matrix", "slots.prepared"), slot_matrix),
    Reader("bgv.Ciphertext in slots", ("slots.ct",), slot_ct),
    Reader("bfv.SecretKey", ("int.secret",), int_secret),
    Reader("bfv.PublicKey", ("int.public",), int_public),
    Reader("bfv.EvaluationKeys", ("int.eval", "int.mapped"), int_eval),
    Reader("bfv.EvaluationKeys, check=False", ("int.mapped",), mapped(bfv.EvaluationKeys, "bfv.ct"), checks=False),
    Reader("bfv.Ciphertext", ("bfv.ct", "bfv.seeded"), integer_ct("bfv")),
    Reader("bgv.Ciphertext", ("bgv.ct", "bgv.seeded"), integer_ct("bgv")),
    Reader("bfv.Context.load", ("bfv.ct", "bfv.list"), integer_list("bfv")),
    Reader("bgv.Context.load", ("bgv.ct", "bgv.list"), integer_list("bgv")),
    Reader("bfv.LookupKeys", ("lookup.keys", "lookup.mapped"), lookup_keys),
    Reader("bfv.PreparedLookup", ("lookup.matrix", "lookup.line"), prepared(check=True)),
    Reader("bfv.PreparedLookup, check=False", ("lookup.matrix", "lookup.line"), prepared(check=False), checks=False),
    Reader("bfv.Lookup", ("function.npy",), table_rule),
    Reader("tfhe.Parameters", ("tfhe.params", "bool.params", "light.params"), tfhe_params),
    Reader("tfhe.SecretKey", ("tfhe.secret", "bool.secret", "light.secret"), tfhe_secret),
    Reader("tfhe.ServerKeys", ("tfhe.server", "bool.server"), tfhe_server(tfhe.ServerKeys)),
    Reader("tfhe.LightKeys", ("light.server",), tfhe_server(tfhe.LightKeys)),
    Reader("tfhe.CircuitKeys", ("tfhe.circuit",), tfhe_circuit),
    Reader("tfhe.ExpandedServerKeys", ("tfhe.mapped", "bool.mapped"), tfhe_mapped(check=True)),
    Reader("tfhe.ExpandedServerKeys, check=False", ("tfhe.mapped",), tfhe_mapped(check=False), checks=False),
    Reader("tfhe.EncryptedArray", tuple(name for name in ARRAYS if name != "tfhe.table"), tfhe_array),
    Reader("bootstrapping.BootstrapKeys", ("boot.keys", "boot.mapped"), boot_keys),
    Reader("switching.SwitchingKeys", ("boot.switch",), boot_switch),
    Reader("bootstrap of a ciphertext", ("boot.ct",), boot_ct),
    Reader("programs.Program", MODEL_NAMES, text_model),
    Reader("compiler.Compiled", PROGRAMS, compiled),
    Reader("messages of compiler.Compiled", MESSAGES, message),
    Reader("retrieval.Client and intersection.Client", DESCRIPTIONS, description),
    Reader("messages of retrieval and intersection", EXCHANGES, exchange),
    *joint_readers.READERS,
    *reencryption_readers.READERS,
    Reader("advisor.advise with a machine", ("machine.json",), machine, checks=False),
    Reader("ckks.SecretKey under a passphrase", ("ckks.locked",), locked_secret, checks=False),
    Reader("noren.verify of a signature", (f"{SIGNED}.minisig",), signed(f"{SIGNED}.minisig"), checks=False),
    Reader("noren.verify of a file", (SIGNED,), signed(SIGNED)),
    Reader("noren.Signer", ("signer.pub",), signer, checks=False),
    Reader("noren.SigningKey", ("signing.key",), signing_key, checks=False),
]

# A command: `{}` is the changed file, `@name` a good one, `>.ct` an output that ends so.
COMMANDS: list[tuple[tuple[str, ...], str]] = [
    (CONTAINERS, "inspect {} --json"),
    (PARAMS, "params show {}"),
    (PARAMS, "params check {} --security none -o >.params"),
    (("int.params",), "plan --lookup 8,5 --params {}"),
    (("ckks.params",), "keygen --program sum --rows 4 --columns 3 --params {} --out >.d"),
    (("int.params", "slots.params"), "keygen --integers {} --out >.d"),
    (("slots.params",), "keygen --integers {} --matrices --out >.d"),
    (("int.params",), "keygen --lookup 8,5 --params {} --out >.d"),
    (("int.params",), "prepare --function gcd --domain 8,5 --params {} -o >.f"),
    (("function.npy", "grid.csv"), "prepare --table {} --params @int.params -o >.f"),
    (("ckks.public", "ckks.secret"), "encrypt --key {} @table.csv -o >.ct"),
    (("int.public", "int.secret"), "encrypt --key {} @pairs.csv --domain 8,5 -o >.ct"),
    (("tfhe.secret",), "encrypt --key {} @pairs.csv --type uint8 -o >.ct"),
    (TABLES, "encrypt --key @ckks.public {} -o >.ct"),
    (WHOLE, "encrypt --key @int.public {} -o >.ct"),
    (WHOLE, "encrypt --key @tfhe.secret --type int64 {} -o >.ct"),
    (("bounds.json",), "encrypt --key @ckks.public --bounds {} @table.csv -o >.ct"),
    (("ckks.eval", "ckks.mapped"), "eval sum --keys {} @ckks.table -o >.ct"),
    (("ckks.table",), "eval variance --keys @ckks.eval {} -o >.ct"),
    *(((f"model.{name}",), f"eval {name} --keys @ckks.eval --model {{}} @ckks.table -o >.ct") for name in MODELS),
    (("lookup.keys", "lookup.mapped"), "eval lookup --keys {} --function @lookup.matrix @int.table -o >.ct"),
    (("lookup.matrix", "lookup.line"), "eval lookup --keys @lookup.keys --function {} @int.table -o >.ct"),
    (("int.table",), "eval lookup --keys @lookup.keys --function @lookup.matrix {} -o >.ct"),
    (("boot.keys", "boot.mapped"), "eval bootstrap --keys {} @boot.table -o >.ct"),
    (("boot.table",), "eval bootstrap --keys @boot.mapped {} -o >.ct"),
    (("tfhe.server", "tfhe.mapped"), "eval xor --keys {} @tfhe.table -o >.ct"),
    (("tfhe.table", "tfhe.result"), "eval not-equal --number 3 --keys @tfhe.server {} -o >.ct"),
    (
        ("tfhe.circuit",),
        "eval lookup --circuit {} --keys @tfhe.mapped --function @function.csv --columns x @tfhe.table -o >.ct",
    ),
    (
        ("function.csv",),
        "eval lookup --circuit @tfhe.circuit --keys @tfhe.mapped --function {} --columns x @tfhe.table -o >.ct",
    ),
    (
        ("tfhe.server", "bool.server", "boot.keys", "ckks.eval", "int.eval", "lookup.keys"),
        "expand {} -o >.mapped",
    ),
    (("ckks.table",), "decrypt --key @ckks.secret {} -o >.csv"),
    (("ckks.table",), "decrypt --key @ckks.secret --unchecked {} -o >.npy"),
    (("ckks.table",), "decrypt --key @ckks.secret --release 2 {} -o >.csv"),
    (("int.table",), "decrypt --key @int.secret {} -o >.csv"),
    (("tfhe.table", "tfhe.result", "tfhe.fresh"), "decrypt --key @tfhe.secret {} -o >.csv"),
    *reencryption_readers.COMMANDS,
    (("machine.json",), "advise inner-product --count 4 --real 10 --machine {}"),
    (("ckks.secret",), "decrypt --key {} @ckks.table -o >.csv"),
    (("int.secret",), "decrypt --key {} @int.table -o >.csv"),
    (("tfhe.secret",), "decrypt --key {} @tfhe.table -o >.csv"),
]
TOOL = [Reader(f"noren {command}", takes, run_tool(command)) for takes, command in COMMANDS]
# Of a key only the parameters are read, and compared with their fingerprint.
OF_KEYS = Reader(
    "noren prepare --params KEY",
    ("int.public", "int.secret", "int.eval", "int.mapped", "lookup.keys", "lookup.mapped"),
    run_tool("prepare --function gcd --domain 8,5 --params {} -o >.f"),
    checks=False,
)
ADDED = {
    "secret.key": ("ckks.secret", "boot.secret", "int.secret"),
    "eval.keys": ("ckks.eval", "ckks.mapped", "int.eval", "int.mapped"),
    "bootstrap.keys": ("boot.keys",),
}
ADD = [Reader(f"noren keygen --add, {role}", takes, add_keys(role, takes)) for role, takes in ADDED.items()]

READERS = [*PYTHON, *TOOL, OF_KEYS, *ADD]
