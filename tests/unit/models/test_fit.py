"""What fits a card, against the published sizes."""

from __future__ import annotations

import pytest

from app.models.fit import judge, needed_bytes, shape_of


def test_the_published_models_size_is_the_published_one() -> None:
    shape = shape_of(None)
    assert shape.matrices + shape.heads == 7_374_635_008
    assert shape.weight_bytes("bf16") / 1e9 == pytest.approx(15.64, abs=0.01)
    assert shape.weight_bytes("int8") / 1e9 == pytest.approx(8.26, abs=0.01)
    assert shape.frame_bytes("bf16") / 1e9 == pytest.approx(16.3, abs=0.05)
    assert shape.cache_bytes_a_frame * 3000 / 1e9 == pytest.approx(1.57, abs=0.01)


@pytest.mark.parametrize(
    ("card", "wanted"), [(24, "bf16"), (16, "int8"), (12, "int8"), (8, "int4"), (80, "bf16"), (4, None)]
)
def test_each_size_of_card_gets_what_fits(card: int, wanted: str | None) -> None:
    fit = judge(int(card * 1e9 * 0.95), "bf16", name="KAME")
    best = fit.plan or (fit.offers[0] if fit.offers else None)
    assert (best.precision if best else None) == wanted
    if best:
        assert best.bytes == needed_bytes(shape_of(None), best.precision, best.context) <= card * 1e9 * 0.95
    assert fit.sentence.endswith(".") and "GB" in fit.sentence
    if not best:
        assert "embedded voice" in fit.sentence
    elif not fit.plan:
        assert all(plan.words in fit.sentence for plan in fit.offers)


def test_a_shorter_context_is_offered_where_it_helps() -> None:
    fit = judge(7_300_000_000, "int4", name="KAME")
    assert fit.plan is None and fit.offers[0].precision == "int4" and fit.offers[0].context == 1500
    assert judge(7_300_000_000, "int4", context=1500).plan is not None


def test_without_a_card_the_sentence_offers_the_embedded_voice() -> None:
    sentence = judge(None, "bf16", name="KAME").sentence
    assert sentence.startswith("KAME needs an NVIDIA graphics card") and "cascade" in sentence
