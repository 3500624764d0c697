"""The codes of packs that ship: read as the tool prints them, nowhere else, each with its official page."""

from __future__ import annotations

import pytest

from pipeline import extract
from pipeline.lexicon import catalogues
from pipeline.lexicon.code_families import CODES
from pipeline.lexicon.codes import codes_in
from tests.each import each

#: What a program prints, the code that an event of it has, and the page of the code.
PRINTED = [
    (
        'ERROR: relation "kilns" does not exist (SQLSTATE 42P01)',
        "sqlstate:42P01",
        "https://www.postgresql.org/docs/current/errcodes-appendix.html",
    ),
    (
        "ERROR 1146 (42S02): Table 'kiln.fires' doesn't exist",
        "mysql:1146",
        "https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html#error_er_no_such_table",
    ),
    (
        "src/kiln.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        "ts:TS2322",
        "https://github.com/microsoft/TypeScript/blob/main/src/compiler/diagnosticMessages.json",
    ),
    (
        "error[E0382]: borrow of moved value: `kiln`\n  --> src/main.rs:4:20\n   |\n",
        "rustc:E0382",
        "https://doc.rust-lang.org/error_codes/E0382.html",
    ),
    (
        'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be a string\n    at fire (/kiln/fire.js:3:4)\n',
        "node:ERR_INVALID_ARG_TYPE",
        "https://nodejs.org/api/errors.html#err_invalid_arg_type",
    ),
    (
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n",
        "npm:ERESOLVE",
        "https://docs.npmjs.com/common-errors",
    ),
    (
        '  Warning  FailedMount  12s (x3 over 1m)  kubelet  MountVolume.SetUp failed for volume "kiln" : not found',
        "kubernetes:FailedMount",
        "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/events/event.go",
    ),
]
#: Where the letters of a code stand for something else.
OTHERS = (
    "kiln.py:3:0: E0101: Explicit return in __init__ (return-in-init)",
    "E0200 15:22:33.27 4353 kiln.cc:1350] the kiln is cold",
    "| E0382 | a row of a table |",
    "kiln 42P01 left the shelf",
    "TS2322 is the number of the shelf",
    "1146 shelves",
    "Failed to fire, FailedMount of nothing",
    "GET /kiln 404, ERR_CONNECTION_REFUSED",
)


@each("text, code, page", PRINTED)
def test_an_event_has_the_code_that_its_program_prints_and_the_code_its_page(text: str, code: str, page: str) -> None:
    assert code in {found for event in extract.events(text) for found in event.codes}
    assert catalogues.official_url(code) == page


@pytest.mark.parametrize("text", OTHERS)
def test_the_letters_of_a_code_alone_are_none(text: str) -> None:
    shipped = {row.name for row in CODES.rows()}
    assert {code.partition(":")[0] for code in codes_in(text)} & shipped == set()


def test_another_name_of_a_code_leads_to_it() -> None:
    assert codes_in('psycopg2.errors.UndefinedTable: relation "kilns" does not exist') == ("sqlstate:42P01",)
    assert catalogues.official_url("mysql:ER_NO_SUCH_TABLE") == catalogues.official_url("mysql:1146")


def test_every_code_that_ships_has_a_page() -> None:
    assert [row.name for row in CODES.rows() if not row.entries] == []
    assert [code.name for row in CODES.rows() for code in row.entries if row.url_of(code) is None] == []
