"""The graph: who may have done what, how graphs are made, and their files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anonymatch.graph import families
from anonymatch.graph.decomposition import (
    Blocks,
    BlockTable,
    BlockView,
    Structure,
    Witness,
    allowed,
    block_table,
    blocks,
    forced,
    require_matching,
    structure,
    witness,
)
from anonymatch.graph.edges import SMALLEST, Edges, canonical, exact_text, pointers, settle
from anonymatch.graph.elimination import chain_reaction
from anonymatch.graph.families import (
    aztec,
    band,
    circulant,
    complete,
    crown,
    ferrers,
    grid,
    hessenberg,
    hexagon,
    hypercube,
    partition,
    random_density,
    random_regular,
    ring,
)
from anonymatch.graph.graph import Graph, check_graph
from anonymatch.graph.inputs import join
from anonymatch.graph.io import files, limits
from anonymatch.graph.io.files import FileNote, read, reading, write
from anonymatch.graph.io.formats import FORMATS, format_of, separator_in
from anonymatch.graph.io.limits import check_memory
from anonymatch.graph.io.logs import DIRECTIONS, TIMES
from anonymatch.graph.io.source import Source, decode
from anonymatch.graph.io.spreadsheets import plain_cell, plain_table
from anonymatch.graph.names import Names
from anonymatch.graph.thumbnails import thumbnail

if TYPE_CHECKING:
    from anonymatch.graph.io import delimited, json_text, parquet
    from anonymatch.graph.io.rows import names_of
    from anonymatch.graph.io.tables import factorise

__all__ = [
    "DIRECTIONS",
    "FORMATS",
    "SMALLEST",
    "TIMES",
    "BlockTable",
    "BlockView",
    "Blocks",
    "Edges",
    "FileNote",
    "Graph",
    "Names",
    "Source",
    "Structure",
    "Witness",
    "allowed",
    "aztec",
    "band",
    "block_table",
    "blocks",
    "canonical",
    "chain_reaction",
    "check_graph",
    "check_memory",
    "circulant",
    "complete",
    "crown",
    "decode",
    "delimited",
    "exact_text",
    "factorise",
    "families",
    "ferrers",
    "files",
    "forced",
    "format_of",
    "grid",
    "hessenberg",
    "hexagon",
    "hypercube",
    "join",
    "json_text",
    "limits",
    "names_of",
    "parquet",
    "partition",
    "plain_cell",
    "plain_table",
    "pointers",
    "random_density",
    "random_regular",
    "read",
    "reading",
    "require_matching",
    "ring",
    "separator_in",
    "settle",
    "structure",
    "thumbnail",
    "witness",
    "write",
]

_OF_TABLES = {
    "delimited": "",
    "json_text": "",
    "parquet": "",
    "factorise": "tables",
    "names_of": "rows",
}
"""What needs polars, and is imported when it is asked for; with the module it is in, if in one."""


def __getattr__(name: str) -> Any:
    if name not in _OF_TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"anonymatch.graph.io.{_OF_TABLES[name] or name}")
    return getattr(module, name) if _OF_TABLES[name] else module
