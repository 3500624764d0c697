"""Which diagnostics of a log are one failure: errors of other programs, kinds or objects stand for themselves."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.records import Severity
from tests.each import each

PUSH = """git@kiln.example: Permission denied (publickey).
fatal: Could not read from remote repository.

error: failed to push some refs to 'kiln.example:fire.git'
"""
NOT_A_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git\n"
SHELL = "bash: fire: command not found\n"
CRASH = "Segmentation fault (core dumped)\n"
EVENTS = """  Warning  FailedScheduling  9s (x3 over 2m)  default-scheduler  0/2 nodes are available: 2 too hot.
  Normal   Pulling           7s               kubelet            Pulling image "kiln.example/fire:9"
  Warning  Failed            5s               kubelet            Failed to pull image "kiln.example/fire:9": not found
  Warning  Failed            5s               kubelet            Error: ErrImagePull
  Warning  BackOff           2s               kubelet            Back-off pulling image "kiln.example/fire:9"
"""
PIP = """ERROR: Could not find a version that satisfies the requirement kiln==9 (from versions: 1.0, 1.1)
ERROR: No matching distribution found for kiln==9
"""
MANAGED = """error: externally-managed-environment

× This environment is externally managed
╰─> To install packages system-wide, try apt
    install python3-kiln.
"""
CONFLICT = """ERROR: Cannot install fire and kiln==2 because these package versions have conflicting dependencies.

The conflict is caused by:
    kiln 2 depends on clay<1
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/
"""
LINKER = "kiln.c:(.text+0x10): undefined reference to `fire'\ncollect2: error: ld returned 1 exit status\n"
HEADER = "fatal error: clay.h: No such file or directory\n"
MAVEN = """[ERROR] Failed to execute goal org.example:kiln-plugin:1.0:compile (fire) on project kiln: Failure
[ERROR] /src/Kiln.java:[12,7] cannot find symbol
[ERROR]   symbol:   class Clay
[ERROR] -> [Help 1]
"""


SOURCES = """a.cpp:1:2: error: 'fire' was not declared in this scope
a.cpp:9:2: error: 'clay' was not declared in this scope
make: *** [a.o] Error 1
b.cpp:4:10: fatal error: kiln/clay.h: No such file or directory
"""
CRATES = """error[E0433]: failed to resolve: use of undeclared crate or module `kiln`
 --> src/main.rs:1:5
  |
1 | use kiln::Fire;
  |     ^^^^ use of undeclared crate or module `kiln`

error[E0432]: unresolved import `clay`
 --> src/fire.rs:3:5
  |
3 | use clay::Mud;
  |     ^^^^ use of undeclared crate `clay`

error[E0432]: unresolved import `mud`
 --> src/fire.rs:9:5

error: could not compile `kiln` (bin "kiln") due to 3 previous errors
"""
TYPES = """Fire.cs(1,7): error CS0246: The type or namespace name 'Kiln' could not be found [/src/fire.csproj]
Fire.cs(9,7): error CS0246: The type or namespace name 'Kiln' could not be found [/src/fire.csproj]
Heat.cs(5,3): error CS1061: 'Fire' does not contain a definition for 'Clay' [/src/fire.csproj]
"""
CONSEQUENCES = """fire.obj : error LNK2019: unresolved external symbol heat referenced in function main
kiln.exe : fatal error LNK1120: 1 unresolved externals
"""
CANDIDATES = """a.cpp:1:2: error: no matching function for call to 'heat(int)'
a.h:4:2: error: candidate is: void heat(Kiln)
"""
MANY = "".join(f'k{number}.go:4:2: cannot find package "kiln/fire{number}" in any of:\n' for number in range(20))


def _messages(text: str) -> list[str]:
    return [event.message for event in extract.events(text)]


@each(
    "text, begun",
    [
        (PUSH + NOT_A_REPOSITORY, ["git@kiln.example: Permission denied", "not a git repository"]),
        (NOT_A_REPOSITORY + SHELL, ["not a git repository", "fire: command not found"]),
        (SHELL + "bash: clay: command not found\n", ["fire: command not found", "clay: command not found"]),
        (SHELL + CRASH, ["fire: command not found", "Segmentation fault"]),
        (SOURCES, ["'fire' was not declared", "kiln/clay.h: No such file"]),
        (CRATES, ["failed to resolve", "unresolved import `clay`", "unresolved import `mud`"]),
        (TYPES, ["The type or namespace name 'Kiln'", "'Fire' does not contain"]),
        (
            "LibMambaUnsatisfiableError: Problems while solving:\n  - nothing provides clay needed by kiln\n",
            ["nothing provides"],
        ),
        (CONSEQUENCES, ["LNK2019: unresolved"]),
        (CANDIDATES, ["no matching function"]),
        (MANY, [f'cannot find package "kiln/fire{number}"' for number in range(5)]),
        (
            "cp: cannot stat 'kiln': No such file or directory\nrm: cannot remove 'clay': Is a directory\n",
            ["cp: cannot stat", "rm: cannot remove"],
        ),
        (EVENTS, ["0/2 nodes are available", "Failed to pull image"]),
        (PIP + MANAGED, ["Could not find a version", "This environment is externally managed"]),
        (MANAGED + CONFLICT, ["This environment is externally managed", "Cannot install fire and kiln==2"]),
        (LINKER + HEADER, ["undefined reference to `fire'", "clay.h: No such file"]),
        ("kiln: error: it is cold\nclay: error: it is wet\n", ["it is cold", "it is wet"]),
        (MAVEN, ["Failed to execute goal", "cannot find symbol"]),
        (f"[ERROR] Unsupported class file major version 61\n{SHELL}", ["Unsupported class file", "fire: command"]),
        ("$ git pull\n" + PUSH + "$ git push\n" + PUSH, ["git@kiln.example: Permission denied"] * 2),
    ],
)
def test_an_error_of_another_kind_program_or_object_is_its_own(text: str, begun: list[str]) -> None:
    messages = _messages(text)
    assert len(messages) == len(begun)
    for message, beginning in zip(messages, begun, strict=True):
        assert message.startswith(beginning)


@pytest.mark.parametrize(
    "text",
    [
        PUSH,
        PIP,
        CONFLICT,
        LINKER,
        " ! [rejected] main -> main (fetch first)\nerror: failed to push some refs to 'kiln.example:fire.git'\n",
        "remote: Repository not found.\nfatal: repository 'https://kiln.example/fire.git/' not found\n",
        "kiln: error: it is cold\nkiln: error: it is wet\n",
        "kiln.c:12:3: error: 'fire' undeclared\nkiln.c:13:3: error: expected ';' before 'clay'\n",
        "kiln: error: it is cold\n" + CRASH,
    ],
)
def test_what_a_program_goes_on_with_is_one_failure(text: str) -> None:
    assert len(_messages(text)) == 1


def test_the_codes_of_a_list_are_those_of_its_first_error() -> None:
    first, second = extract.events(EVENTS)
    assert (first.codes, second.codes) == (("kubernetes:FailedScheduling",), ("kubernetes:Failed",))
    assert extract.events(PUSH + SHELL + CRASH)[0].codes == ()


def test_a_crash_behind_an_error_of_a_program_that_exits_is_no_wrapper() -> None:
    assert [event.severity for event in extract.events(SHELL + CRASH)] == [Severity.ERROR, Severity.ERROR]


def test_what_maven_says_of_its_goal_wraps_what_the_compiler_found() -> None:
    assert [event.severity for event in extract.events(MAVEN)] == [Severity.WRAPPER, Severity.ERROR]
