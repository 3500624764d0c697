"""Agents: the knowledge of a bundle over the Model Context Protocol, on stdio or on HTTP of this machine alone.

    library   the bundle, opened again when another takes its place, asked by one at a time
    answers   what an answer is: the output schemas
    shown     an entry as an answer shows it: bounded, cleaned, every statement with its evidence
    tools     the questions
    serving   the questions as tools and resources of the official SDK, the only module that imports it

An agent believes what it reads, and what it reads here was written by strangers: every answer says so, and none is
longer than a model can look through.
"""
