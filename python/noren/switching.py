"""Switching between CKKS and TFHE: comparisons and any function of encrypted numbers.

Every slot becomes a sample of TFHE, where a bootstrap decides; the results come back as slots with new levels.

>>> from noren import bootstrapping, ckks, switching, tfhe
>>> params = switching.Parameters("toy", "TOY_SWITCH")  # without security, for an example; "n16" with "2_2" are to use
>>> ctx, tfhe_ctx = ckks.Context(params.bootstrapping.ckks), tfhe.Context(params.tfhe)
>>> keys, tfhe_keys = ctx.keygen(), tfhe_ctx.keygen()  # the client
>>> boot_keys = bootstrapping.BootstrapKeys.generate(params.bootstrapping, keys.secret)
>>> switch_keys = switching.SwitchingKeys.generate(params, keys.secret, tfhe_keys.secret)
>>> x = ctx.encrypt([3, -1, 2, 0.5], keys.public, slots=4, within=(-4, 4))
>>> y = ctx.encrypt([1, 1, 1, 1], keys.public, slots=4, within=(-4, 4))

>>> boot = bootstrapping.Bootstrapper(boot_keys)  # whoever computes
>>> switch = switching.Switch(boot, tfhe_keys.server, switch_keys)
>>> ev = ctx.evaluator(keys.evaluation).with_bootstrapping(boot).with_switching(switch)
>>> x, y = ev.bind(x), ev.bind(y)
>>> larger = ev.where(x < y, y, x)

>>> ctx.decrypt(larger, keys.secret).round(2).tolist()
[3.0, 1.0, 2.0, 1.0]
"""

from noren._noren.switching import (
    Decision,
    Extreme,
    Parameters,
    Samples,
    Switch,
    SwitchingKeys,
    rotations_of_extremes,
    rotations_of_ranks,
)

__all__ = [
    "Decision",
    "Extreme",
    "Parameters",
    "Samples",
    "Switch",
    "SwitchingKeys",
    "rotations_of_extremes",
    "rotations_of_ranks",
]
