"""Files of tables and of bills: what was written is read again, and nothing else is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from sitegen.errors import RecordError
from sitegen.records import bills, tables
from sitegen.records.bill import Bill, PhaseBill
from sitegen.records.store import load_all
from sitegen.records.table import Depths, Peak, Table, TableKey

STACK: Final = {"torch": "2.13.0", "peft": "0.21.2", "tracer": "0123456789ab"}
KEY: Final = TableKey(family="llama", variant="tied-gqa", mode="training")
WEIGHTS: Final[dict[str, int | str]] = {"Lhi": 12, "Vh": 4, "h": "1/2"}
TABLE: Final = Table(
    key=KEY,
    depths=Depths(smallest=3, period=1),
    phases={"forward": (Peak(components={"weights": WEIGHTS, "temporaries": {"bhs": 4}}),) * 2},
    gradients=WEIGHTS,
    optimizer_state={"": 8},
)
BILL: Final = Bill(
    model_type="llama",
    parameters=10,
    trainable_parameters=10,
    quantised_parameters=0,
    weights_bytes=40,
    phases=(PhaseBill(step=1, name="forward", peak_bytes=40, components={"weights": 40}),),
)


def _saved(root: Path) -> Path:
    return tables.save(tables.packed(STACK, "llama", "tied-gqa", [TABLE], {}), root)


def test_tables_come_back_as_they_were_and_each_polynomial_is_written_once(tmp_path: Path) -> None:
    stored = tables.load(_saved(tmp_path))
    assert tables.unpacked(stored) == {KEY: TABLE}
    assert len(stored.polynomials) == 3


def test_a_stacks_folder_names_versions_and_is_the_same_whatever_the_order_of_its_keys(tmp_path: Path) -> None:
    assert tables.stack_id(STACK) == "peft-0.21.2-torch-2.13.0-tracer-0123456789ab"
    assert tables.stack_id(dict(reversed(STACK.items()))) == tables.stack_id(STACK)
    assert _saved(tmp_path) == tables.path_of(tmp_path, STACK, "llama", "tied-gqa")


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace("12", "13"),
        lambda _: "[]",
        lambda _: "{",
        lambda text: text.replace('"protocol":1', '"protocol":2'),
    ],
)
def test_a_file_that_was_changed_is_refused(changed: object, tmp_path: Path) -> None:
    assert callable(changed)
    path = _saved(tmp_path)
    path.write_text(changed(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(RecordError):
        tables.load(path)


def test_bills_come_back_as_they_were(tmp_path: Path) -> None:
    path = bills.save(tmp_path, STACK, {"a-case": BILL})
    assert bills.merged(tmp_path) == {"a-case": BILL}
    path.write_text(path.read_text(encoding="utf-8").replace("40", "41"), encoding="utf-8")
    with pytest.raises(RecordError, match="was changed"):
        bills.load(path)


def test_tables_and_bills_are_no_records(tmp_path: Path) -> None:
    _saved(tmp_path)
    bills.save(tmp_path, STACK, {"a-case": BILL})
    assert load_all(tmp_path) == []
