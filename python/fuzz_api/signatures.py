"""`--signer` of every verb of the tool: one input unsigned, changed, or exchanged for another file.

A case takes a command of `readers.COMMANDS`, puts its files into a directory, signs those that must be signed, and
exchanges one of them. The tool must refuse, and write nothing; without the exchange it does what it does without
signatures.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from fuzz_api.container import is_container
from fuzz_api.draw import Rng, one_of
from fuzz_api.program import Call, Verb
from fuzz_api.readers import COMMANDS
from fuzz_api.samples import OWNERS, Samples, samples
from fuzz_api.tool import tool
from fuzz_api.verdict import REFUSE, Finding
from noren import Error, SigningKey, sign, verify

COMPARED = [
    (takes, command)
    for takes, command in COMMANDS
    if command.split()[0] in ("inspect", "params", "plan", "keygen", "prepare", "encrypt", "eval", "expand", "decrypt")
]


def signed_inputs(words: list[str], good: Samples) -> list[str]:
    """Return the files of a command that must be signed: all of noren, but for the secret key of decrypt."""
    names = [word.removeprefix("@") for word in words if word.startswith("@")]
    own = words[words.index("--key") + 1].removeprefix("@") if words[0] == "decrypt" else ""
    return [name for name in names if is_container(good.files[name]) and name != own]


class World:
    """A command, its files in a directory, and the one that is exchanged."""

    def __init__(self, rng: Rng) -> None:
        self.pessimism, self.good = 0, samples(0)
        while True:
            takes, command = COMPARED[int(rng.integers(len(COMPARED)))]
            name = takes[int(rng.integers(len(takes)))]
            self.words = command.replace("{}", f"@{name}").split()
            if inputs := signed_inputs(self.words, self.good):
                break
        self.signed = inputs
        self.target = inputs[int(rng.integers(len(inputs)))]
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder, self.outputs = Path(self._folder.name) / "in", Path(self._folder.name) / "out"
        self.folder.mkdir()
        self.outputs.mkdir()
        self.key, self.stranger = SigningKey.generate(), SigningKey.generate()
        self.key.signer.save(self.folder / "signer.pub")
        for word in self.words:
            if word.startswith("@"):
                (self.folder / word[1:]).write_bytes(self.good.files[word[1:]])
        for name in self.signed:
            sign(self.folder / name, self.key, force=True)
        self.text = [f"# noren {command}, {self.target} exchanged"]
        self.about = [f"command {self.words[0]}", f"file {self.target}"]

    def run(self, *options: str, signed: bool = True) -> str:
        """Run the command, with the signer or without."""
        for path in self.outputs.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        given: list[str | Path] = []
        for count, word in enumerate(self.words):
            if word.startswith("@"):
                given.append(self.folder / word[1:])
            elif word.startswith(">"):
                given.append(self.outputs / f"{count}{word[1:]}")
            else:
                given.append(word)
        return tool(*given, *(("--signer", self.folder / "signer.pub") if signed else ()), *options)

    def verify(self, value: Any, truth: Any, kind: str) -> float:
        raise AssertionError("a run is no item")


def signature(w: World) -> Path:
    return w.folder / f"{w.target}.minisig"


def unsigned(w: World, rng: Rng) -> tuple[str, ...]:
    signature(w).unlink(missing_ok=True)
    return ()


def flipped(w: World, rng: Rng) -> tuple[str, ...]:
    data = bytearray((w.folder / w.target).read_bytes())
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    (w.folder / w.target).write_bytes(data)
    return ()


def strange(w: World, rng: Rng) -> tuple[str, ...]:
    sign(w.folder / w.target, w.stranger, force=True)
    return ()


def another(w: World, rng: Rng) -> str:
    """Return the name of another file of noren with other bytes, secret keys among them."""
    own = w.good.files[w.target]
    names = [name for name, data in w.good.files.items() if is_container(data) and data != own]
    return names[int(rng.integers(len(names)))]


def replaced(w: World, rng: Rng) -> tuple[str, ...]:
    """Another file: with its own signature, with that of the old one, or with none."""
    name = another(w, rng)
    (w.folder / w.target).write_bytes(w.good.files[name])
    match one_of(rng, "its own", "the old one", "none"):
        case "its own":
            copies = w.folder / "copies"
            copies.mkdir(exist_ok=True)
            (copies / name).write_bytes(w.good.files[name])
            signature(w).write_bytes(sign(copies / name, w.key).read_bytes())
        case "none":
            signature(w).unlink(missing_ok=True)
    return ()


def reworded(w: World, rng: Rng) -> tuple[str, ...]:
    """What the signer says of the file, changed."""
    text = signature(w).read_text()
    words = text.split("\t")
    at = int(rng.integers(1, len(words)))
    words[at] = one_of(rng, "kind:CKKS ciphertext", "owner:none", f"owner:{'0' * 32}", "file:other", "hashed\thashed")
    tail = text.rsplit("\n", 2)[1]
    signature(w).write_text("\t".join(words) if at < len(words) - 1 else "\t".join(words) + f"\n{tail}\n")
    return () if signature(w).read_text() != text else unsigned(w, rng)


def foreign(w: World, rng: Rng) -> tuple[str, ...]:
    """The same file of another owner, signed under the same name: told apart by `--owner`."""
    comment = verify(w.folder / w.target, w.key.signer)
    owner = comment.rsplit("\towner:", 1)[1]
    if owner == "none":
        return unsigned(w, rng)
    (w.folder / w.target).write_bytes(samples(int(rng.integers(1, OWNERS))).files[w.target])
    sign(w.folder / w.target, w.key, force=True)
    return ("--owner", owner)


EXCHANGES = (unsigned, flipped, strange, replaced, replaced, reworded, foreign)


def exchanged(w: World, rng: Rng) -> Call:
    exchange = EXCHANGES[int(rng.integers(len(EXCHANGES)))]
    options = exchange(w, rng)

    def run() -> Any:
        try:
            return w.run(*options)
        except Error:
            if left := [path.name for path in w.outputs.iterdir()]:
                raise Finding("wrong", f"refused, and wrote {left}") from None
            raise

    return Call(f"{exchange.__name__}({w.target!r})", run, REFUSE)


def untouched(w: World, rng: Rng) -> Call:
    """No exchange: the verb does what it does without signatures."""

    def run() -> bool:
        w.run(signed=False)
        try:
            w.run()
        except Error as error:
            raise Finding("refused", f"{w.words} with all its signatures: {error}") from None
        return True

    return Call("untouched", run, True, check=lambda found, truth: 0.0, keep=False)


VERBS = [Verb("untouched", untouched, disturbed=False), Verb("exchanged", exchanged, mistake=True, disturbed=False)]
