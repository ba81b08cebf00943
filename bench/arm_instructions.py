"""Count the instructions of a client's work on AArch64 and x86-64, emulated, beside the models of devices.

    python bench/arm_instructions.py [--workload product-100 --workload inner-product-100]
    python bench/arm_instructions.py --kernels

Builds the example client_work for both, runs it under QEMU with a plugin that counts (bench/emulation/count.c), and
prints a table. Counts are exact and repeat; nothing here is a time. A step's count is that of a run which does the step
once more. The second form counts kernels on AArch64, by the example kernel_work: the difference of runs with many calls
and with one. Needs `rustup target add aarch64-unknown-linux-gnu`, and Debian's gcc-aarch64-linux-gnu and qemu-user.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from libraries import ROOT
from records import table

ARM, X86 = "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"
EMULATORS = {ARM: ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], X86: ["qemu-x86_64"]}
LINKERS = {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc"}
PLUGIN = ROOT / "bench" / "emulation" / "count.c"
STEPS = ["keys", "encrypt", "decrypt"]
# What is counted: the processor, and noren's table of kernels.
VARIANTS = {"Arm, portable": (ARM, "portable"), "Arm, NEON": (ARM, "neon"), "x86-64, portable": (X86, "portable")}
# How many calls of a kernel are counted.
CALLS = 32
# Clocks in Hz of the devices that are modelled, as their descriptions say.
CLOCKS = {"phone": 2.4e9, "pi4": 1.5e9, "pi-zero": 1.0e9}


def output(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program; end with what it says where it fails."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | variables, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}: {result.stderr[-2000:]}")
    return result


def built(target: str, package: str, example: str) -> str:
    """Build an example for a processor, and return its path."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    is_host = f"host: {target}" in output(["rustc", "--version", "--verbose"]).stdout.splitlines()
    options = ["--release", "--package", package, "--example", example]
    output(["cargo", "build", *options, *([] if is_host else ["--target", target])], **LINKERS)
    return str((folder if is_host else folder / target) / "release" / "examples" / example)


def instructions(text: str) -> int:
    """Return the number that the plugin prints last."""
    counts = [line.split()[1] for line in text.splitlines() if line.startswith("instructions ")]
    if not counts:
        raise ValueError(f"the plugin printed no count: {text[-500:]!r}")
    return int(counts[-1])


def counted(plugin: str, program: str, target: str, isa: str, arguments: list[str]) -> int:
    """Return the instructions of a whole run."""
    command = [*EMULATORS[target], "-plugin", plugin, program, *arguments]
    return instructions(output(command, NOREN_ISA=isa).stderr)


def predicted(program: str, workload: list[str]) -> dict[str, list[float]]:
    """Return the seconds of each step on each device, by the models."""
    lines = output([program, *workload, "devices"]).stdout.splitlines()
    return {name: [float(time) for time in times] for name, *times in map(str.split, lines)}


def rows(counts: dict[str, list[int]], times: dict[str, list[float]]) -> list[list[str]]:
    """Return the cells of each step: counts in millions, their ratio, and instructions per cycle on each device."""
    arm, neon, x86 = (counts[name] for name in VARIANTS)
    found = []
    for i, step in enumerate(STEPS):
        cells = [step, *(f"{each[i] / 1e6:.2f}" for each in (arm, neon, x86)), f"{arm[i] / x86[i]:.2f}"]
        found.append([*cells, *(f"{arm[i] / times[name][i] / clock:.2f}" for name, clock in CLOCKS.items())])
    return found


def kernel_row(name: str, unit: str, portable: float, neon: float) -> list[str]:
    """Return the cells of a kernel: its counts for one unit, and their ratio."""
    digits = 2 if portable < 1000 else 0
    return [name, unit, f"{portable:.{digits}f}", f"{neon:.{digits}f}", f"{neon / portable:.2f}"]


def kernels(plugin: str) -> str:
    """Return the table of kernels on AArch64."""
    program = built(ARM, "noren-math", "kernel_work")
    found = []
    for line in output([*EMULATORS[ARM], program, "list"]).stdout.splitlines():
        name, unit, units = line.split()
        counts = []
        for isa in ["portable", "neon"]:
            first, last = (counted(plugin, program, ARM, isa, [name, str(calls)]) for calls in (1, 1 + CALLS))
            counts.append((last - first) / (CALLS * int(units)))
        found.append(kernel_row(name, unit, *counts))
    return table(["kernel", "instructions of a", "portable", "NEON", "NEON / portable"], found)


def main() -> None:
    """Count, and print a table for each workload."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--workload", action="append", help="NAME-COUNT [default: product-100, inner-product-100]")
    parser.add_argument("--kernels", action="store_true", help="count kernels instead")
    arguments = parser.parse_args()
    workloads = arguments.workload or ["product-100", "inner-product-100"]
    with tempfile.TemporaryDirectory() as folder:
        plugin = str(Path(folder) / "count.so")
        output(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-o", plugin, str(PLUGIN)])
        if arguments.kernels:
            print(kernels(plugin))
            return
        programs = {target: built(target, "noren", "client_work") for target in EMULATORS}
        for name in workloads:
            workload = list(name.rsplit("-", 1))
            counts = {}
            for variant, (target, isa) in VARIANTS.items():
                run = (plugin, programs[target], target, isa)
                before = counted(*run, [*workload, "run", "keys", "0"])
                counts[variant] = [counted(*run, [*workload, "run", step, "1"]) - before for step in STEPS]
            header = ["step", *(f"{variant}, millions" for variant in VARIANTS), "Arm / x86-64, portable"]
            header += [f"a cycle, model of {device}" for device in CLOCKS]
            print(f"{name}:\n\n{table(header, rows(counts, predicted(programs[X86], workload)))}\n")


if __name__ == "__main__":
    main()
