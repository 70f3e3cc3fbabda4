"""The tables that a page may ask for with ``{{ table("…") }}``: a new one is one function and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.render.comparison_tables import doubling, fixes, quoted, two_steps
from sitegen.render.data_tables import constants, fields
from sitegen.render.estimator_tables import fixed_examples, option_names
from sitegen.render.rule_tables import mixed_bytes, presets, seven_billion
from sitegen.render.series import Series
from sitegen.render.series_tables import bill, by_allocator, everything, reference
from sitegen.render.tables import Table
from sitegen.render.validation_tables import (
    default_rows,
    every_row,
    others,
    published_rules,
    summary,
    usual_rules,
)

TABLES: Final[dict[str, Callable[[Series], Table]]] = {
    "bill": bill,
    "by_allocator": by_allocator,
    "constants": constants,
    "doubling": doubling,
    "everything": everything,
    "fields": fields,
    "fixed_examples": fixed_examples,
    "fixes": fixes,
    "mixed_bytes": mixed_bytes,
    "option_names": option_names,
    "presets": presets,
    "quoted": quoted,
    "reference": reference,
    "seven_billion": seven_billion,
    "two_steps": two_steps,
    "validation": summary,
    "validation_default": default_rows,
    "validation_published": others,
    "validation_published_rules": published_rules,
    "validation_rows": every_row,
    "validation_rules": usual_rules,
}
