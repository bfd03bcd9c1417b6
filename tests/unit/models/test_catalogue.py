"""The table of models, which language model a machine gets, and what fits a card."""

import re
from pathlib import Path

import pytest

from app.models.catalogue import DEFAULTS, Hub, ModelError, catalogue, find_model, models_of
from app.models.fit import judge, needed_bytes, shape_of
from app.models.selection import Speed, best_language_model, expected_speed, in_time, keep_speed, load_speeds
from tests.support.tables import cases

GB = 2**30


def test_every_file_is_pinned_and_every_model_has_a_licence_and_a_size() -> None:
    for model in catalogue().values():
        assert model.licence and model.bytes > 1_000_000, model.key
        for file in model.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256) and file.bytes > 0
        if isinstance(model.source, Hub) and model.kind != "frontend":
            assert re.fullmatch(r"[0-9a-f]{40}", model.source.revision) and model.files
        assert not model.main or model.source != Hub or model.main in {file.name for file in model.files}
    assert set(DEFAULTS.values()) <= set(catalogue())


def test_licences_names_what_the_catalogue_offers() -> None:
    page = (Path(__file__).parents[3] / "resources" / "licences.md").read_text("utf-8").lower()
    for word in ("qwen2.5-coder", "qwen3-4b", "phi-4", "granite", "distil-whisper", "kokoro", "pico", "thorsten"):
        assert word in page


def test_an_unknown_model_is_a_sentence_that_names_the_known() -> None:
    with pytest.raises(ModelError, match=r"no model called “parrot”.*smollm2-135m"):
        find_model("parrot")


def test_the_best_model_is_the_best_that_keeps_up_and_fits() -> None:
    models = models_of("llm")
    slow, quick = {"smollm2-135m": Speed(0.2, 20.0)}, {"smollm2-135m": Speed(0.02, 800.0)}
    assert best_language_model(models, slow, 16 * GB).key == "smollm2-135m"  # type: ignore[union-attr]
    assert best_language_model(models, quick, 64 * GB).key == "qwen2.5-7b"  # type: ignore[union-attr]
    little = best_language_model(models, quick, 4 * GB)
    assert little is not None and little.memory <= 0.4 * 4 * GB
    assert best_language_model(models, {}, 16 * GB) is None, "nothing is known of this machine yet"
    german = best_language_model(models, slow, 16 * GB, "de")
    assert german is None or german.speaks("de")


def test_a_speed_that_was_measured_counts_more_than_one_that_is_guessed(tmp_path: Path) -> None:
    small, large = find_model("smollm2-135m"), find_model("qwen2.5-coder-1.5b")
    guessed = expected_speed(large, {"smollm2-135m": Speed(0.1, 40.0)})
    assert guessed is not None and guessed.rate == pytest.approx(40 * small.bytes / large.bytes)
    assert not in_time(guessed) and in_time(Speed(0.4, 8.0))
    file = tmp_path / "speeds.json"
    keep_speed("qwen2.5-coder-1.5b", Speed(0.5, 9.0), file)
    keep_speed("smollm2-135m", Speed(0.1, 40.0), file)
    known = load_speeds(file)
    assert expected_speed(large, known) == Speed(0.5, 9.0) and len(known) == 2
    file.write_text(file.read_text().replace('"machine": "', '"machine": "another '))
    assert load_speeds(file) == {}, "what was measured elsewhere tells nothing here"


@cases("card, wanted", (24, "bf16"), (16, "int8"), (12, "int8"), (8, "int4"), (80, "bf16"), (4, None))
def test_each_size_of_card_gets_what_fits(card: int, wanted: str | None) -> None:
    fit = judge(int(card * 1e9 * 0.95), "bf16", name="KAME")
    best = fit.plan or (fit.offers[0] if fit.offers else None)
    assert (best.precision if best else None) == wanted
    if best:
        assert best.bytes == needed_bytes(shape_of(None), best.precision, best.context) <= card * 1e9 * 0.95
    assert fit.sentence.endswith(".") and "GB" in fit.sentence
    if not best:
        assert "built-in voice" in fit.sentence
    elif not fit.plan:
        assert all(plan.words in fit.sentence for plan in fit.offers)


def test_a_shorter_context_or_the_embedded_voice_is_offered() -> None:
    fit = judge(7_300_000_000, "int4", name="KAME")
    assert fit.plan is None and fit.offers[0].precision == "int4" and fit.offers[0].context == 1500
    assert judge(7_300_000_000, "int4", context=1500).plan is not None
    sentence = judge(None, "bf16", name="KAME").sentence
    assert sentence.startswith("KAME needs an NVIDIA graphics card") and "cascade" in sentence
