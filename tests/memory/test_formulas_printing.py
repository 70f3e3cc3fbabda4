"""What sympy prints of the formulas: in the order in which they are written, whatever the run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sitegen.memory.formulas import FORMULAS, printing
from sitegen.memory.formulas.symbols import SYMBOLS

ROOT = Path(__file__).parents[2]
MATHML = "{http://www.w3.org/1998/Math/MathML}"


def test_the_printed_forms_of_one_formula() -> None:
    assert printing.on_one_line("lora_parameters") == "P_a = r × (d_e + d_s)"
    assert printing.in_words("lora_parameters") == (
        "paramètres de l’adaptateur = rang × (dimension d’entrée + dimension de sortie)"
    )
    script = printing.javascript(["lora_parameters"])
    assert "lora_parameters: (rank, inputs, outputs) => rank*(inputs + outputs)," in script


def test_the_order_in_which_a_formula_is_written_is_kept() -> None:
    assert printing.on_one_line("fixed_bill") == "F = 4 × P × O"
    assert printing.on_one_line("korthikanti_bytes") == "A = s × b × L × (34 × h + 5 × H × s)"
    text = "".join(ET.fromstring(printing.mathml("fixed_bill")).itertext())  # noqa: S314  # our own text
    assert text == "F=4×P×O"


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_is_well_formed_mathml_with_its_words(name: str) -> None:
    element = ET.fromstring(printing.mathml(name))  # noqa: S314  # our own text
    assert element.tag == f"{MATHML}math"
    assert element.attrib["alttext"] == printing.in_words(name)
    assert "," not in "".join(element.itertext())


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_has_a_source_and_letters_of_its_own(name: str) -> None:
    formula = FORMULAS[name]
    letters = [SYMBOLS[key].letter for key in formula.inputs]
    assert formula.source
    assert len(set(letters)) == len(letters)
    assert formula.result.letter not in letters


def test_a_legend_says_what_each_letter_is() -> None:
    assert printing.legend("model_gb") == (
        ("M", "modèle et états (Go)"),
        ("N", "paramètres, en milliards"),
        ("B", "octets par paramètre"),
    )


def test_values_need_no_sympy() -> None:
    script = (
        "import sys; from sitegen.memory import formulas as f;"
        "f.nf4_bytes(65), f.training_peak(1, 2, 3, 4, 5, 6), f.kv_windowed_bytes(1, 2, 3, 4, 5, 6, 7, 8);"
        "print('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_two_runs_print_the_same() -> None:
    script = (
        "from sitegen.memory.formulas import FORMULAS, printing as p;"
        "print(p.javascript(FORMULAS), *(p.mathml(n) + p.in_words(n) for n in FORMULAS))"
    )
    prints = {
        hashlib.sha256(
            subprocess.run(
                [sys.executable, "-c", script],
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
                capture_output=True,
                check=True,
            ).stdout
        ).hexdigest()
        for seed in ("1", "2")
    }
    assert len(prints) == 1
