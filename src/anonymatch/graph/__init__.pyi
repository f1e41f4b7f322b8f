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
    files as files,
)
from anonymatch.graph.io.files import (
    FORMATS as FORMATS,
    FileNote as FileNote,
    format_of as format_of,
    read as read,
    write as write,
)
from anonymatch.graph.io.tables import (
    names_of as names_of,
)
from anonymatch.graph.names import (
    Names as Names,
)
from anonymatch.graph.thumbnails import (
    thumbnail as thumbnail,
)
