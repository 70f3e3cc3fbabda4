"""The tables and charts that a page may ask for: a new one is one function and one line here, or in `charts.CHARTS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.render import calculator_tables, charts, domain_table, peer_tables, published_tables, validation_tables
from sitegen.render.article_tables import card_units, logits_by_vocabulary, quantised_weights, small_card_path
from sitegen.render.comparison_tables import doubling, fixes, quoted, two_steps
from sitegen.render.data_tables import constants, fields
from sitegen.render.estimator_tables import fixed_examples, option_names
from sitegen.render.fix_charts import FIX_CHARTS
from sitegen.render.rule_tables import mixed_bytes, presets, seven_billion
from sitegen.render.series import Series
from sitegen.render.series_tables import bill, by_allocator, everything, reference
from sitegen.render.tables import Table
from sitegen.render.validation_charts import VALIDATION_CHARTS

TABLES: Final[dict[str, Callable[[Series], Table]]] = {
    "adapted_matrices": calculator_tables.adapted_matrices,
    "adapted_shares": calculator_tables.adapted_shares,
    "bill": bill,
    "by_allocator": by_allocator,
    "cached_models": calculator_tables.cached_models,
    "card_units": card_units,
    "constants": constants,
    "doubling": doubling,
    "everything": everything,
    "fields": fields,
    "fixed_examples": fixed_examples,
    "fixes": fixes,
    "logits_by_vocabulary": logits_by_vocabulary,
    "mixed_bytes": mixed_bytes,
    "option_names": option_names,
    "presets": presets,
    "quantised_weights": quantised_weights,
    "quoted": quoted,
    "reference": reference,
    "seven_billion": seven_billion,
    "small_card_path": small_card_path,
    "two_steps": two_steps,
    "validation": validation_tables.summary,
    "validation_default": validation_tables.default_rows,
    "validation_domain": domain_table.domain,
    "validation_misses": validation_tables.misses,
    "validation_published": published_tables.by_group,
    "validation_published_rows": published_tables.every_run,
    "validation_rows": validation_tables.every_row,
    "validation_rules": peer_tables.descriptions,
    "validation_rules_by_method": peer_tables.by_method,
    "validation_rules_errors": peer_tables.errors,
    "validation_rules_published_rows": peer_tables.published_rows,
    "validation_rules_rows": peer_tables.our_rows,
}

CHARTS: Final[dict[str, Callable[..., charts.Chart]]] = {**charts.CHARTS, **FIX_CHARTS, **VALIDATION_CHARTS}
