"""Averages of models that Flower trains, of which nobody sees more than the average: the extra `noren[flower]`.

The clients are parties of a joint key (`noren.owners`), each with a folder of its own. `PartyMod` stands before their
training function, which stays as it is, and encrypts how that changed the weights; `EncryptedFedAvg` is the strategy of
the server, which never has a secret: it brings the messages of key rounds from party to party, adds encrypted changes
up (`noren.federated`), asks parties to open the sum, and gives the new weights to the next round.

At the clients:

>>> from flwr.clientapp import ClientApp
>>> from noren.flower import EncryptedFedAvg, PartyMod
>>> app = ClientApp(mods=[PartyMod(lambda context: f"keys/{context.node_id}", lambda context: "north")])

At the server, in the main function of a `flwr.serverapp.ServerApp`:

>>> strategy = EncryptedFedAvg(["north", "south", "west"], threshold=2, rounds=10, total=6000)

See ``docs/owners.md``.
"""

try:
    import flwr.serverapp as _serverapp  # noqa: F401
except ImportError as error:
    message = "noren.flower needs Flower 1.22 or later, which is not installed: pip install 'noren[flower]'"
    raise ImportError(message) from error

from noren.flower._errors import BudgetError, MissingPartyError
from noren.flower._party import PartyMod
from noren.flower._strategy import EncryptedFedAvg

__all__ = ["BudgetError", "EncryptedFedAvg", "MissingPartyError", "PartyMod"]
