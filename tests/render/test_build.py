import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import html5lib
import pytest

from sitegen.errors import ContentError, RecordError, StorageError
from sitegen.project import Project, Settings
from sitegen.render import build, checks
from sitegen.render.build import render
from tests.factories import (
    BFLOAT16,
    CHECKPOINTING,
    ENVIRONMENT,
    LORA,
    MACHINE,
    OTHER_ENVIRONMENT,
    OTHER_MACHINE,
    TRAINING,
    record,
    reference_suite,
    scaled,
    write_records,
)

MakeProject = Callable[..., Project]

PAGES = (
    *("index.html", "mesures/index.html", "mesurer-soi-meme/index.html", "donnees/index.html", "404.html"),
    *(f"calculateurs/{name}/index.html" for name in ("vram-entrainement", "vram-inference", "parametres-lora")),
)


def contents(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def home(project: Project) -> str:
    return (project.site / "index.html").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_there_and_are_sound_html(built: Path, page: str) -> None:
    parser = html5lib.HTMLParser(strict=False)
    parser.parse((built / page).read_text("utf-8"))
    assert parser.errors == []


def test_every_record_has_its_page(built: Path) -> None:
    folder = built / "mesures" / MACHINE.slug / ENVIRONMENT.id
    assert len(list(folder.glob("*.html"))) == len(reference_suite()) + 1
    for path in folder.glob("*.html"):
        parser = html5lib.HTMLParser()
        text = path.read_text("utf-8")
        parser.parse(text)
        assert parser.errors == []
        assert text.count("data-chart>") <= 1


def test_two_renders_are_byte_identical(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(reference_suite())
    render(project)
    render(project, tmp_path / "elsewhere" / "site")
    assert contents(project.site) == contents(tmp_path / "elsewhere" / "site")


def test_nothing_of_this_machine_is_in_the_site(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(reference_suite())
    render(project)
    for name, content in contents(project.site).items():
        assert str(tmp_path).encode() not in content, name


def test_a_reason_cannot_break_out_of_the_page(built: Path) -> None:
    pages = [path.read_text("utf-8") for path in built.rglob("*.html")]
    assert any("&lt;script&gt;alert" in page for page in pages)
    assert not any("<script>alert" in page for page in pages)


def test_a_failed_case_is_shown_with_its_reason(built: Path) -> None:
    text = (built / "mesures" / "index.html").read_text("utf-8")
    row = re.search(r"<tr>\s*<th[^>]*><a[^>]*>Entraînement, lot de 16.*?</tr>", text, re.DOTALL)
    assert row is not None
    assert "mémoire insuffisante" in row[0]
    assert row[0].count("aucun chiffre") == 5  # peak, two steps, loading, duration


def test_every_number_of_the_prose_leads_to_what_gives_it(built: Path) -> None:
    links = re.findall(
        r'<a class="fact (\w+)" href="([^"]+)" title="([^"]+)">', (built / "index.html").read_text("utf-8")
    )
    assert {kind for kind, _, _ in links} == {"measured", "quoted", "arithmetic"}
    for kind, href, title in links:
        assert title
        assert (built / href.partition("#")[0]).is_file()
        assert (kind == "measured") == href.startswith(f"mesures/{MACHINE.slug}/")


def test_the_page_follows_a_new_measurement(make_project: MakeProject) -> None:
    records = [scaled(each, 1.3) if each.case == LORA else each for each in reference_suite()]
    project = make_project(records)
    render(project)
    assert "6,54\u00a0Go" in home(project)  # 4800 Mio x 1.3 = 6 543 Mo


def test_false_sentences_are_listed_at_once_and_the_site_stays(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    render(project)
    before = contents(project.site)
    changed = [record(case, net_mib=(6500, 9000)) for case in (LORA, CHECKPOINTING, BFLOAT16)]
    write_records(changed, project.measurements)
    with pytest.raises(ContentError) as caught:
        render(project)
    message = str(caught.value)
    for claim in ("lora_saves", "checkpointing_saves", "bfloat16_saves_less_than_half"):
        assert f"content/accueil.md: {claim} (" in message
    assert "lora_8_peak = 9,44\u00a0Go (was 5,03\u00a0Go)" in message  # 9000 Mio; 4800 Mio before
    assert contents(project.site) == before
    assert [path.name for path in project.root.iterdir() if path.name.startswith(".")] == []


def test_all_that_is_missing_is_listed_with_what_to_measure(make_project: MakeProject) -> None:
    project = make_project([each for each in reference_suite() if each.case != LORA])
    with pytest.raises(ContentError) as caught:
        render(project)
    (line,) = [line for line in str(caught.value).splitlines() if "the case training-lora" in line]
    assert "Measure it: sitegen measure --mode training --method lora --batch-size 8 (" in line  # a case is named once,
    assert re.search(r"needed by the .* in content/accueil\.md and \d+ more\)$", line)  # whoever needs it
    assert not project.site.exists()


def test_a_figure_typed_into_a_page_is_refused(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    page = project.content / "donnees.md"
    page.write_text(page.read_text("utf-8") + "\nIl faut 8 Go.\n", "utf-8")
    with pytest.raises(ContentError, match="« 8 Go » is typed into the prose"):
        render(project)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('{{ fact("nul") }}', "no fact named 'nul'"),
        ('{{ chart("nul") }}', "no chart named 'nul'"),
        ('{{ table("nul") }}', "no table named 'nul'"),
        ('{{ calculator("nul") }}', "no calculator named 'nul'"),
        ('{% claim "nul" %}x{% endclaim %}', "no claim named 'nul'"),
        ('{{ listing("nul.py") }}', "content/fichiers/nul.py does not exist"),
        ("[x](absente.html)", "donnees/index.html: the link absente.html leads nowhere"),
        ("[x](../index.html#absente)", "names an anchor that index.html does not have"),
    ],
)
def test_what_a_page_names_must_exist(make_project: MakeProject, call: str, message: str) -> None:
    project = make_project(reference_suite())
    page = project.content / "donnees.md"
    page.write_text(page.read_text("utf-8") + f"\n{call}\n", "utf-8")
    with pytest.raises(ContentError, match=re.escape(message)):
        render(project)


def test_a_template_that_does_not_exist_is_named(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    page = project.content / "donnees.md"
    page.write_text(page.read_text("utf-8").replace("order =", 'template = "x.html"\norder =', 1), "utf-8")
    with pytest.raises(ContentError, match=r"x\.html"):
        render(project)


def test_the_tracked_file_is_kept_and_the_rest_replaced(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    project.site.mkdir()
    (project.site / "README.md").write_text("kept", "utf-8")
    (project.site / "old.html").write_text("old", "utf-8")
    render(project)
    assert (project.site / "README.md").read_text("utf-8") == "kept"
    assert not (project.site / "old.html").exists()


def test_a_swap_that_fails_leaves_the_former_site(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(reference_suite())
    render(project)
    before = contents(project.site)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self != project.site and target == project.site and "former" not in self.name:
            raise PermissionError(13, "refused")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StorageError, match="site/"):
        render(project)
    assert contents(project.site) == before


def test_a_page_too_heavy_stops_the_build(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(reference_suite())
    monkeypatch.setattr(checks, "MAX_PAGE_BYTES", 1000)
    with pytest.raises(ContentError, match="not sound"):
        render(project)


def test_a_record_changed_by_hand_stops_the_build(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    path = next(project.measurements.glob("*/*/training-lora*.json"))
    path.write_text(path.read_text("utf-8").replace("460800", "460801"), "utf-8")
    with pytest.raises(RecordError, match=path.name):
        render(project)


def test_each_machine_and_version_has_its_own_group(make_project: MakeProject) -> None:
    others = [
        record(TRAINING[1], machine=OTHER_MACHINE),
        record(TRAINING[1], environment=OTHER_ENVIRONMENT),
        record(TRAINING[8], environment=OTHER_ENVIRONMENT, status="failed", reason="no"),
    ]
    project = make_project([*reference_suite(), *others])
    report = render(project)
    assert report.series == f"{MACHINE.slug}/{ENVIRONMENT.id}"
    text = (project.site / "mesures" / "index.html").read_text("utf-8")
    assert text.count('<section aria-labelledby="serie-') == 3
    for other in others:
        assert (project.site / "mesures" / f"{other.key}.html").is_file()


def test_without_an_address_there_is_no_map(built: Path) -> None:
    assert not (built / "sitemap.xml").exists()
    assert 'rel="canonical"' not in (built / "index.html").read_text("utf-8")


def test_with_an_address_pages_say_theirs(make_project: MakeProject) -> None:
    project = make_project(reference_suite(), Settings(url="https://example.org/memoire/"))
    render(project)
    assert '<link rel="canonical" href="https://example.org/memoire/">' in home(project)
    sitemap = (project.site / "sitemap.xml").read_text("utf-8")
    assert "<loc>https://example.org/memoire/mesures/</loc>" in sitemap
    assert "404" not in sitemap
    feed = (project.site / "releves.xml").read_text("utf-8")
    assert feed.count("<entry>") == len(reference_suite()) + 1  # and the first protocol, in content/journal.toml
    assert "Méthode\u00a0: Protocole 1" in feed
    assert f"<id>https://example.org/memoire/mesures/{reference_suite()[0].key}.html</id>" in feed
    assert 'href="https://example.org/memoire/index.html"' in (project.site / "404.html").read_text("utf-8")
    for text in (feed, sitemap):
        ET.fromstring(text)  # noqa: S314  # our own


def test_a_shared_link_shows_a_picture_once_the_site_has_an_address(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    render(project)
    assert "og:image" not in home(project)
    assert (project.site / "apercu.png").is_file()
    project = Project(project.root, Settings(url="https://example.org/memoire", publisher="A. Nonyme"))
    render(project)
    for path in (project.site / "index.html", next((project.site / "mesures").rglob("training*.html"))):
        text = path.read_text("utf-8")
        assert '<meta property="og:image" content="https://example.org/memoire/apercu.png">' in text
        assert '<meta name="description" content="' in text
        citation = re.search(r'<details class="citation">.*?</details>', text, re.DOTALL)
        assert citation
        assert "A. Nonyme. «\u00a0" in citation[0]
        assert "mesures arrêtées au 2\u00a0mars\u00a02026" in citation[0]  # the factory's day
        assert 'href="https://example.org/memoire/' in citation[0]


def test_licences_are_settings_and_those_that_are_known_are_links(make_project: MakeProject) -> None:
    project = make_project(reference_suite(), Settings(text_licence="Licence maison"))
    render(project)
    assert "Texte et figures\u00a0: Licence maison." in home(project)
    assert '<a rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/deed.fr">CC0 1.0</a>' in home(
        project
    )


def test_a_site_of_canada(make_project: MakeProject) -> None:
    project = make_project(reference_suite(), Settings(locale="fr-CA"))
    render(project)
    for path in project.site.rglob("*.html"):
        text = re.sub(r"<pre\b.*?</pre>", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert "\u202f" not in text, path.name
    assert "1\u00a0196\u00a0Mo" in home(project)


def test_the_script_is_published_whole(built: Path) -> None:
    script = (Path(__file__).parents[2] / "content" / "fichiers" / "mesurer_soi_meme.py").read_bytes()
    assert (built / "fichiers" / "mesurer_soi_meme.py").read_bytes() == script
    page = html5lib.parse((built / "mesurer-soi-meme" / "index.html").read_text("utf-8"), namespaceHTMLElements=False)
    listings = ["".join(code.itertext()) for code in page.iter("code")]
    assert script.decode() in listings


def test_the_facts_are_published(built: Path) -> None:
    facts = json.loads((built / "donnees" / "faits.json").read_text("utf-8"))
    assert facts["example_total"] == "132\u00a0Go"


def test_plotly_is_there_once_and_no_page_loads_it(built: Path) -> None:
    (library,) = (built / "assets").glob("plotly.*.js")
    for path in built.rglob("*.html"):
        assert f'src="{library.name}' not in path.read_text("utf-8")
        assert not re.search(r"<script[^>]+plotly", path.read_text("utf-8"))


def test_no_temporary_folder_stays(make_project: MakeProject) -> None:
    project = make_project(reference_suite())
    render(project)
    assert sorted(path.name for path in project.root.iterdir()) == ["content", "measurements", "site"]
    assert build.RenderReport(project.site, 1, 2, "x").message.startswith("Rendered 1 pages from 2 records into site/")


@pytest.mark.parametrize(
    "call",
    [
        "{{ cycler.__init__.__globals__.os.popen('true').read() }}",
        "{{ fact.__globals__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ range(3) }}",
        "{{ fact() }}",
        "{{ 1 / 0 }}",
    ],
)
def test_a_page_reaches_nothing_but_its_calls(make_project: MakeProject, call: str) -> None:
    project = make_project(reference_suite())
    page = project.content / "donnees.md"
    page.write_text(page.read_text("utf-8") + f"\n{call}\n", "utf-8")
    with pytest.raises(ContentError, match=r"content/donnees\.md, about line \d+"):
        render(project)
    assert not project.site.exists()


def test_a_link_among_the_files_to_publish_is_refused(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(reference_suite())
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", "utf-8")
    (project.content / "fichiers" / "fuite.txt").symlink_to(secret)
    with pytest.raises(ContentError, match=r"fuite\.txt is a link"):
        render(project)
