import pytest
from msgspec.structs import replace

from sitegen.errors import ContentError
from sitegen.render.series import TRAINING_8, chosen, grouped, under
from tests.factories import (
    ENVIRONMENT,
    MACHINE,
    OTHER_ENVIRONMENT,
    OTHER_MACHINE,
    TRAINING,
    record,
    reference_suite,
)


def test_records_of_two_versions_never_share_a_series() -> None:
    records = [*reference_suite(), *reference_suite(environment=OTHER_ENVIRONMENT), *reference_suite(OTHER_MACHINE)]
    assert [series.name for series in grouped(records)] == sorted(
        f"{machine.slug}/{environment.id}"
        for machine, environment in [(MACHINE, ENVIRONMENT), (MACHINE, OTHER_ENVIRONMENT), (OTHER_MACHINE, ENVIRONMENT)]
    )


def test_the_prose_speaks_of_the_most_complete_suite() -> None:
    newer = [record(TRAINING[1], environment=OTHER_ENVIRONMENT, measured_at="2027-01-01T00:00:00Z")]
    assert chosen([*newer, *reference_suite()], None).environment == ENVIRONMENT


def test_a_case_that_fails_on_a_new_version_leaves_the_prose_on_the_previous_one() -> None:
    newer = [
        record(TRAINING[8], status="failed", environment=OTHER_ENVIRONMENT) if each.case == TRAINING[8] else each
        for each in reference_suite(environment=OTHER_ENVIRONMENT)
    ]
    assert chosen([*newer, *reference_suite()], None).environment == ENVIRONMENT


def test_between_two_complete_suites_the_newest_is_spoken_of() -> None:
    newer = [
        record(each.case, environment=OTHER_ENVIRONMENT, measured_at="2027-01-01T00:00:00Z")
        for each in reference_suite()
    ]
    assert chosen([*newer, *reference_suite()], None).environment == OTHER_ENVIRONMENT


def test_the_setting_wins() -> None:
    records = [*reference_suite(), record(TRAINING[1], environment=OTHER_ENVIRONMENT)]
    assert chosen(records, f"{MACHINE.slug}/{OTHER_ENVIRONMENT.id}").environment == OTHER_ENVIRONMENT


def test_a_setting_that_names_nothing_says_what_there_is() -> None:
    with pytest.raises(ContentError, match=ENVIRONMENT.id):
        chosen(reference_suite(), "nowhere/none")


def test_no_record_at_all_is_said() -> None:
    with pytest.raises(ContentError, match="no record"):
        chosen([], None)


def test_a_case_is_found_under_its_allocator_only() -> None:
    (series,) = grouped([record(TRAINING_8)])
    assert series.ok(TRAINING_8) is not None
    assert series.get(under(TRAINING_8, "fixed")) is None
    assert series.get(replace(TRAINING_8, timeout=1)) is not None  # a limit is no part of the case
