"""Record files: sealed, atomic, strict."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.errors import RecordError, StorageError
from sitegen.files import write_atomic
from sitegen.records.case import Case
from sitegen.records.model import SCHEMA_VERSION, json_schema
from sitegen.records.store import decode, encode, load, load_all, path_of, save, seal
from tests.factories import record, reference_suite


def _resealed(data: dict[str, Any]) -> bytes:
    """The JSON with a valid seal, as a hand that knows the format would make it."""
    from sitegen.records.store import _content_hash  # noqa: PLC0415 - only a forger needs it

    return json.dumps(data | {"content_sha256": _content_hash(data)}).encode()


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    records = reference_suite()
    for each in records:
        save(each, tmp_path)
    assert sorted(load_all(tmp_path), key=lambda r: r.key) == sorted(map(seal, records), key=lambda r: r.key)


def test_the_file_is_sorted_indented_and_ends_with_a_newline(tmp_path: Path) -> None:
    text = save(record(Case()), tmp_path).read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_file_is_where_machine_environment_and_case_say(tmp_path: Path) -> None:
    one = record(Case())
    assert save(one, tmp_path) == tmp_path / one.machine.slug / one.environment.id / f"{one.case_id}.json"


def test_the_published_schema_accepts_the_file_and_refuses_an_unknown_key(tmp_path: Path) -> None:
    schema = json_schema()
    data = json.loads(save(record(Case()), tmp_path).read_bytes())
    jsonschema.validate(data, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | {"extra": 1}, schema)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text[:-40], "not valid JSON"),
        (lambda _text: b"[]", "not a record"),
        (lambda text: text.replace(b'"batch_size": 1', b'"batch_size": 2'), "content hash does not match"),
    ],
)
def test_a_spoilt_file_is_refused_by_its_name(tmp_path: Path, spoil: Any, says: str) -> None:
    path = save(record(Case()), tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(RecordError, match=says) as caught:
        load(path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": SCHEMA_VERSION + 1}, "Upgrade sitegen"),
        ({"schema_version": None}, "no valid schema_version"),
        ({"surprise": 1}, "surprise"),
        ({"status": "fine"}, "status"),
        ({"protocol": "one"}, "protocol"),
    ],
)
def test_a_sealed_file_of_another_shape_is_refused(change: dict[str, Any], says: str) -> None:
    data = json.loads(encode(seal(record(Case()))))
    with pytest.raises(RecordError, match=says):
        decode(_resealed(data | change), "case.json")


@given(st.data())
def test_no_single_changed_byte_passes_the_seal(data: st.DataObject) -> None:
    text = bytearray(encode(seal(record(Case()))))
    place = data.draw(st.integers(0, len(text) - 2))  # the last newline is JSON's to ignore
    byte = data.draw(st.integers(32, 126).filter(lambda value: value != text[place]))
    if text[place] in b" \n" or byte == ord(" "):
        return  # white space between tokens carries nothing
    text[place] = byte
    with pytest.raises(RecordError):
        decode(bytes(text), "case.json")


def test_a_full_disk_leaves_the_earlier_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(record(Case()), tmp_path)
    before = path.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="disk is full"):
        write_atomic(path, b"other")
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_hidden_and_partial_files_are_no_records(tmp_path: Path) -> None:
    path = save(record(Case()), tmp_path)
    (path.parent / ".x.partial").write_bytes(b"half")
    (path.parent / ".hidden.json").write_bytes(b"{")
    assert len(load_all(tmp_path)) == 1


def test_path_of_stays_under_the_root(tmp_path: Path) -> None:
    assert path_of(record(Case(model="../../x"), net_mib=(1, 2)), tmp_path).resolve().is_relative_to(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"case_id": "../../../../../evil"},
        {"case_id": record(Case(batch_size=8)).case_id},
        {"samples": []},
        {"machine": {**json.loads(encode(record(Case())))["machine"], "slug": "<script>alert(1)</script>"}},
        {"machine": {**json.loads(encode(record(Case())))["machine"], "slug": ".."}},
        {"environment": {**json.loads(encode(record(Case())))["environment"], "id": "a/../../b"}},
    ],
)
def test_a_sealed_record_of_an_impossible_identity_is_refused(change: dict[str, Any]) -> None:
    # Its names become paths and addresses: a seal proves that the file is whole, not that it is ours.
    data = json.loads(encode(seal(record(Case()))))
    with pytest.raises(RecordError, match="not a valid record"):
        decode(_resealed(data | change), "case.json")


@pytest.mark.parametrize("text", [b'{"a": ' + b"[" * 100_000, b'{"schema_version": 1, "a": "\\ud800"}', b"\xff"])
def test_what_json_cannot_hold_is_refused(text: bytes) -> None:
    with pytest.raises(RecordError):
        decode(text, "case.json")


def test_a_record_in_another_s_place_is_refused_by_both_names(tmp_path: Path) -> None:
    one, eight = (save(record(Case(batch_size=size)), tmp_path) for size in (1, 8))
    one.write_bytes(eight.read_bytes())
    with pytest.raises(RecordError, match=eight.stem) as caught:
        load(one)
    assert one.stem in str(caught.value)


def test_the_committed_schema_is_the_program_s() -> None:
    committed = Path(__file__).parents[2] / "measurements" / "record.schema.json"
    assert json.loads(committed.read_bytes()) == json.loads(json.dumps(json_schema())), "run: sitegen schema > …"
