"""Bootstrapping: new levels for ciphertexts, so that programs of any depth run.

The client makes the keys and encrypts; whoever computes needs the file of bootstrapping keys alone:

>>> import tempfile, pathlib
>>> from noren import bootstrapping, ckks
>>> params = bootstrapping.Parameters("toy")  # a small ring without security, for an example; "n16" is the default
>>> ctx = ckks.Context(params.ckks)
>>> keys = ctx.keygen(relinearization=False)
>>> path = pathlib.Path(tempfile.mkdtemp()) / "bootstrap.keys"
>>> size = bootstrapping.BootstrapKeys.generate_file(path, params, keys.secret, rotations=[1])
>>> x = ctx.encrypt([0.9, -0.5, 0.1, 0.3], keys.public, slots=4, level=params.output_level)

>>> boot_keys = bootstrapping.BootstrapKeys.load(path, min_security=0)  # somewhere else; 0 for an example alone
>>> bootstrapper = bootstrapping.Bootstrapper(boot_keys, mode="real")
>>> ev = boot_keys.context.evaluator(boot_keys.evaluation).with_bootstrapping(bootstrapper)
>>> y = x
>>> for _ in range(5):
...     y = ((y + ev.rotate(y, 1)) * 0.5).with_magnitude(1.0)
>>> ev.bootstraps
2

>>> bool(abs(ctx.decrypt(y, keys.secret).sum() - 0.8) < 1e-4)  # the mean stays
True
"""

from noren._noren.bootstrapping import BootstrapKeys, Bootstrapper, Parameters, Plan

PRESETS = ("n16", "n16-132", "n16-small", "n16-precise", "n15", "toy")
"""The names that ``Parameters`` takes."""

__all__ = ["PRESETS", "BootstrapKeys", "Bootstrapper", "Parameters", "Plan"]
