"""What goes wrong between parties."""

from collections.abc import Iterable, Mapping

from noren._noren import Error


class MissingPartyError(Error):
    """Fewer parties answered than are needed; the message names those that did not, with their reasons."""


class BudgetError(Error):
    """Fewer parties than open a result may open another one: the session is for no more results."""


def listed(names: Iterable[str], reasons: Mapping[str, str]) -> str:
    """Return names with their reasons, for a message."""
    return "; ".join(f"{name}: {reasons[name]}" if name in reasons else name for name in names)
