"""Packs: folders of tables that teach errmine the tools of a field; it ships with some, and teams add their own.

::

    kiln/
      pack.toml       name, title, version, summary
      lines.toml      one table a file, its rows under [[row]]; `TABLES` names them all

A room that reads a table makes a :class:`Table` of its rows' type and asks it for `rows()`: those of all packs that are
active. Which ones are is decided at the edges, by :func:`activate`, before anything is read; what a room works out from
rows is kept by :func:`cached`, which forgets when other packs are activated.
"""

from pipeline.packs.active import WITHOUT, Active, activate, activated, active, cached, marked, reading, using
from pipeline.packs.folder import CHINESE, TABLES, Pack, Stage, read_pack
from pipeline.packs.installed import installed
from pipeline.packs.problem import PackError, Problem
from pipeline.packs.table import (
    Expression,
    Files,
    Place,
    Row,
    Table,
    Text,
    check,
    compiled,
    is_shipped,
    tables,
    together,
)

__all__ = [
    "CHINESE",
    "TABLES",
    "WITHOUT",
    "Active",
    "Expression",
    "Files",
    "Pack",
    "PackError",
    "Place",
    "Problem",
    "Row",
    "Stage",
    "Table",
    "Text",
    "activate",
    "activated",
    "active",
    "cached",
    "check",
    "compiled",
    "installed",
    "is_shipped",
    "marked",
    "read_pack",
    "reading",
    "tables",
    "together",
    "using",
]
