"""The graph: who may have done what, how graphs are made, and their files."""

from anonymatch.graph import (
    families as families,
)
from anonymatch.graph.decomposition import (
    BlockTable as BlockTable,
    BlockView as BlockView,
    Blocks as Blocks,
    Structure as Structure,
    Witness as Witness,
    allowed as allowed,
    block_table as block_table,
    blocks as blocks,
    forced as forced,
    require_matching as require_matching,
    structure as structure,
    witness as witness,
)
from anonymatch.graph.edges import (
    Edges as Edges,
    SMALLEST as SMALLEST,
    canonical as canonical,
    exact_text as exact_text,
    pointers as pointers,
    settle as settle,
)
from anonymatch.graph.decomposition import (
    chain_reaction as chain_reaction,
)
from anonymatch.graph.families import (
    aztec as aztec,
    band as band,
    circulant as circulant,
    complete as complete,
    crown as crown,
    ferrers as ferrers,
    grid as grid,
    hessenberg as hessenberg,
    hexagon as hexagon,
    hypercube as hypercube,
    partition as partition,
    random_density as random_density,
    random_regular as random_regular,
    ring as ring,
)
from anonymatch.graph.graph import (
    Graph as Graph,
    check_graph as check_graph,
)
from anonymatch.graph.inputs import (
    join as join,
)
from anonymatch.graph.io import (
    delimited as delimited,
    files as files,
    json_text as json_text,
    limits as limits,
    parquet as parquet,
)
from anonymatch.graph.io.files import (
    FileNote as FileNote,
    read as read,
    reading as reading,
    write as write,
)
from anonymatch.graph.io.formats import (
    FORMATS as FORMATS,
    format_of as format_of,
    separator_in as separator_in,
)
from anonymatch.graph.io.limits import (
    check_memory as check_memory,
)
from anonymatch.graph.io.logs import (
    DIRECTIONS as DIRECTIONS,
    TIMES as TIMES,
)
from anonymatch.graph.io.rows import (
    names_of as names_of,
)
from anonymatch.graph.io.source import (
    Source as Source,
    decode as decode,
)
from anonymatch.graph.io.spreadsheets import (
    plain_cell as plain_cell,
    plain_table as plain_table,
)
from anonymatch.graph.io.tables import (
    factorise as factorise,
)
from anonymatch.graph.names import (
    Names as Names,
)
from anonymatch.graph.thumbnails import (
    thumbnail as thumbnail,
)
