"""The graph: who may have done what, how graphs are made, and their files."""

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
    structure,
    witness,
)
from anonymatch.graph.edges import SMALLEST, Edges, canonical, exact_text, pointers, settle
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
from anonymatch.graph.io import delimited, files, json_text, limits, parquet
from anonymatch.graph.io.files import FileNote, read, reading, write
from anonymatch.graph.io.limits import check_memory
from anonymatch.graph.io.logs import DIRECTIONS, TIMES
from anonymatch.graph.io.rows import names_of
from anonymatch.graph.io.source import Source, decode
from anonymatch.graph.io.spreadsheets import plain_cell, plain_table
from anonymatch.graph.names import Names

__all__ = [
    "DIRECTIONS",
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
    "check_graph",
    "check_memory",
    "circulant",
    "complete",
    "crown",
    "decode",
    "delimited",
    "exact_text",
    "families",
    "ferrers",
    "files",
    "forced",
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
    "ring",
    "settle",
    "structure",
    "witness",
    "write",
]
