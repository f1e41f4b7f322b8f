"""Tables in files: one reader for CSV, TSV, Parquet and JSON lines, and the limits of files."""

from anonymatch.tabular.codes import (
    factorise as factorise,
    factorise_hashed as factorise_hashed,
    name_codes as name_codes,
)
from anonymatch.tabular.columns import (
    BEHAVIOUR as BEHAVIOUR,
    Column as Column,
    Columns as Columns,
    DIRECTION as DIRECTION,
    DIRECTIONS as DIRECTIONS,
    EITHER as EITHER,
    FLAGS as FLAGS,
    MESSAGE as MESSAGE,
    TIME as TIME,
    TIMES as TIMES,
    USER as USER,
    column_names as column_names,
    suggested_columns as suggested_columns,
)
from anonymatch.tabular.delimited import (
    check_quotes as check_quotes,
    line_of_row as line_of_row,
    load_text as load_text,
    refuse_repeats as refuse_repeats,
)
from anonymatch.tabular.files import (
    Source as Source,
    TABLES as TABLES,
    about as about,
    first_line as first_line,
    header as header,
    reading as reading,
    separator_in as separator_in,
    split_suffix as split_suffix,
    suffix_of as suffix_of,
)
from anonymatch.tabular.json_files import (
    STRICT as STRICT,
    TOO_SMALL as TOO_SMALL,
    VANISHED as VANISHED,
    as_name as as_name,
    as_object as as_object,
    json_lines as json_lines,
    load_json as load_json,
)
from anonymatch.tabular.limits import (
    allowed_unfolded as allowed_unfolded,
    check_memory as check_memory,
    check_unfolded as check_unfolded,
    free_memory as free_memory,
)
from anonymatch.tabular.parquet import (
    check_readable as check_readable,
    load_parquet as load_parquet,
)
from anonymatch.tabular.table import (
    Table as Table,
    read_table as read_table,
    read_text_table as read_text_table,
)
from anonymatch.tabular.writing import (
    plain_cell as plain_cell,
    plain_table as plain_table,
    write_table as write_table,
)
