"""The service behind the window's price table, in which the user's own prices override the built-in ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.backend import PROVIDERS
from app.backend.prices import Price, differences, read_prices, read_users, write_prices
from app.platform.installation import resource
from app.services import backends
from app.session.control import BackendChoice, UserError
from app.settings.paths import prices_path
from app.untrusted.proxies import in_own_network


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The price of a model. `shipped`: its built-in price; None if only the user has defined one."""

    model: str
    price: Price
    shipped: Price | None = None


class PriceService:
    """The price table. All calls are fast enough to be made on the event loop."""

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        """Returns all rows, and an error message if the user's own table is unusable."""
        shipped = read_prices(resource("prices.json"))
        own, problem = read_users(prices_path())
        rows = (PriceRow(name, price, shipped.get(name)) for name, price in {**shipped, **own}.items())
        return tuple(rows), problem

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        """Saves the differences between `rows` and the rows originally `shown`. Raises UserError.

        The changes take effect immediately.
        """
        path = prices_path()
        before, table = ({row.model: row.price for row in some} for some in (shown, rows))
        shipped = read_prices(resource("prices.json"))
        try:
            own = {name: price for name, price in read_users(path)[0].items() if name in table or name not in before}
            write_prices(path, differences(shipped, {**own, **differences(before, table)}))
        except OSError as error:
            raise UserError(
                f"The prices could not be saved ({error.strerror or error}), so the old ones stay in use. Check that "
                f"you may write in the folder {path.parent}, and save again."
            ) from error
        backends.price_table.cache_clear()

    def unpriced(self, choice: BackendChoice) -> str | None:
        """Returns the name of a back-end's model (empty if it has none) if its price is unknown, otherwise None."""
        spec = PROVIDERS.get(choice.provider)
        if spec is None or spec.free:
            return None
        if not spec.wants_key and in_own_network(choice.base_url or spec.default_url or ""):
            return None  # the user's own server
        model = choice.model or next(iter(spec.suggestions), "")
        return model if backends.price_table()[0].find(model) is None else None
