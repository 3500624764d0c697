"""errmine: public bug reports turned into counted, cited, bilingual error knowledge.

The package is a row of rooms; a record passes them in this order (see README, "Folders")::

    providers -> raw -> extract -> normalise -> cluster -> distil -> translate -> validate -> store -> export

``providers`` fetch pages for ``raw`` and read what it kept. ``run`` joins the rooms, ``flows`` runs them under Prefect,
``cli`` binds both to a terminal.
"""

__version__ = "0.1.0"
