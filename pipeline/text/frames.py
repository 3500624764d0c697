"""What the frames of a stack tell: the functions that carry an error's identity, and whose code raised it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from pydantic import Field, model_validator

from pipeline import packs
from pipeline.records import Frame, warm

#: Functions in a frame key: the innermost ones carry the identity, library frames further out do not.
KEY_FRAMES = 3
#: So many characters of a function's name are looked at: `org.kiln.server.` alone may take as many.
LONGEST_NAME = 60
#: A longer name is none of those that compilers make.
_LONGEST_MOVED = 400
#: Names joined by dots, as of Java, .NET and modules of Python.
_PACKAGED = warm.pattern(r"[\w$]{1,80}(?:\.(?:[\w$]{1,80}|<(?:cl)?init>)){1,20}")
#: Where a function's arguments begin; Go puts the type that a method is of in such brackets too.
_ARGUMENTS = warm.pattern(r"(?<=[\w>])\(|\s")
#: What a debugger prints behind a function: the arguments of that one call.
_CALLED_WITH = warm.pattern(r" \((?:\w{1,80}(?:@entry)?=[^\n]*|)\)$")
_LETTERS = warm.pattern(r"[A-Za-z]{2}")
_NO_LETTER = warm.pattern(r"[\W_]+")
#: What a repository's name says beside its package's, or the package's beside it: `kiln-python`, `kiln_core`.
_PARTS = frozenset(
    (
        *("core", "native", "internal", "client", "sdk", "lib", "impl", "api", "common", "main", "src"),
        *(
            "py",
            "python",
            "js",
            "node",
            "ts",
            "java",
            "kotlin",
            "go",
            "rs",
            "rust",
            "cpp",
            "net",
            "dotnet",
            "php",
            "rb",
        ),
    )
)
#: What makes an object of a class on the JVM has the class' name; nobody knows what another name in angles is.
_MADE = warm.pattern(r"\.<(?:cl)?init>\Z")
_UNNAMED = warm.pattern(r"[<>?]|\A\(?(?:unknown|anonymous)\)?\Z", re.IGNORECASE)

#: What a compiler or a proxy puts between two functions: it raises nothing of its own.
_BETWEEN = warm.pattern(
    r"[.$]access\$(?:\d{1,6}|[a-z]\w{0,80}(?:\$\w{1,80})?)\Z"
    r"|\$\$(?:Lambda|SpringCGLIB|EnhancerBy\w{1,40}|FastClassBy\w{1,40})(?:\$|\Z)"
)
#: A body that a compiler moved out of the function in which it is written, and that function: a lambda of the JVM or of
#: Scala, a coroutine of Kotlin, a state machine, a lambda or a local function of C#, and C#'s statements outside any.
_MOVED = (
    warm.pattern(r"(?P<owner>[\w.$]{1,200})\.lambda\$(?!null\$)(?P<function>\w[\w$]{0,80}?)\$\d{1,6}\Z"),
    warm.pattern(r"(?P<owner>[\w.$]{1,200}?)\$?\.\$anonfun\$(?P<function>[a-z]\w{0,80})\$\d{1,6}(?:\$adapted)?\Z"),
    warm.pattern(
        r"(?P<owner>[\w.]{1,200})\$(?P<function>[a-z]\w{0,80})(?:\$[\w$]{1,80})?\.(?:invokeSuspend|doResume)\Z"
    ),
    warm.pattern(r"(?P<owner>[\w.+`]{1,200}?)[.+]<(?P<function>\w{1,80})>d(?:__\d{1,6})?(?:`\d)?\.MoveNext\Z"),
    warm.pattern(
        r"(?P<owner>[\w.+`]{1,200}?)(?:[.+]<>c(?:__DisplayClass[\w]{1,12})?(?:`\d)?)?[.+]<(?P<function>\w{1,80})>"
        r"(?:b__|g__\w{1,80}\|)[\d_]{1,12}\Z"
    ),
    warm.pattern(r"(?P<owner>[\w.+`]{1,200})[.+]<(?P<function>Main)>\$\Z"),
)

_INSTALLED = warm.pattern(r"(?:site|dist)-packages[\\/](?:[\w.+-]{1,80}\.egg[\\/])?(?P<package>[A-Za-z_]\w{0,60})")
#: A library of native code, whose frames a framework adds below those of Python.
_LIBRARY = warm.pattern(r"\.(?:so(?:\.[\d.]{1,20})?|dylib|dll)$", re.IGNORECASE)
_QUIET_FUNCTIONS = frozenset(
    {
        "_call_impl",
        "_wrapped_call_impl",
        "wrapper",
        "_fn",
        "<lambda>",
        "__call__",
        "inner",
        "_inner",
        "decorate_context",
        "<module>",
    }
)
#: A script's own level.
_SCRIPT = "<module>"
#: They raise for whoever called them; a script's own level raises for itself.
_PASSING_ON = (_QUIET_FUNCTIONS - {_SCRIPT}) | {"__getattr__", "__getattribute__", "raise_from", "reraise"}
#: A function that Cython compiled is named with its package, its file as it was built.
_COMPILED = warm.pattern(r"(?P<package>[A-Za-z_]\w{0,60})\.\w")
#: Where Node.js keeps what was installed.
_NODE = warm.pattern(r"[\\/]node_modules[\\/](?P<package>(?:@[\w.-]{1,60}[\\/])?[\w.-]{1,80})[\\/]")


#: What stands between whose a function is and the function, where a place is told: `kiln/fire:heat`.
OF_OWNER = "/"


def parted(place: str) -> tuple[str, str]:
    """Of a place whose it is and the function, "" for what is not told: ("kiln", "fire:heat"), ("kiln", "")."""
    owner, _, function = place.partition(OF_OWNER)
    return (owner, function) if function and ":" not in owner else ("", place) if ":" in place else (place, "")


class Bridge(packs.Row):
    """A file where a package hands over to native code, which raises for whoever called it: an example is a path."""

    pattern: packs.Expression = Field(description="Searched in the path of a frame, with / for \\ of Windows.")


BRIDGES = packs.Table("bridges", Bridge)


@packs.cached
def _known() -> tuple[tuple[Bridge, re.Pattern[str]], ...]:
    return tuple((row, packs.compiled(row.pattern)) for row in BRIDGES.rows())


@BRIDGES.tested
def _bridges(file: str) -> tuple[Bridge, ...]:
    path = file.replace("\\", "/")
    return tuple(row for row, pattern in _known() if pattern.search(path))


def is_bridge(frame: Frame) -> bool:
    """Whether the frame is where a package hands over to native code."""
    return bool(_bridges(frame.file or ""))


class Library(packs.Row):
    """Code that others call: what fails in it is looked up where they call it. An example is a path or a function."""

    file: packs.Expression | None = Field(
        default=None,
        description="Searched in the path of a frame, with / for \\ of Windows; a named group is the package.",
    )
    function: packs.Expression | None = Field(
        default=None, description="Matched at the beginning of a frame's function; a named group is the package."
    )
    projects: tuple[str, ...] = Field(
        default=(), description="Repositories, without owners, in small letters with _, whose own code it is."
    )
    no_file: bool = Field(default=False, description="Only of a frame that names no file.")
    standard: bool = Field(
        default=False, description="It is a language's own: a library's caller of it comes before it."
    )

    @model_validator(mode="after")
    def _says_one(self) -> Library:
        if (self.file is None) == (self.function is None):
            raise ValueError("a row has `file` or `function`")
        return self


LIBRARIES = packs.Table("libraries", Library)


@packs.cached
def _callable() -> tuple[tuple[Library, re.Pattern[str]], ...]:
    return tuple((row, packs.compiled(row.file or row.function or "")) for row in LIBRARIES.rows())


@LIBRARIES.tested
def _libraries(text: str) -> list[Library]:
    path = text.replace("\\", "/")
    by_file = [row for row, pattern in _callable() if row.file and pattern.search(path)]
    return by_file or [row for row, pattern in _callable() if row.function and pattern.match(text)]


@packs.cached
def _knows() -> Callable[[str, str], tuple[Library, str] | None]:
    """What finds the row that knows the code of a path or a function, and the package that it names."""

    @lru_cache(maxsize=4096)  # the outer frames of most stacks are the same few
    def found(file: str, function: str) -> tuple[Library, str] | None:
        for row, pattern in _callable():
            hit = pattern.search(file) if row.file else pattern.match(function)
            if hit is not None and not (row.no_file and file):
                return row, next(filter(None, hit.groups()), "")
        return None

    return found


#: How far a language's own code is from a program's.
_STANDARD = 2


def _rank(frame: Frame, project: str) -> int:
    """How far the code of a frame is from a program's own: 0 that or the project's, 1 a library's, 2 a language's."""
    library = _knows()((frame.file or "").replace("\\", "/"), frame.function or "")
    if library is None:
        return 0
    row, package = library
    if project and (project in row.projects or _stem(project) == _stem(package)):
        return 0
    return _STANDARD if row.standard else 1


@lru_cache(maxsize=512)
def _stem(name: str) -> str:
    """The letters of a project's name without words that only tell its language or what part of it a package is."""
    words = _NO_LETTER.split(name.lower())
    return "".join(word for word in words if word not in _PARTS) or "".join(words)


