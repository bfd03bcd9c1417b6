"""The price table as a service for the window: the built-in prices, overridden by the user's own."""

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
    """The price of a model. `shipped`: the built-in price; None if only the user has set one."""

    model: str
    price: Price
    shipped: Price | None = None


class PriceService:
    """The price table. No call takes long."""

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        """Returns all rows, and an error message if the user's own table can't be used."""
        shipped = read_prices(resource("prices.json"))
        own, problem = read_users(prices_path())
        rows = (PriceRow(name, price, shipped.get(name)) for name, price in {**shipped, **own}.items())
        return tuple(rows), problem

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        """Saves those of `rows` that differ from what was `shown`, with immediate effect. Raises UserError."""
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
        """Returns the name of a back-end's model if its price is unknown (empty if unnamed), otherwise None.

        For the router, this is the first of its back-ends with an unknown price.
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
            return None  # the user's own server
        model = choice.model or next(iter(spec.suggestions), "")
        return model if backends.price_table()[0].find(model) is None else None
