"""The function that tells an error from others of the same words: how it is named, and where an entry shows it."""

from __future__ import annotations

from dataclasses import replace

from pipeline import cluster, normalise
from pipeline.ask import read
from pipeline.records import Event, Frame, Severity, Signature, Template
from pipeline.text.frames import frame_key, innermost, named_by, parted, place
from pipeline.text.sentences import bare, titled
from pipeline.translate.assembly import entry
from tests.each import each
from tests.test_translate import draft


@each(
    "frame, named",
    [
        ("kiln:(unknown)", ""),
        ("kiln:unknown", ""),
        ("Kiln:org.kiln.server.Kiln.getFires", "Kiln.getFires"),
        ("Kiln:org.kiln.server.Kiln$Door.<init>", "Kiln$Door"),
        ("?:org.kiln.Kiln.heat", "Kiln.heat"),
        ("fire:heat", "fire.heat"),
        ("door:kiln/fire.(*Door).Open", "fire.(*Door).Open"),
        ("door:main.open", "main.open"),
        ("libkiln:kiln::Door::open(kiln::Key const&, int)", "kiln::Door::open"),
        ("libkiln:kiln_open (key=0x1)", "kiln_open"),
        ("libkiln:void kiln::each<kiln::Door>(int)", ""),
        ("<stdin>:<module>", ""),
        ("kiln:?", ""),
        ("", ""),
    ],
)
def test_a_function_is_named_as_people_name_it(frame: str, named: str) -> None:
    assert place(frame) == named


@each(
    "name, seen",
    [
        ("org.kiln.server.furnaces.burners.management.BurnerManager.lightFirst", "BurnerManager.lightFirst"),
        ("example.org/kiln/kiln/furnaces/burners/management/burners.(*Manager).Light", "burners.(*Manager).Light"),
        (
            "kiln::(anonymous namespace)::lightTheFirstBurner(kiln::Burner const&, int)",
            "kiln::(anonymous namespace)::l",
        ),
    ],
)
def test_of_a_long_name_the_part_is_seen_that_tells_it_from_others(name: str, seen: str) -> None:
    assert seen in frame_key([Frame("Kiln.java", 7, name)])


@each(
    "function, written",
    [
        ("org.kiln.Kiln.lambda$heat$0", "org.kiln.Kiln.heat"),
        ("org.kiln.Kiln.lambda$new$1", "org.kiln.Kiln.<init>"),
        ("org.kiln.Kiln.$anonfun$heat$1", "org.kiln.Kiln.heat"),
        ("org.kiln.KilnKt$heat$1.invokeSuspend", "org.kiln.KilnKt.heat"),
        ("Kiln.Fire.<Heat>d__3.MoveNext", "Kiln.Fire.Heat"),
        ("Kiln.Fire+<Heat>d__3.MoveNext", "Kiln.Fire.Heat"),
        ("Kiln.Fire.<>c__DisplayClass3_0.<Heat>b__0", "Kiln.Fire.Heat"),
        ("Kiln.Fire.<Heat>g__Light|3_0", "Kiln.Fire.Heat"),
        ("Program.<Main>$", "Program.Main"),
        # look-alikes
        ("org.kiln.Kiln.lambda$null$3", "org.kiln.Kiln.lambda$null$3"),
        ("org.kiln.Kiln$Door.<init>", "org.kiln.Kiln$Door.<init>"),
        ("org.kiln.Kiln$1.run", "org.kiln.Kiln$1.run"),
        ("Kiln.Fire.MoveNext", "Kiln.Fire.MoveNext"),
        ("std::vector<int>::at", "std::vector<int>::at"),
    ],
)
def test_a_body_that_a_compiler_moved_is_in_the_function_where_it_is_written(function: str, written: str) -> None:
    assert named_by(Frame("Kiln.java", 7, function)) == f"Kiln:{written}"


@each(
    "function",
    [
        "org.kiln.Kiln.access$300",
        "org.kiln.Kiln.access$heat",
        "org.kiln.Kiln$$FastClassBySpringCGLIB$$1a2b.invoke",
        "org.kiln.Kiln$$EnhancerBySpringCGLIB$$1a2b.heat",
        "org.kiln.Kiln$$Lambda$14/0x00.run",
    ],
)
def test_what_a_compiler_or_a_proxy_puts_between_two_functions_is_no_place(function: str) -> None:
    shown = Frame("Kiln.java", 7, "org.kiln.Kiln.heat")
    assert innermost([shown, Frame("Kiln.java", 1, function)]) == "Kiln:org.kiln.Kiln.heat"
    kept = Frame("Kiln.java", 1, "org.kiln.Kiln.access")
    assert innermost([shown, kept]) == "Kiln:org.kiln.Kiln.access"


