"""Released tables: who may be behind which row, by every notion that has a name."""

from anonymatch.tables.attributes import (
    AttributeDisclosure as AttributeDisclosure,
    may_be_absent as may_be_absent,
    presence as presence,
)
from anonymatch.tables.audit import (
    TableAudit as TableAudit,
    audit_table as audit_table,
)
from anonymatch.tables.diversity import (
    Diversity as Diversity,
)
from anonymatch.tables.improving import (
    GeneraliseStep as GeneraliseStep,
    Generalised as Generalised,
    RowChange as RowChange,
    generalise as generalise,
    parse_target as parse_target,
    parse_targets as parse_targets,
    write_generalised as write_generalised,
)
from anonymatch.tables.solving.linking import (
    Links as Links,
    link as link,
)
from anonymatch.tables.notion_kinds import (
    NOTION_KINDS as NOTION_KINDS,
    NotionKind as NotionKind,
)
from anonymatch.tables.notions import (
    Notion as Notion,
    class_notions as class_notions,
)
from anonymatch.tables.observation import (
    TableObservation as TableObservation,
)
from anonymatch.tables.options import (
    ImproveOptions as ImproveOptions,
    TableOptions as TableOptions,
)
from anonymatch.tables.reading.release import (
    ColumnCells as ColumnCells,
    Release as Release,
    kinds_of_people as kinds_of_people,
    link_bytes as link_bytes,
    link_seconds as link_seconds,
)
from anonymatch.tables.reading.released import (
    open_released as open_released,
    read_released as read_released,
    require_original as require_original,
)
from anonymatch.tables.reading.released_cells import (
    CellValues as CellValues,
    wider as wider,
)
from anonymatch.tables.reading.released_columns import (
    TableLook as TableLook,
    TablesLook as TablesLook,
    look_at_tables as look_at_tables,
    released_first as released_first,
)
from anonymatch.tables.table_findings import (
    TableFindings as TableFindings,
    findings as findings,
)
from anonymatch.tables.utility import (
    Utility as Utility,
)
from anonymatch.tables.answers import (
    release_answers as release_answers,
)
from anonymatch.tables.reading import (
    released as released,
)
from anonymatch.tables.report import (
    table_report as table_report,
)