def own(frames: Sequence[Frame], project: str = "") -> Sequence[Frame]:
    """The frames up to the innermost one of the program's own code, else of a library's, else all."""
    ranks = [_rank(frame, project) for frame in frames]
    nearest = min(ranks, default=0)
    return frames[: len(ranks) - ranks[::-1].index(nearest)] if ranks else frames


def running(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The frames with the functions that their lines are in: PHP prints with a line the function that it calls."""
    files = [frame.file for frame in frames if frame.file]
    if not files or not all(file.endswith(".php") for file in files):
        return frames
    callers = (None, *(frame.function for frame in frames))
    return [frame._replace(function=caller) for frame, caller in zip(frames, callers, strict=False)]


def frame_key(frames: Sequence[Frame], project: str = "") -> str:
    """The three innermost functions of the program's own code that are not mere plumbing, innermost last.

    `project`: the repository in whose tracker it is reported (`normalise.place_name`); its own package is no library.
    """
    frames = running(frames)
    shown = own(frames, project)
    telling = [frame for frame in reversed(shown) if frame.function and not _passes_on(frame.function)]
    last = shown[-1] if shown else None
    if last is not None and not _is_named(last, is_called=len(shown) < len(frames)):
        mine = next((place for place, one in enumerate(telling) if _rank(one, project) == _rank(last, project)), None)
        is_around = mine is not None and (last.function or _module(telling[mine].file) == _module(last.file))
        telling = telling[mine:] if is_around else [last, *telling] if last.file and len(frames) > 1 else telling
    elif last is not None and last not in telling[:1]:
        telling.insert(0, last)
    return " > ".join(map(named_by, telling[:KEY_FRAMES][::-1]))


def _is_named(frame: Frame, *, is_called: bool) -> bool:
    """Whether a frame names the function that a reader would look up; a script's own level, where it called others."""
    return bool(frame.function) and (not _passes_on(frame.function or "") or (is_called and frame.function == _SCRIPT))


def _passes_on(function: str) -> bool:
    """Whether the function raises for who called it."""
    return function in _PASSING_ON or _is_plumbing(function)


def _is_plumbing(function: str) -> bool:
    """Whether the function only passes on to another one, which is shown as well."""
    return function in _QUIET_FUNCTIONS or ("$" in function and _BETWEEN.search(function) is not None)


def _written(name: str) -> str:
    """The function in whose source the code of `name` stands, which is another one where a compiler moved its body."""
    if "$" not in name and "<" not in name:
        return name
    found = next(filter(None, (pattern.fullmatch(name[:_LONGEST_MOVED]) for pattern in _MOVED)), None)
    if found is None:
        return name
    function = {"new": "<init>", "static": "<clinit>"}.get(found["function"], found["function"])
    return f"{found['owner']}.{function}"


def named_by(frame: Frame) -> str:
    """The frame in a key: the file it is in without its ending, and its function, "?" where none is named."""
    function = _CALLED_WITH.sub("", frame.function or "") or "?"
    return f"{_module(frame.file)}:{_function(_written(function))}"


def _function(name: str) -> str:
    """A function's name as far as it is looked at: of one behind its packages the end, of any other the beginning."""
    if len(name) <= LONGEST_NAME:
        return name
    if "/" in name:
        return name.rpartition("/")[2][:LONGEST_NAME]
    if _PACKAGED.fullmatch(name):
        return name[-LONGEST_NAME:].partition(".")[2] or name[-LONGEST_NAME:]
    return name[:LONGEST_NAME]


def without_arguments(place: str) -> str:
    """A place, or a function, without what it was called with: `kiln:heat (clay=0x7f, n=4)` is `kiln:heat`."""
    head = _ARGUMENTS.split(place, maxsplit=1)[0]
    return head if _LETTERS.search(head) else place


def place(frame: str) -> str:
    """How people name the function of a frame's key, with its class or module; "" where none is named."""
    module, _, function = frame.partition(":")
    name = _ARGUMENTS.split(function.rpartition("/")[2], maxsplit=1)[0].strip()
    made = _MADE.sub("", name)
    if not _LETTERS.search(made) or _UNNAMED.search(made) or ("::" in function and "::" not in made):
        return ""
    if made != name or _PACKAGED.fullmatch(made):
        return ".".join(made.split(".")[-1 if made != name else -2 :])
    is_plain = made.isidentifier() and module.isidentifier() and not module.startswith("lib")
    return f"{module}.{made}" if is_plain else made


def raising_package(frames: Sequence[Frame]) -> str:
    """The top-level package whose code raised the error, "" where that code is nobody's installed package.

    What a bridge to native code says is its own package's where nobody's code calls it.
    """
    frame = raising(frames) or next((one for one in reversed(frames) if is_bridge(one)), None)
    if frame is None:
        return ""
    found = _INSTALLED.search(frame.file or "") or (
        _COMPILED.match(frame.function or "") if _is_cython(frame) else None
    )
    return found["package"] if found else ""


def installed(frame: Frame) -> str:
    """The top-level package of Python that a frame's file is installed in, "" if it is in none."""
    found = _INSTALLED.search(frame.file or "")
    return found["package"] if found else ""


def _is_cython(frame: Frame) -> bool:
    return (frame.file or "").endswith((".pyx", ".pxi", ".pxd"))


def node_package(frames: Sequence[Frame]) -> str:
    """The installed package of Node.js whose code is innermost, "" where that code is the program's own."""
    own = (_NODE.findall(frame.file) for frame in reversed(frames) if frame.file and re.search(r"[\\/]", frame.file))
    found = next(own, [])
    return found[-1].replace("\\", "/") if found else ""


def raising(frames: Sequence[Frame]) -> Frame | None:
    """The innermost frame of Python that neither passes on, is a bridge nor the standard library's."""
    for frame in reversed(frames):
        file = frame.file or "<unknown>"
        is_native = _LIBRARY.search(file) is not None or _bridges(file)
        if frame.function not in _PASSING_ON and not is_native and _rank(Frame(file, None, None), "") < _STANDARD:
            return frame
    return None


def packages(frames: Sequence[Frame]) -> tuple[str, ...]:
    """The top-level packages whose installed code is among the frames, the innermost first."""
    return tuple(dict.fromkeys(name for frame in reversed(frames) if (name := installed(frame))))


def innermost(frames: Sequence[Frame]) -> str:
    """The innermost function that is not mere plumbing, whose code it may be; "" if there is none."""
    telling = next((one for one in reversed(frames) if one.function and not _is_plumbing(one.function)), None)
    if telling is not None or not frames:
        return named_by(telling) if telling is not None else ""
    return f"{_module(frames[-1].file)}:{(frames[-1].function or '?')[:LONGEST_NAME]}"  # a script's own level


def _module(file: str | None) -> str:
    name = (file or "?").replace("\\", "/").rsplit("/", 1)[-1]
    return name.partition(".")[0]
