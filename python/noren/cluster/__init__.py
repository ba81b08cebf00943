"""Programs on encrypted data on several machines, over Ray: `pip install ray`, or the extra `noren[cluster]`.

Workers are trusted with what this process holds (`docs/cluster.md`): decrypt in another one. Here all is in one, which
is for tests alone.

>>> from noren import ckks
>>> from noren.cluster import Cluster
>>> params = ckks.Parameters(log_n=10, log_q=[50, 40], log_p=[50], security=None)  # a small ring, for an example
>>> ctx = ckks.Context(params)
>>> keys = ctx.keygen()
>>> items = [ctx.encrypt([float(i), 1.0], keys.public) for i in range(4)]
>>> with Cluster(keys.evaluation, workers=1, min_security=0) as cluster:
...     squares = list(cluster.map(lambda ev, x: ev.square(x), items))
...     total = cluster.reduce(lambda ev, x, y: ev.add(x, y), squares)
>>> ctx.decrypt(total, keys.secret).round(3)
array([14.,  4.])
"""

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    message = "noren.cluster needs Ray, which is not installed: pip install 'ray>=2.40'"
    raise ImportError(message) from error

from noren.cluster._cluster import Cluster, Results
from noren.cluster._errors import ClusterError, Failure, JobError, KindError, ResultError, TaskError
from noren.cluster._matrix import rotations_of_blocks
from noren.cluster._plan import Machines, Prediction, Work, curve, predict

__all__ = [
    "Cluster",
    "ClusterError",
    "Failure",
    "JobError",
    "KindError",
    "Machines",
    "Prediction",
    "ResultError",
    "Results",
    "TaskError",
    "Work",
    "curve",
    "predict",
    "rotations_of_blocks",
]
