"""What a page may call: facts, claims, tables, charts, calculators, equations, listings; all that is found wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from sitegen.errors import ContentError
from sitegen.memory.formulas import FORMULAS
from sitegen.project import Project
from sitegen.records.model import Record
from sitegen.render import journal
from sitegen.render.calculator import equation, letter
from sitegen.render.calculators import CALCULATORS
from sitegen.render.claims import CLAIMS, Claim
from sitegen.render.data_tables import downloads
from sitegen.render.evidence import MissingFigureError
from sitegen.render.facts import FACTS, Stated, stated
from sitegen.render.formula_blocks import formula_block
from sitegen.render.glossary import Glossary
from sitegen.render.markdown import Marks, Rendered, expand, to_html
from sitegen.render.pages import Source, root_of
from sitegen.render.registry import CHARTS, TABLES
from sitegen.render.series import Series
from sitegen.render.tables import Table, rebased

LISTINGS: Final = "fichiers"
"""The folder of the files that readers download, under content/ and under the site."""
_FACT: Final = Markup('<a class="fact {}" href="{}" title="{}">{}</a>')


@dataclass
class Problems:
    """Everything wrong with the content: all of it is reported at once."""

    missing: dict[str, list[str]] = field(default_factory=dict)
    false: list[str] = field(default_factory=list)
    misused: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise `ContentError` with the whole list, when there is anything in it."""
        parts = []
        if self.misused:
            parts.append("The content names things that do not exist, or types figures:\n" + _bullets(self.misused))
        if self.missing:
            lines = [f"{why} ({_uses(uses)})" for why, uses in self.missing.items()]
            parts.append("The prose needs figures that no record gives:\n" + _bullets(lines))
        if self.false:
            parts.append("The records contradict what the prose says:\n" + _bullets(self.false))
        if parts:
            raise ContentError("\n".join(parts), "Correct the pages, or measure again. The site is left as it was.")


def _uses(uses: list[str]) -> str:
    """Who needs it: the first one by name, the others by their number."""
    others = len(dict.fromkeys(uses)) - 1
    return f"needed by {uses[0]}" + (f" and {others} more" if others else "")


def _bullets(lines: list[str]) -> str:
    """One line each, once each."""
    return "\n".join(f"  - {line}" for line in dict.fromkeys(lines))


