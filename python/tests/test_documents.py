"""Pages that run: every block of code in README.md and docs/, in the order in which a reader meets them.

A block whose info string says `no_run (REASON)` is read, not run; `DO_NOT_RUN` counts them. Of Python, the blocks of a
page are one session. Of the shell, the blocks under one heading are one directory, in which files lie that the page
takes for granted. A block of text that follows a block at once is what that prints, but for its numbers. Blocks of Rust
are examples of the crate `noren` (`crates/noren/src/pages.rs`), which `cargo test --doc` compiles and runs.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren
from noren import _noren

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT)) for folder in (ROOT, ROOT / "docs", ROOT / "bench") for path in folder.glob("*.md")
)
LANGUAGES = {"console", "python", "rust", "sh", "text"}
# How many blocks of each page do not run. Each says why in its info string.
DO_NOT_RUN = {
    "README.md": 2,
    "bench/README.md": 2,
    "bench/suites.md": 1,
    "docs/bootstrapping.md": 1,
    "docs/choosing.md": 1,
    "docs/cli.md": 8,
    "docs/compiler.md": 1,
    "docs/first-hour.md": 1,
    "docs/owners.md": 2,
    "docs/papers.md": 1,
}

# Seconds that a block may take on a busy machine; what takes longer is not for a test.
LONGEST = 300

BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (?P<text>.*)$", re.MULTILINE)
INFO = re.compile(r"(?P<language>[a-z]+)(?: no_run \((?P<reason>[^()]+)\))?")
NUMBER = re.compile(r"[-+]?\d[\d.,_]*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """A block of code in a page."""

    page: str
    line: int
    heading: str
    language: str
    reason: str | None
    text: str
    # The block of text that follows it at once.
    printed: str

    def __str__(self) -> str:
        """Return where it stands."""
        return f"{self.page}:{self.line}"


@cache
def blocks(page: str) -> list[Block]:
    """Return the blocks of a page."""
    text = (ROOT / page).read_text()
    found: list[Block] = []
    matches = list(BLOCK.finditer(text))
    # What is within a block is no heading.
    outside = BLOCK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    headings = list(HEADING.finditer(outside))
    for place, match in enumerate(matches):
        following = matches[place + 1] if place + 1 < len(matches) else None
        info = INFO.fullmatch(match["info"])
        line = text.count("\n", 0, match.start()) + 1
        assert info, f"{page}:{line}: blocks are LANGUAGE, or LANGUAGE no_run (REASON): {match['info']!r}"
        heading = next((each["text"] for each in reversed(headings) if each.start() < match.start()), "")
        prints = following and following["info"] == "text" and not text[match.end() : following.start()].strip()
        printed = following["body"] if following and prints else ""
        found.append(Block(page, line, heading, info["language"], info["reason"], match["body"], printed))
    return found


def test_blocks_have_a_language_that_is_tested_and_are_closed() -> None:
    for page in PAGES:
        found = blocks(page)
        assert {block.language for block in found} <= LANGUAGES, page
        fences = re.findall(r"^ *(?:```|~~~)", (ROOT / page).read_text(), re.MULTILINE)
        assert len(fences) == 2 * len(found), page


def test_blocks_that_do_not_run_are_few_and_counted() -> None:
    counted = Counter(block.page for page in PAGES for block in blocks(page) if block.reason)
    assert dict(counted) == DO_NOT_RUN


def anchors(page: Path) -> set[str]:
    """Return the names by which links find the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES)
