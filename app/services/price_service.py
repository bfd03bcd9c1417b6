"""Shows and changes the table of prices: the app's own, with the user's on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.backend import PROVIDERS
from app.backend.base import in_own_network
from app.backend.prices import Price, differences, read_prices, read_users, write_prices
from app.platform.installation import resource
from app.services import backends
from app.services.backends import parse_routes
from app.session.control import ROUTER, BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from app.settings.paths import prices_path


@dataclass(frozen=True, slots=True)
class PriceRow:
    """What a model costs. `shipped`: the app's own price; None for a model that only the user has a price for."""

    model: str
    price: Price
    shipped: Price | None = None


class PriceService:
    """The table of prices. All calls are quick."""

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        """Returns all rows, and a sentence when the user's own table can't be used."""
        shipped = read_prices(resource("prices.json"))
        own, problem = read_users(prices_path())
        rows = (PriceRow(name, price, shipped.get(name)) for name, price in {**shipped, **own}.items())
        return tuple(rows), problem

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        """Saves those of `rows` that differ from what was `shown`; they count from now on. Raises UserError."""
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
        """Returns the model of a back-end whose cost is not known (empty for one without a name), else None.

        Of the router, the first of its back-ends without a known cost.
        """
        if choice.provider == ROUTER:
            routes, problems = parse_routes(Settings.load().routes)
            if problems:
                return None
            return next((name for one in routes.values() if (name := self.unpriced(one)) is not None), None)
        spec = PROVIDERS.get(choice.provider)
        if spec is None or spec.free:
            return None
        if not spec.wants_key and in_own_network(choice.base_url or spec.default_url or ""):
            return None  # a server of the user's own
        model = choice.model or next(iter(spec.suggestions), "")
        return model if backends.price_table()[0].find(model) is None else None
