"""Functions that hear how far long calls are."""

from collections.abc import Callable

from noren._noren import Progress


def progress(function: Callable[[int, int], object]) -> Progress:
    """Return a context manager: in its block, `function(done, of)` hears how far each long call of this thread is.

    It is called from any thread, about 200 times a call at most; what it raises ends the call, and is raised there.
    Blocks nest, and the innermost function hears. Calls that take `progress=` tell that one instead.

    >>> import noren
    >>> with noren.progress(lambda done, of: print(f"{done} of {of}")):
    ...     pass
    """
    return Progress(function)
