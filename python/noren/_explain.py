"""What a compiled function does, as a table and as a plot."""

from __future__ import annotations

import os
from html import escape
from math import inf
from pathlib import Path
from typing import Any

from noren._quantities import size, time

_COLUMNS = (
    ("operation", "operation"),
    ("place", "place"),
    ("shape", "shape"),
    ("range", "range"),
    ("level", "levels left"),
    ("ciphertexts", "ciphertexts"),
    ("products", "products"),
    ("plain_products", "plain products"),
    ("rotations", "rotations"),
    ("bootstraps", "bootstraps"),
    ("bound", "error bound"),
)


class Explanation:
    """What a compiled function does, step by step: `print` shows a table, `plot` draws it."""

    def __init__(self, found: dict[str, Any]) -> None:
        """Wrap what the compiler tells."""
        self._found = found

    @property
    def scheme(self) -> str:
        """The scheme."""
        return str(self._found["scheme"])

    @property
    def parameters(self) -> str:
        """The parameters, in words."""
        return str(self._found["parameters"])

    @property
    def price(self) -> dict[str, Any]:
        """The predicted price of one run: seconds of keys, encryption, server and decryption, bytes, memory, parts."""
        return dict(self._found["price"])

    @property
    def machine(self) -> str:
        """The machine that the price is of: this one as it was calibrated, or a reference with the same kernels."""
        return str(self._found["machine"])

    @property
    def others(self) -> list[dict[str, Any]]:
        """The other schemes: name, seconds of the server (None where it does not evaluate the function), refusal."""
        return [dict(other) for other in self._found["others"]]

    @property
    def levels(self) -> int:
        """The levels that inputs have."""
        return int(self._found["levels"])

    @property
    def bootstraps(self) -> int:
        """The bootstraps of all steps, circuit bootstraps of tables among them."""
        return int(self._found["bootstraps"])

    @property
    def ciphertexts(self) -> int:
        """The ciphertexts of all inputs."""
        return int(self._found["ciphertexts"])

    @property
    def slots(self) -> int:
        """The slots of each; 0 where elements are encrypted one by one."""
        return int(self._found["slots"])

    @property
    def rotations(self) -> list[int]:
        """The rotations that have a key."""
        return list(self._found["rotations"])

    @property
    def bound(self) -> float:
        """The predicted bound on the absolute error of results; 0 for exact schemes, infinite where there is none."""
        found = self._found["bound"]
        return inf if found is None else float(found)

    @property
    def precision(self) -> float:
        """The absolute error that was asked for; 0 for exact schemes."""
        return float(self._found["precision"])

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps: operation, place, shape, range, level, counts of operations and predicted error bound."""
        return [dict(step) for step in self._found["steps"]]

    @property
    def counts(self) -> dict[str, int]:
        """How many products, products with numbers in clear, rotations and bootstraps there are in all."""
        names = ("products", "plain_products", "rotations", "bootstraps")
        return {name: sum(step[name] for step in self._found["steps"]) for name in names}

    def plot(self, path: str | os.PathLike[str] | None = None) -> object:
        """Draw levels and error bounds of all steps.

        Returns a figure of matplotlib if it is installed, else an SVG as text; `path` takes the picture too.
        """
        try:
            import matplotlib.figure
        except ImportError:
            picture = self._svg()
            if path is not None:
                Path(path).write_text(picture, encoding="utf-8")
            return picture
        steps = self._found["steps"]
        names = [f"{step['operation']}\n{step['place']}" for step in steps]
        figure = matplotlib.figure.Figure(figsize=(max(5.0, 0.8 * len(steps) + 2), 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(range(len(steps)), [step["level"] for step in steps], color="#9ecae1")
        axes.set_ylabel("levels left")
        axes.set_xticks(range(len(steps)), names, rotation=60, ha="right", fontsize=7)
        if self.bound > 0:
            errors = axes.twinx()
            errors.plot(range(len(steps)), [step["bound"] for step in steps], "o-", color="#d62728")
            errors.set_yscale("log")
            errors.set_ylabel("predicted error bound")
        axes.set_title(f"{self.scheme}: {self.parameters}", fontsize=9)
        if path is not None:
            figure.savefig(path)
        return figure

    def __str__(self) -> str:
        """Return the table."""
        # Columns of counts that are all 0 say nothing.
        shown = [
            (name, title)
            for name, title in _COLUMNS
            if any(step[name] for step in self._found["steps"]) or (name == "level" and self.levels > 0)
        ]
        rows = [[title for _, title in shown]]
        rows += [[_cell(name, step[name]) for name, _ in shown] for step in self._found["steps"]]
        widths = [max(len(row[at]) for row in rows) for at in range(len(shown))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = [
            f"{self.scheme}: {self.parameters}",
            f"{self.ciphertexts} ciphertexts of inputs, {self.levels} levels, {self.bootstraps} bootstraps, "
            f"{len(self.rotations)} rotation keys",
        ]
        if self.precision > 0:
            head.append(f"predicted error bound {self.bound:.2e}, {self.precision:.2e} was asked for")
        return "\n".join([*head, *self._costs(), "", *lines])

    def _costs(self) -> list[str]:
        """Return the price and the other schemes in lines."""
        price = self._found["price"]
        times = {"keys": "keys", "encryption": "encrypt", "server": "server", "decryption": "decrypt"}
        sizes = {"keys": "key_bytes", "inputs": "input_bytes", "results": "result_bytes", "server": "server_memory"}
        seconds = {name: time(price[f"{key}_seconds"]) for name, key in times.items()}
        if price["prepare_seconds"] > 0:
            seconds["server"] += f" and once before {time(price['prepare_seconds'])}"
        lines = [
            "predicted: " + ", ".join(f"{name} {told}" for name, told in seconds.items()),
            "sizes: "
            + ", ".join(f"{name} {size(price[key])}{' of memory' * (name == 'server')}" for name, key in sizes.items()),
            f"on {self.machine}",
        ]
        for other in self._found["others"]:
            seconds = other["server_seconds"]
            told = other["refusal"] if seconds is None else f"server {time(seconds)}"
            lines.append(f"not {other['scheme']}: {told}")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _svg(self) -> str:
        steps, width, height = self._found["steps"], 60, 160
        top = max([1, *(step["level"] for step in steps)])
        bars = []
        for at, step in enumerate(steps):
            tall = height * step["level"] / top
            label = escape(f"{step['operation']}, {step['level']} levels left, error bound {step['bound']:.1e}")
            bars.append(
                f"<g><title>{label}</title>"
                f'<rect x="{at * width + 10}" y="{height - tall + 10:.1f}" width="{width - 10}" '
                f'height="{tall:.1f}" fill="#9ecae1"/>'
                f'<text x="{at * width + 12}" y="{height + 25}" font-size="8">'
                f"{escape(step['operation'][:12])}</text></g>"
            )
        size = f'width="{len(steps) * width + 20}" height="{height + 40}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(bars)}</svg>\n'


def _cell(name: str, value: Any) -> str:
    if name == "range":
        low, high = value
        return f"[{low:.4g}, {high:.4g}]"
    if name == "bound":
        return f"{value:.2e}" if value else ""
    if name == "shape":
        return "x".join(map(str, value)) or "number"
    return str(value)
