"""Released tables: who may be behind which row, by every notion that has a name."""

from anonymatch.tables.attributes import AttributeDisclosure, may_be_absent, presence
from anonymatch.tables.diversity import Diversity
from anonymatch.tables.improving import (
    Generalised,
    GeneraliseStep,
    RowChange,
    generalise,
    parse_target,
    parse_targets,
    write_generalised,
)
from anonymatch.tables.linking import Links, link
from anonymatch.tables.notion_kinds import NOTION_KINDS, NotionKind
from anonymatch.tables.notions import Notion, class_notions
from anonymatch.tables.table_findings import TableFindings, findings
from anonymatch.tables.utility import Utility

__all__ = [
    "NOTION_KINDS",
    "AttributeDisclosure",
    "Diversity",
    "GeneraliseStep",
    "Generalised",
    "Links",
    "Notion",
    "NotionKind",
    "RowChange",
    "TableFindings",
    "Utility",
    "class_notions",
    "findings",
    "generalise",
    "link",
    "may_be_absent",
    "parse_target",
    "parse_targets",
    "presence",
    "write_generalised",
]
