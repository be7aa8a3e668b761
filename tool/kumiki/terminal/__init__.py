"""The output of commands: the display of an evaluation, tables, lists, closing words."""