def _kept(*frames: tuple[str | None, str | None], project: str = "") -> str:
    """The last function of the key of frames, given as file and function, the outermost first."""
    return frame_key([Frame(file, 1, function) for file, function in frames], project).rpartition(" > ")[2]


@each(
    "why, frames, last",
    [
        (
            "a framework of the JVM called it, a class of Java raised it",
            [
                ("DispatcherServlet.java", "org.springframework.web.servlet.DispatcherServlet.doDispatch"),
                ("Kiln.java", "org.kiln.Kiln.heat"),
                ("HashMap.java", "java.util.HashMap.merge"),
            ],
            "Kiln:org.kiln.Kiln.heat",
        ),
        (
            "a script's own level called what is installed",
            [("/srv/kiln.py", "<module>"), ("/opt/lib/python3.11/site-packages/fire/core.py", "heat")],
            "kiln:<module>",
        ),
        (
            "nothing but what is installed, and the language's own",
            [
                ("/opt/lib/python3.11/site-packages/fire/core.py", "heat"),
                ("/usr/lib/python3.11/subprocess.py", "run"),
            ],
            "core:heat",
        ),
        (
            "PHP prints the function that a line calls",
            [
                ("/srv/app/Http/Fires.php", "App\\Kiln->heat"),
                ("/srv/app/Kiln.php", "PDOStatement->execute"),
            ],
            "Kiln:App\\Kiln->heat",
        ),
        (
            "a function without a name, and the one around it",
            [("/srv/fire.js", "heat"), ("/srv/fire.js", None), (None, "Array.map")],
            "fire:heat",
        ),
        ("the same without a function", [("./src/fire.rs", "kiln::heat"), ("src/fire.rs", None)], "fire:kiln::heat"),
        ("no files", [(None, "Kiln.Main"), (None, "Kiln.Fires.Heat")], "?:Kiln.Fires.Heat"),
        ("a function without a name", [("/srv/main.js", "main"), ("/srv/fire.js", None)], "fire:?"),
        ("one of Go's own", [("main.go", "main.main"), ("/usr/local/go/src/net/net.go", "net.Dial")], "main:main.main"),
        ("a debugger's arguments", [("fire.c", "heat (kiln=0x1, at=3)")], "fire:heat"),
        # look-alikes
        ("names like those of libraries", [("net.go", "kiln.org/net.Heat")], "net:kiln.org/net.Heat"),
        ("a place of a compiler", [("fire.c", None)], ""),
        ("a script's own level that called nothing", [("/srv/kiln.py", "<module>")], ""),
    ],
)
def test_the_last_function_of_a_key_is_the_programs_own(
    why: str, frames: list[tuple[str | None, str | None]], last: str
) -> None:
    assert _kept(*frames) == last, why


def test_the_installed_package_of_the_project_that_is_reported_is_its_own() -> None:
    frames = [("/srv/main.py", "main"), ("/opt/lib/python3.11/site-packages/kiln/fire.py", "heat")]
    assert _kept(*frames) == "main:main"
    assert _kept(*frames, project="kiln_python") == _kept(*frames, project="kiln") == "fire:heat"
    assert _kept(*frames, project="kilns") == "main:main"


def test_two_functions_of_one_long_package_are_two_places() -> None:
    package = "org.kiln.server.furnaces.burners.management.internal.BurnerManager"
    first, second = (_null(f"{package}.{name}") for name in ("light", "quench"))
    assert first.text == second.text == "NullPointerException"
    assert first.signature_id != second.signature_id


def _null(function: str) -> Signature:
    text = (
        f"java.lang.NullPointerException\n\tat {function}(BurnerManager.java:7)\n\tat org.kiln.Main.main(Main.java:3)"
    )
    (event,) = read(text).errors
    return normalise.signature(event, text)


def test_what_is_put_behind_a_message_is_taken_off_again() -> None:
    for several in (False, True):
        told = titled("NullPointerException", place="fire.(*Door).Open", is_one_of_several=several)
        assert bare(told) == "NullPointerException"
    assert bare("no clay (in the shed)") == "no clay (in the shed)"
    assert titled("no clay") == "no clay"