def test_links_and_names_of_files_lead_somewhere(page: str) -> None:
    path = ROOT / page
    text = re.sub(r"\s*\n\s*", " ", BLOCK.sub("", path.read_text()))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", link):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link
    for name in re.findall(r"`((?:examples|docs|bench|crates|python|checks|fuzz)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name


def skeleton(text: str) -> list[str]:
    """Return what is printed, line by line, without its numbers and its spaces."""
    return [" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines() if line.strip()]


# What lines say that tell of the machine and of its state.
OF_THE_MACHINE = re.compile(r"(processor|kernels|threads|memory|key files|time)\b.*|belongs to .*|fingerprint .*")


def assert_prints(block: Block, expected: str, found: str) -> None:
    """Check that lines that the page shows were printed, in their order; `...` stands for others."""
    said = iter([OF_THE_MACHINE.sub(r"\1", line) for line in skeleton(found)])
    for line in skeleton(expected):
        if line != "...":
            wanted = OF_THE_MACHINE.sub(r"\1", line).removesuffix(" ...").removesuffix("...}")
            assert any(each.startswith(wanted) for each in said), f"{block} shows {line!r}, but prints:\n{found}"


def pages_with(*languages: str) -> list[str]:
    """Return the pages that have blocks in these languages."""
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs_in_one_session(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [block for block in blocks(page) if block.language == "python"]
    if any("noren.cluster" in block.text for block in found):
        pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    session: dict[str, Any] = {}
    for block in found:
        # Lines are numbered as in the page.
        code = compile("\n" * block.line + block.text, page, "exec")
        # A Python without the package runs the others of the page.
        needed = [name for name in ("onnx", "flwr") if re.search(rf"^(import|from) {name}\b", block.text, re.MULTILINE)]
        missing = any(find_spec(name) is None for name in needed)
        if block.reason is None and not missing:
            capsys.readouterr()
            exec(code, session)
            assert_prints(block, block.printed, capsys.readouterr().out)


def test_rust_of_pages_is_compiled_as_examples_of_the_crate() -> None:
    listed = re.findall(r'"(\S+\.md)"', (ROOT / "crates/noren/src/pages.rs").read_text())
    assert sorted(listed) == pages_with("rust")


def commands(block: Block) -> str:
    """Return what is typed: in a console, the lines that begin with `$`."""
    if block.language == "sh":
        return block.text
    return "".join(line[2:] + "\n" for line in block.text.splitlines() if line.startswith("$ "))


def runs_of_the_tool(block: Block) -> Iterator[list[str]]:
    """Return the arguments of each run of the tool in a block."""
    for line in commands(block).splitlines():
        words = shlex.split(line, comments=True)
        for place, word in enumerate(words):
            if Path(word).name == "noren" and (place == 0 or words[place - 1] in {"&&", "|", ";"}):
                end = next((i for i, each in enumerate(words) if i > place and each in {"&&", "|", ";"}), len(words))
                yield words[place + 1 : end]


@pytest.mark.parametrize("page", pages_with("sh", "console"))
def test_runs_of_the_tool_in_a_page_have_verbs_and_options_that_there_are(
    page: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for block in blocks(page):
        if block.language not in {"sh", "console"}:
            continue
        for arguments in runs_of_the_tool(block):
            verbs = arguments[
                : 2 if arguments[0] in {"function", "intersection", "params", "party", "retrieval"} else 1
            ]
            _noren.run_tool(["noren", *verbs, "--help"], itself=[sys.executable, "-m", "noren"])
            text = capfd.readouterr().out
            assert f"noren {' '.join(verbs)}" in text, f"{block}: noren {' '.join(arguments)}"
            for option in (word for word in arguments if re.match(r"--?[a-z]", word)):
                assert re.search(rf"(^|\s){option}\b", text), f"{block}: {option}"


def data_of_pages(folder: Path) -> None:
    """Write the files in clear that pages take for granted."""
    rng = np.random.default_rng(1)
    names = ["age", "bmi", "bp", *(f"c{i}" for i in range(3, 30))]
    patients = rng.uniform(20, 90, (285, 30)).round(1)
    np.savetxt(folder / "patients.csv", patients, "%.1f", ",", header=",".join(names), comments="")
    (folder / "export.csv").write_text("name;age;bmi\nan;54;24,5\nbo;61;\ncy;47;31,2\n")
    np.save(folder / "measurements.npy", rng.uniform(0, 50, (20, 2)))
    (folder / "bounds.json").write_text("[120, 60]")
    workload = {"computation": {"product": {"count": 100}}, "values": {"real": {"bits": 20.0}}}
    (folder / "workload.json").write_text(json.dumps(workload))
    model = {"weights": [0.02, -0.01, 0.03], "bias": -2.0, "interval": 16, "columns": ["age", "bmi", "bp"]}
    (folder / "risk.json").write_text(json.dumps(model))
    np.savetxt(folder / "readings.csv", [[900, 12], [1100, 3]], "%d", ",", header="flow,level", comments="")
    byte, names_of_bytes = np.arange(256), ",".join(f"y{y}" for y in range(256))
    np.savetxt(folder / "weights.csv", [[54, 3], [61, 200]], "%d", ",", header="weight,class", comments="")
    np.savetxt(folder / "dose.csv", np.add.outer(byte, byte) % 256, "%d", ",", header=names_of_bytes, comments="")
    np.savetxt(folder / "vectors.csv", rng.integers(0, 2, (500, 2)), "%d", ",", header="x,y", comments="")
    np.save(folder / "weights.npy", rng.integers(0, 2, (500, 500)))
    np.save(folder / "arguments.npy", rng.uniform(-1, 1, (100, 3)))
    noren.compile(lambda x: x @ np.array([0.3, -0.2, 0.5]), noren.Input((100, 3), -1.0, 1.0)).save(
        folder / "risk.function"
    )


# What a section takes for granted besides: the commands that came before it, elsewhere.
KEYS = "noren keygen --out keys --program mean,covariance --rows 285 --columns 30\n"
TABLE = """
noren keygen --out keys --program mean,covariance --rows 285 --columns age,bmi,bp
noren encrypt --key keys/public.key patients.csv --columns age,bmi,bp -o patients.ct
"""
MEAN = TABLE + "noren eval mean --keys keys/eval.keys patients.ct -o mean.ct\n"
ROTATION = """
noren keygen --out keys --program mean --rows 285 --columns age,bmi,bp
noren keygen --out new --program mean --rows 285 --columns age,bmi,bp
noren encrypt --key keys/public.key patients.csv --columns age,bmi,bp -o patients.ct
noren rekey --from keys/secret.key --to new/secret.key -o rotation.key
mkdir stored && cp patients.ct stored
"""
GIVEN = {
    ("README.md", "Install"): f"ln -s {ROOT} noren\n",
    ("docs/cli.md", "Keys for what comes later"): KEYS,
    ("docs/cli.md", "`noren passphrase`"): KEYS,
    ("docs/cli.md", "Signed files"): MEAN,
    ("docs/cli.md", "`noren expand`"): KEYS,
    ("docs/cli.md", "`noren encrypt`"): KEYS,
    ("docs/cli.md", "`noren decrypt`"): MEAN,
    ("docs/cli.md", "`noren rekey`"): KEYS + KEYS.replace("keys", "new"),
    ("docs/cli.md", "`noren reencrypt`"): ROTATION,
    ("docs/cli.md", "`noren inspect`"): TABLE,
    # The first advice calibrates.
    ("docs/cli.md", "`noren advise`"): """
noren advise sum --count 2 --real 10 > advice.txt
cp "$XDG_CACHE_HOME/noren/machine.json" server.json
""",
    ("docs/cli.md", "`noren eval`"): """
noren keygen --out keys --program mean,logistic --model risk.json --rows 285 --columns age,bmi,bp
noren encrypt --key keys/public.key patients.csv --columns age,bmi,bp -o patients.ct
""",
}


def sections() -> list[tuple[str, str]]:
    """Return the pages and headings under which the shell is used."""
    used = [
        (page, block.heading)
        for page in pages_with("sh", "console")
        for block in blocks(page)
        if block.language in {"sh", "console"} and block.reason is None
    ]
    return list(dict.fromkeys(used))


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which `noren` is the tool of this interpreter, and a home of its own."""
    home = tmp_path_factory.mktemp("home")
    tool = home / "bin" / "noren"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m noren._tool "$@"\n')
    tool.chmod(0o755)
    cargo = {name: os.environ.get(name, str(Path.home() / path)) for name, path in TOOLCHAIN.items()}
    inherited = {name: value for name, value in os.environ.items() if name != "NOREN_MACHINE"}
    return {
        **inherited,
        **cargo,
        "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "NOREN_PASSPHRASE": "correct horse",
        "NOREN_NEW_PASSPHRASE": "battery staple",
        "CARGO_NET_OFFLINE": "true",
    }


TOOLCHAIN = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}


@pytest.mark.parametrize(("page", "heading"), sections())
def test_shell_of_a_section_runs_in_one_directory(
    page: str, heading: str, tmp_path: Path, shell: dict[str, str]
) -> None:
    found = [block for block in blocks(page) if block.heading == heading and block.language in {"sh", "console"}]
    data_of_pages(tmp_path)

    def run(script: str, where: object) -> str:
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=shell, check=False, timeout=LONGEST
        )
        assert done.returncode == 0, f"{where}: {done.stdout}{done.stderr}"
        return done.stdout

    run(GIVEN.get((page, heading), ""), f"given for {page}, {heading}")
    for block in found:
        if block.reason is not None:
            continue
        if "cargo" in block.text and shutil.which("cargo") is None:
            pytest.skip("there is no cargo")
        printed = run(commands(block), block)
        if block.language == "console":
            assert_prints(block, "".join(line + "\n" for line in block.text.splitlines() if line[:2] != "$ "), printed)
        assert_prints(block, block.printed, printed)
