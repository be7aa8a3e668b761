"""What commands print: the display of an evaluation, tables, lists, last words."""
