import csv
import io
import json
from pathlib import Path

import jsonschema

from sitegen.records.store import decode, encode
from sitegen.render.data import as_csv
from tests.factories import INFERENCE_8, LORA, TRAINING, record, reference_suite


def rows(*records: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(records))))  # type: ignore[arg-type]


def test_one_line_a_record_in_whole_bytes() -> None:
    (row,) = rows(record(TRAINING[8]))
    assert row["peak_bytes"] == str(6541 * 2**20)  # the factory's Mio
    assert row["step_1_peak_bytes"] == str(4375 * 2**20)
    assert row["batch_size"] == "8"
    assert row["lora_targets"] == "q_proj v_proj"
    assert row["gradient_checkpointing"] == "false"


def test_what_is_not_known_is_empty_and_never_zero() -> None:
    (row,) = rows(record(LORA, status="timeout", reason='over, "the" limit'))
    assert row["status"] == "timeout"
    assert row["reason"] == 'over, "the" limit'
    assert row["peak_bytes"] == row["step_1_peak_bytes"] == row["weights_bytes"] == ""


def test_phases_that_a_mode_lacks_are_empty() -> None:
    (row,) = rows(record(INFERENCE_8))
    assert row["backward_peak_bytes"] == row["step_2_peak_bytes"] == ""
    assert row["forward_peak_bytes"] == row["peak_bytes"]


def test_the_site_gives_each_record_as_it_is(built: Path) -> None:
    for original in reference_suite():
        published = (built / "mesures" / f"{original.key}.json").read_bytes()
        assert published == encode(original)
        assert decode(published, "x") == original


def test_the_published_records_satisfy_the_published_schema(built: Path) -> None:
    schema = json.loads((built / "donnees" / "schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in built.glob("mesures/*/*/*.json"):
        validator.validate(json.loads(path.read_text("utf-8")))


def test_the_table_of_the_site_has_every_record(built: Path) -> None:
    lines = list(csv.DictReader((built / "donnees" / "mesures.csv").open(encoding="utf-8", newline="")))
    assert len(lines) == len(reference_suite()) + 1
