"""Packs: what is read of a folder, what is refused and where, which are active, and what their hash moves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline import normalise, packs
from pipeline.config import read_settings
from pipeline.lexicon import catalogues, vocabulary
from pipeline.lexicon.added_classes import DOMAINS
from pipeline.lexicon.code_families import Catalogue
from pipeline.lexicon.products import products
from pipeline.normalise.tables import wording
from pipeline.packs import table as tables_of
from pipeline.packs.folder import HEADER
from pipeline.run.build import planning
from pipeline.run.check import proving
from tests.cli import run
from tests.each import each

HEAD = 'name = "{name}"\ntitle = "Kiln"\nversion = "1"\nsummary = "A kiln."\n'
ROW = """
[[row]]
name = "{name}"
pattern = 'kiln \\d{{1,4}} is cold'
examples = ["kiln 12 is cold"]
lookalikes = ["kiln is cold"]
"""


class Line(packs.Row):
    """A row of the tests' table."""

    pattern: packs.Expression


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a pack, gives its folder."""

    def written(name: str = "kiln", **files: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / HEADER).write_text(HEAD.format(name=name))
        for stem, text in files.items():
            (folder / f"{stem}.toml").write_text(text)
        return folder

    return written


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[packs.Table[Line]]:
    """A table `lines` of its own, whoever else reads one, without what ships."""
    monkeypatch.setattr(tables_of, "_KNOWN", {})
    shipped = tuple(replace(pack, held=()) for pack in packs.active().packs)
    chosen, usual = import_module("pipeline.packs.active"), packs.Active(shipped)
    monkeypatch.setattr(chosen, "_shipped", lambda: shipped)
    monkeypatch.setattr(chosen, "_usual", lambda: usual)
    packs.activate()
    yield packs.Table("lines", Line)
    monkeypatch.undo()
    packs.activate()


def _written(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("")


def _problems(folder: Path, table: packs.Table[Line]) -> list[tuple[int | None, str]]:
    with pytest.raises(packs.PackError) as raised, packs.using(folder):
        table.rows()
    assert raised.value.exit_code == 2
    assert raised.value.hint()
    return [(one.line, one.message) for one in raised.value.problems]


def test_a_pack_is_read_with_its_header_and_its_rows(write: Write, lines: packs.Table[Line]) -> None:
    with packs.using(write(lines=ROW.format(name="cold") + ROW.format(name="colder"))) as active:
        assert [pack.name for pack in active.added] == ["kiln"]
        mine = [row for row in lines.rows() if row.place.pack == "kiln"]
        assert [(row.name, row.place.number, row.place.line) for row in mine] == [("cold", 1, 2), ("colder", 2, 8)]
        assert packs.compiled(mine[0].pattern).search("kiln 3 is cold")
    assert not [row for row in lines.rows() if row.place.pack == "kiln"]


def test_rows_come_pack_by_pack_whatever_order_the_packs_are_named_in(write: Write, lines: packs.Table[Line]) -> None:
    one, two = write("oven", lines=ROW.format(name="a")), write("kiln", lines=ROW.format(name="b"))
    with packs.using(one, two):
        first = [row.place.pack for row in lines.rows()]
    with packs.using(two, one):
        assert [row.place.pack for row in lines.rows()] == first
    assert first[:2] == ["kiln", "oven"]  # those that ship come behind


def test_a_table_may_be_a_folder_of_files(write: Write, lines: packs.Table[Line]) -> None:
    folder = write(lines=ROW.format(name="a"))
    (folder / "lines").mkdir()
    for name, row in (("2-old", "b"), ("1-new", "c")):
        (folder / "lines" / f"{name}.toml").write_text(ROW.format(name=row))
    with packs.using(folder) as active:
        mine = [row for row in lines.rows() if row.place.pack == "kiln"]
        assert [(row.name, row.place.path.name, row.place.number) for row in mine] == [
            ("a", "lines.toml", 1), ("c", "1-new.toml", 2), ("b", "2-old.toml", 3)
        ]  # fmt: skip
        assert active.digest(packs.Stage.EVENTS) != ""
    (folder / "lines" / "2-old.toml").write_text(ROW.format(name="a"))
    assert _problems(folder, lines) == [(2, "row 'a': a row of that name stands in line 2 of lines.toml already")]
    (folder / "lines" / "codes.json").write_text("{}")
    with pytest.raises(packs.PackError, match="no file of lines/"):
        packs.reading([folder])


def test_a_pack_that_ships_can_be_left_out(write: Write, tmp_path: Path) -> None:
    (tmp_path / "errmine.toml").write_text('[fields]\npacks = ["-ml", "./kiln"]\n')
    write()
    settings = read_settings(tmp_path / "errmine.toml", home=tmp_path / "home")
    with packs.using(*settings.pack_folders) as active:
        assert [pack.name for pack in active.added] == ["kiln"]
        assert "ml" not in {pack.name for pack in active.packs}
        assert [row["name"] for row in active.told()] == ["kiln", "-ml"]
        assert packs.reading(active.folders) == active  # what a worker is given
        assert active.digest(packs.Stage.ENTRIES) not in ("", packs.reading(["-python"]).digest(packs.Stage.ENTRIES))
    assert "ml" in {pack.name for pack in packs.active().packs}
    with pytest.raises(packs.PackError, match="no pack of that name comes with errmine"):
        packs.reading(["-kiln"])
    write("oven").rename(tmp_path / "-ml")
    assert [pack.name for pack in packs.reading([tmp_path / "-ml"]).added] == ["oven"]


SHIPPED = [pack.name for pack in packs.active().packs]


@pytest.mark.long
@each("name", SHIPPED)
def test_the_others_go_together_without_one_that_ships(name: str) -> None:
    proving.read_rooms()
    with packs.using(f"-{name}") as active:
        assert packs.together() == []
        left = {row.name for row in DOMAINS.rows()} | {"other", "python", "cpp", "java", "javascript"}
        assert vocabulary.ids("domains") == left
        assert name not in {row.place.pack for table in packs.tables() for row in table.rows()}
        assert len(active.packs) == len(SHIPPED) - 1


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (ROW.format(name="cold").replace("cold'", "cold('"), 4, "row 'cold': pattern: no regular expression"),
        (ROW.format(name="cold") + "patern = 'x'\n", 7, "row 'cold': patern: Extra inputs"),
        (ROW.format(name="cold").replace("lookalikes", "#"), 2, "row 'cold': lookalikes: Field required"),
        (ROW.format(name="cold").replace('["kiln 12 is cold"]', "[]"), 5, "row 'cold': examples: Tuple should have"),
        (ROW.format(name="Cold one"), 3, "row 'Cold one': name: String should match"),
        (ROW.format(name="cold") + ROW.format(name="cold"), 8, "row 'cold': a row of that name stands in line 2"),
        (ROW.format(name="cold").replace("'\n", "\n"), 4, "not valid TOML"),
        ("[[rows]]\nname = 'x'\n", 1, "no row"),
        ("x = '''\n[[row]]\n'''\n" + ROW.format(name="cold"), 1, "no row"),
        ("# '''\n" + ROW.format(name="cold").replace("cold'", "cold('"), 5, "row 'cold': pattern"),
        (ROW.format(name="cold").replace("pattern = '", "pattern = '" + "a?" * 1200), 4, "row 'cold': pattern: longer"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(
    write: Write, lines: packs.Table[Line], text: str, line: int, told: str
) -> None:
    [(found, message)] = _problems(write(lines=text), lines)
    assert found == line
    assert message.startswith(told)


def test_all_bad_rows_are_named_at_once(write: Write, lines: packs.Table[Line]) -> None:
    text = "".join(ROW.format(name=f"row-{n}").replace("pattern", "patern") for n in range(8))
    assert len(_problems(write(lines=text), lines)) == 16  # an unknown key and a missing one each


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / HEADER).unlink(), "no pack: there is no pack.toml"),
        (lambda folder: (folder / HEADER).write_text(HEAD.format(name="No Name")), "pack.toml:1: name"),
        (lambda folder: (folder / HEADER).write_text(HEAD.format(name="k") + "colour = 1\n"), "pack.toml:5: colour"),
        (lambda folder: (folder / HEADER).write_text(HEAD.format(name="ml")), "the name of another pack too"),
        (lambda folder: (folder / "line.toml").write_text(""), "line.toml: no file of a pack"),
        (lambda folder: (folder / "lines.toml").write_bytes(b"\xff\xfe"), "not UTF-8"),
        (lambda folder: (folder / HEADER).write_bytes(b'name = "kiln"\ntitle = "\xff"\n'), "pack.toml:2: not UTF-8"),
        (lambda folder: _written(folder / "codes" / "kiln.toml"), "kiln.toml: no file of codes/"),
    ],
)
def test_a_folder_that_is_no_pack_is_refused(
    write: Write, lines: packs.Table[Line], spoil: Callable[[Path], object], told: str
) -> None:
    folder = write()
    spoil(folder)
    with pytest.raises(packs.PackError, match=told), packs.using(folder):
        lines.rows()
    assert not packs.active().added


def test_what_was_worked_out_of_rows_is_forgotten_when_other_packs_are_activated(
    write: Write, lines: packs.Table[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(lines=ROW.format(name="cold"))
    count = packs.cached(lambda: len(lines.rows()))
    monkeypatch.setattr(catalogues, "count", count, raising=False)  # what keeps something is a function of a module
    before = count()
    with packs.using(folder):
        assert count() == before + 1
        (folder / "lines.toml").write_text(ROW.format(name="cold") + ROW.format(name="colder"))
        assert count() == before + 1  # as it was when it was activated
        packs.activate([folder])
        assert count() == before + 2
    assert count() == before


def test_only_what_reads_texts_moves_the_normaliser_and_the_shards(write: Write) -> None:
    stages = (packs.Stage.EVENTS, packs.Stage.CLAIMS)
    assert packs.marked(normalise.NORMALISER_VERSION) == normalise.NORMALISER_VERSION
    assert packs.active().digest(*packs.Stage) == ""
    seen = []
    for files in ({}, {"domains": "#"}, {"domains": "# x"}, {"cues": "#"}, {"lines": "#"}, {"lines": "# x"}):
        with packs.using(write(**files)) as active:
            seen.append((packs.marked(normalise.NORMALISER_VERSION), active.digest(*stages), active.added[0].sha256))
        for stem in files:
            (active.added[0].folder / f"{stem}.toml").unlink()
    versions, digests, hashes = zip(*seen, strict=True)
    assert versions[:4] == (normalise.NORMALISER_VERSION,) * 4  # what is said, and how it is filed, moves no signature
    assert digests[:3] == ("", "", "")
    assert len(set(versions)) == 3
    assert len(set(digests)) == 4
    assert len(set(hashes)) == 6


def test_a_worker_refuses_a_pack_that_was_changed_meanwhile(write: Write) -> None:
    folder = write(lines="# one\n")
    stages = (packs.Stage.EVENTS,)
    with packs.using(folder) as active:
        wanted = pickle.loads(pickle.dumps((active.folders, active.digest(*stages))))
        packs.activated(*wanted, *stages)
        (folder / "lines.toml").write_text("# two\n")
        with pytest.raises(packs.PackError, match="changed while it was in use"):
            packs.activated(*wanted, *stages)


def test_the_packs_of_before_come_back_as_they_were(write: Write) -> None:
    folder, other = write(lines="# one\n"), write("oven")
    with packs.using(folder) as before:
        with packs.using(other):
            (folder / "lines.toml").unlink()
            (folder / HEADER).unlink()
        assert packs.active() == before


@pytest.mark.parametrize("name", ["lines.toml", "codes/kiln.json", HEADER])
def test_brackets_without_end_are_refused(write: Write, name: str) -> None:
    folder = write()
    (folder / "codes").mkdir()
    (folder / name).write_text(("" if name.endswith("json") else "x = ") + "[" * 200_000)
    with pytest.raises(packs.PackError, match=f"{name}.*brackets within brackets"), packs.using(folder) as active:
        packs.check(active.added)


def test_of_two_packs_that_know_a_name_the_first_one_counts(write: Write) -> None:
    product = (
        "[[row]]\nname = 'p'\nproduct = '{0}'\nspellings = ['klin']\nexamples = ['klin 1.4']\nlookalikes = ['k']\n"
    )
    renamed = "[[row]]\nname = 'r'\nnow = '{0}'\nwas = ['ColdError']\nexamples = ['ColdError']\nlookalikes = ['k']\n"
    folders = [
        write(name, products=product.format(name), equivalences=renamed.format(f"{name}Error"))
        for name in ("kiln", "oven")
    ]
    for order in (folders, folders[::-1]):
        with packs.using(*order):
            assert products()["klin"] == "kiln"
            assert wording().types["ColdError"] == "kilnError"


@each("family", sorted(catalogues.own_families()))
def test_a_pack_takes_no_family_that_errmine_reads_itself(family: str) -> None:
    with pytest.raises(ValidationError, match="reads itself"):
        Catalogue.model_validate(
            {
                "name": family,
                "signs": ["kln"],
                "printed": ["(KLN)"],
                "open": True,
                "examples": ["KLN"],
                "lookalikes": ["K"],
            }
        )


def test_settings_name_packs_relative_to_their_file(write: Write, tmp_path: Path) -> None:
    folder = write()
    (tmp_path / "errmine.toml").write_text('[fields]\npacks = ["./kiln"]\n')
    found = read_settings(tmp_path / "errmine.toml", home=tmp_path / "home")
    assert [path.resolve() for path in found.pack_folders] == [folder.resolve()]


def test_an_installed_pack_is_found_and_nothing_of_it_is_run(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write("acme_kiln")
    (folder / "__init__.py").write_text("raise SystemExit('run')\n")
    written = tmp_path / "acme-1.0.dist-info"
    written.mkdir()
    (written / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (written / "entry_points.txt").write_text("[errmine.packs]\nkiln = acme_kiln\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert packs.installed() == (folder,)
    (written / "entry_points.txt").write_text("[errmine.packs]\nkiln = acme_oven\n")
    with pytest.raises(packs.PackError, match="acme names acme_oven"):
        packs.installed()
    assert metadata.version("acme") == "1.0"


def test_every_pack_that_ships_can_be_read() -> None:
    assert "ml" in [pack.name for pack in packs.active().packs]
    packs.check(packs.active().packs)


@pytest.mark.long
def test_the_expressions_of_packs_that_ship_are_sound_though_they_are_compiled_when_first_used() -> None:
    for table in packs.tables():
        for row in table.rows():
            table.row.model_validate(row.model_dump(by_alias=True, exclude_unset=True))


def test_a_partition_of_the_same_pages_has_another_name_with_another_pack(write: Write, sample_home: Path) -> None:
    def names() -> list[str]:
        return [one.name for one in planning.plan(sample_home / "raw", partition_documents=500)]

    before = names()
    with packs.using(write(domains="#")):
        assert names() == before
    with packs.using(write(lines="#")):
        assert not set(names()) & set(before)
    assert names() == before


@pytest.mark.long
def test_a_pack_that_ships_is_proven_as_any_other_and_is_active_once() -> None:
    (ruby,) = [pack for pack in packs.active().packs if pack.name == "ruby"]
    done = run("pack", "test", ruby.folder, ruby.folder.parent / "elixir")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("ruby: sound; rows: ")
    assert not packs.active().added


def test_nothing_is_kept_of_families_that_only_a_text_names() -> None:
    assert [catalogues.entry(f"kiln{number}:BURNT") for number in range(3)] == [None] * 3
    caches = [one for one in vars(catalogues).values() if hasattr(one, "cache_info")]
    before = sum(one.cache_info().currsize for one in caches)
    assert [catalogues.entry(f"oven{number}:BURNT") for number in range(3)] == [None] * 3
    assert sum(one.cache_info().currsize for one in caches) == before


def test_the_folder_of_a_pack_that_ships_has_its_name() -> None:
    assert [pack.folder.name for pack in packs.active().packs] == [pack.name for pack in packs.active().packs]