class Composer:
    """Turns the text of pages into HTML, for one series of records.

    Args:
        project: whose files are listed.
        series: what the prose speaks of.
        records: all of them.
        templates: the site's own templates.
        former: the facts of the site as it was last built, as French texts, for the messages of false claims.
        glossary: whose terms are linked where they are first met.
    """

    def __init__(
        self,
        project: Project,
        series: Series,
        records: list[Record],
        templates: Environment,
        former: dict[str, str],
        glossary: Glossary | None = None,
    ) -> None:
        self._glossary = glossary or Glossary(())
        self._project = project
        self._records = records
        self._series = series
        self._templates = templates
        self._former = former
        self._facts: dict[str, Stated | MissingFigureError] = {}
        self.problems = Problems()
        self.uses: dict[str, dict[str, list[str]]] = {"fact": {}, "claim": {}}
        """The pages that state each fact and each claim, in order."""

    def render(self, source: Source) -> Rendered:
        """One page's text; what is wrong with its figures goes to `problems`."""
        marks = Marks()
        text = expand(source, self._functions(source, marks))
        return to_html(text, marks, lambda tokens: self._glossary.dress(tokens, source, root_of(source.url_path)))

    def _functions(self, source: Source, marks: Marks) -> dict[str, Callable[..., Any]]:
        """What this page may call."""
        root = root_of(source.url_path)
        return {
            "fact": lambda name: marks.hide(self._fact(name, source, root)),
            "known": lambda name: self._known(name, source),
            "claim": lambda name, caller: self._claim(name, str(caller()), source),
            "table": lambda name: marks.hide(self._table(name, source, root)),
            "chart": lambda name: marks.hide(self._chart(name, source, root)),
            "calculator": lambda name: marks.hide(self._calculator(name, source)),
            "letter": lambda symbol: marks.hide(letter(symbol)),
            "equation": lambda name: marks.hide(self._equation(name, source)),
            "formula": lambda name: marks.hide(self._formula(name, source)),
            "downloads": lambda: marks.hide(self._show(downloads(self._records), root)),
            "journal": lambda: marks.hide(self._show(journal.table(journal.load(self._project.content)), root)),
            "listing": lambda name: marks.hide(self._listing(name)),
            "setting": lambda name: getattr(self._project.settings, name) or "non renseigné",
            "site_address": lambda: self._project.settings.url or "[adresse de la page]",
        }

    def fact(self, name: str) -> Stated | MissingFigureError:
        """A fact, computed once; raises `KeyError` for a name that is not one."""
        if name not in self._facts:
            try:
                self._facts[name] = stated(name, self._series)
            except MissingFigureError as error:
                self._facts[name] = error
        return self._facts[name]

    def _fact(self, name: str, source: Source, root: str) -> Markup:
        """A fact as a link to what gives it."""
        if name not in FACTS:
            return self._unknown("fact", name, source)
        self._use("fact", name, source)
        found = self.fact(name)
        if isinstance(found, MissingFigureError):
            self._missing(f"the fact {name}", found, source)
            return Markup("")
        return _FACT.format(found.kind, root + found.href, found.title, found.text)

    def _known(self, name: str, source: Source) -> bool:
        """Whether the records give a fact: a page may leave out what it says of estimates where nothing is traced."""
        if name not in FACTS:
            return bool(self._unknown("fact", name, source))
        return isinstance(self.fact(name), Stated)

    def _claim(self, name: str, text: str, source: Source) -> Markup:
        """A sentence, whose condition must hold."""
        if name not in CLAIMS:
            self._unknown("claim", name, source)
        else:
            self._use("claim", name, source)
            self._check(name, CLAIMS[name], source)
        return Markup(text)  # noqa: S704  # the page's own Markdown: its marks are already escaped

    def _check(self, name: str, claim: Claim, source: Source) -> None:
        """Note a condition that does not hold, with the values that it had and has."""
        facts = [self.fact(each) for each in claim.facts]
        for fact in facts:
            if isinstance(fact, MissingFigureError):
                self._missing(f"the claim {name}", fact, source)
                return
        known = [fact for fact in facts if isinstance(fact, Stated)]
        if not claim.holds(*(fact.value for fact in known)):
            values = ", ".join(f"{fact.name} = {fact.text}{self._was(fact)}" for fact in dict.fromkeys(known))
            self.problems.false.append(f"content/{source.name}: {name} ({claim.condition}): {values}")

    def _was(self, fact: Stated) -> str:
        """What the site said of a fact when it was last built."""
        former = self._former.get(fact.name)
        return f" (was {former})" if former and former != fact.text else ""

    def _table(self, name: str, source: Source, root: str) -> Markup:
        """A table of the series."""
        if name not in TABLES:
            return self._unknown("table", name, source)
        try:
            table = TABLES[name](self._series)
        except MissingFigureError as error:
            self._missing(f"the table {name}", error, source)
            return Markup("")
        return self._show(table, root)

    def _show(self, table: Table, root: str) -> Markup:
        """A table on a page whose way back is `root`."""
        return self._macro("_table.html", "table", rebased(table, root))

    def _chart(self, name: str, source: Source, root: str) -> Markup:
        """A chart of the series."""
        if name not in CHARTS:
            return self._unknown("chart", name, source)
        try:
            chart = CHARTS[name](self._series)
        except MissingFigureError as error:
            self._missing(f"the chart {name}", error, source)
            return Markup("")
        return self._macro("_chart.html", "chart", replace(chart, table=rebased(chart.table, root)))

    def _calculator(self, name: str, source: Source) -> Markup:
        """A calculator."""
        if name not in CALCULATORS:
            return self._unknown("calculator", name, source)
        return self._macro("_calculator.html", "calculator", CALCULATORS[name]())

    def _equation(self, name: str, source: Source) -> Markup:
        """A formula of the memory model, laid out."""
        return equation(name) if name in FORMULAS else self._unknown("equation", name, source)

    def _formula(self, name: str, source: Source) -> Markup:
        """A formula that stands alone, with its legend."""
        return formula_block(name) if name in FORMULAS else self._unknown("formula", name, source)

    def _listing(self, name: str) -> Markup:
        """A file that readers download, shown whole."""
        path = self._project.content / LISTINGS / name
        if not path.is_file():
            raise ContentError(f"content/{LISTINGS}/{name} does not exist.", "Add the file, or correct the name.")
        return Markup('<pre tabindex="0"><code class="language-python">{}</code></pre>').format(path.read_text("utf-8"))

    def _macro(self, template: str, macro: str, argument: object) -> Markup:
        """The HTML of one macro of the templates."""
        module: Any = self._templates.get_template(template).module
        return Markup(getattr(module, macro)(argument))  # noqa: S704  # templates escape

    def _use(self, kind: str, name: str, source: Source) -> None:
        """Note that a page states it."""
        pages = self.uses[kind].setdefault(name, [])
        if source.name not in pages:
            pages.append(source.name)

    def _missing(self, what: str, error: MissingFigureError, source: Source) -> None:
        """Note a figure that no record gives."""
        uses = self.problems.missing.setdefault(f"{error.what}. {error.remedy}", [])
        uses.append(f"{what} in content/{source.name}")

    def _unknown(self, kind: str, name: str, source: Source) -> Markup:
        """Note a name that is not one of ours."""
        self.problems.misused.append(f"content/{source.name}: there is no {kind} named {name!r}")
        return Markup("")