def test_an_entry_says_where_in_both_languages() -> None:
    given = draft(text="No such file or directory", exception_type=None)
    plain, told = entry(given, entry_id="a/b"), entry(replace(given, place="Kiln.heat"), entry_id="a/b")
    assert plain.signature_zh is not None
    assert told.signature == f"{plain.signature} (in Kiln.heat)"
    assert told.signature_zh == f"{plain.signature_zh.removesuffix('。')}（位于 Kiln.heat）。"


# ------------------------------------------------------- values that a library checks, and reports without a stack

NUMPY = Frame("/usr/lib/python3/dist-packages/numpy/core/numeric.py", 7, "asarray")
SHAPES = "could not broadcast input array from shape (3) into shape (4)"


def _checked(*frames: Frame, project: str = "potter/kiln") -> Signature:
    return normalise.signature(_raised("ValueError", SHAPES, frames), project=project)


def _raised(kind: str, words: str, frames: tuple[Frame, ...]) -> Event:
    return Event(
        "python", kind, words, words, frames, (), (), 0, len(words), is_truncated=False, severity=Severity.ERROR
    )


def _place(found: Signature) -> str:
    return dict(found.gate).get("place", "")


@each(
    "caller, where",
    [
        (Frame("/srv/kiln/fire.py", 3, "heat"), "kiln/fire:heat"),
        (Frame("/usr/lib/python3/site-packages/oven/fire.py", 3, "heat"), "oven/fire:heat"),
        (Frame("/usr/lib/python3/site-packages/oven/fire.py", 3, "__init__"), "oven/fire:init"),
        (Frame("/usr/lib/python3/site-packages/oven/__init__.py", 3, "heat"), "oven/init:heat"),
    ],
)
def test_who_hands_values_to_the_library_that_checks_them_is_the_place(caller: Frame, where: str) -> None:
    found = _checked(caller, NUMPY)
    assert _place(found) == where
    assert normalise.is_arisen(found)
    assert normalise.is_named(found)


def test_where_only_the_library_is_shown_the_project_is_the_place() -> None:
    assert _place(_checked(NUMPY)) == _place(_checked()) == "kiln"


def test_a_place_is_told_in_two_parts() -> None:
    assert parted("kiln/fire:heat") == ("kiln", "fire:heat")
    assert parted("door:kiln/fire.Open") == ("", "door:kiln/fire.Open")
    assert parted("kiln") == ("kiln", "")


def _grouped(*found: Signature) -> dict[str, tuple[str, str, str]]:
    """Of each place the cluster, the rule and the explanation."""
    templates = [
        Template(
            one.signature_id,
            one.exception_type,
            one.text,
            one.gate,
            one.is_gate_complete,
            False,
            1,
            f"2024-01-{day:02}",
        )
        for day, one in enumerate(found, 1)
    ]
    where = {one.signature_id: _place(one) for one in found}
    made = cluster.partition(templates)
    return {where[one.signature_id]: (one.cluster_id, one.rule, one.explanation) for one in made.assignments}


def test_a_report_without_a_stack_is_one_error_with_the_only_place_of_its_project_until_there_is_a_second() -> None:
    bare, heat = _checked(), _checked(Frame("/srv/kiln/fire.py", 3, "heat"), NUMPY)
    dry, other = _checked(Frame("/srv/kiln/clay.py", 3, "dry"), NUMPY), _checked(project="potter/oven")
    together = _grouped(heat, bare, other)
    assert together["kiln"][0] == together["kiln/fire:heat"][0] != together["oven"][0]
    assert together["kiln"][1] == "place"
    assert "until one arises elsewhere" in together["kiln"][2]
    apart = _grouped(heat, bare, dry)
    assert len({one[0] for one in apart.values()}) == 3
    script = _checked(Frame("/home/potter/try.py", 3, "<module>"), NUMPY)
    assert len({one[0] for one in _grouped(script, bare).values()}) == 2


def test_files_that_nobody_sees_are_not_told_to_be_one() -> None:
    lost = "[Errno 2] No such file or directory: '/srv/kiln/fire.json'"
    stacks: tuple[tuple[Frame, ...], ...] = ((), (Frame("/srv/kiln/fire.py", 3, "heat"),))
    events = [_raised("FileNotFoundError", lost, frames) for frames in stacks]
    found = _grouped(*(normalise.signature(one, project="potter/kiln") for one in events))
    assert len({one[0] for one in found.values()}) == 2
