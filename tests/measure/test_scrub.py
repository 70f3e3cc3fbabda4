"""Nothing personal in a record: the tests plant what must not come through."""

from __future__ import annotations

import getpass
import socket
from pathlib import Path

import pytest

from sitegen.measure.scrub import scrubbed


@pytest.fixture(autouse=True)
def _someone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "mdupont")
    monkeypatch.setattr(socket, "gethostname", lambda: "tour-de-marie.local")
    monkeypatch.setattr(Path, "home", classmethod(lambda _cls: Path("/home/mdupont")))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("cannot open /home/mdupont/thèse/model.safetensors: denied", "cannot open …/model.safetensors: denied"),
        ('File "/opt/venv/lib/python3.11/site-packages/torch/nn.py", line 3', 'File "…/nn.py", line 3'),
        ("at C:\\Users\\mdupont\\modele.bin", "at …/modele.bin"),
        ("file:///srv/prive/poids.bin", "…/poids.bin"),
        ("on tour-de-marie.local by mdupont", "on <host> by <user>"),
        ("tour-de-marie said no", "<host> said no"),
        ("mdupont's quota", "<user>'s quota"),
    ],
)
def test_paths_users_and_hosts_are_taken_out(said: str, kept: str) -> None:
    assert scrubbed(said) == kept


def test_a_home_that_is_the_root_hides_nothing_from_the_scrubber(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", classmethod(lambda _cls: Path("/")))
    assert scrubbed("OSError: /data/alice/secret/model.safetensors") == "OSError: …/model.safetensors"


@pytest.mark.parametrize(
    "said",
    [
        "RuntimeError: shape (8, 256) / 2 is not 3",
        "see HuggingFaceTB/SmolLM2-135M-Instruct",
        "and/or",
        "mduponts is another word",
        "12.5 MiB/s",
    ],
)
def test_what_is_not_personal_stays(said: str) -> None:
    assert scrubbed(said) == said
