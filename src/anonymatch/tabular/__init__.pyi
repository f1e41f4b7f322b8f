"""Tables in files, as text or JSON."""

from anonymatch.tabular.json_files import (
    as_name as as_name,
    as_object as as_object,
    load_json as load_json,
    true_indices as true_indices,
)
from anonymatch.tabular.text_tables import (
    find_column as find_column,
    numbers as numbers,
    read_text_table as read_text_table,
    shown_separator as shown_separator,
)
