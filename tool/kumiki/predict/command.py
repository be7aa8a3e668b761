"""The work of `kumiki predict`: it finds the model, sets its parameters, prints the result and writes the page."""

from __future__ import annotations

import json
from pathlib import Path

from kumiki import page_file
from kumiki.errors import UserError, nearest
from kumiki.predict.models import ALL
from kumiki.predict.prediction import Model
from kumiki.predict.view import print_prediction
from kumiki.terminal.display import console
from kumiki.terminal.formats import TableOrJson

COMMAND = "kumiki predict"
"""The name of this command, as its pages have it."""


def run(name: str, settings: list[str], file: Path | None, output: Path | None, format: TableOrJson) -> None:
    """Predicts, prints, and writes a page if a folder is given. Raises UserError if this is impossible."""
    model = _model(name)
    machine = model.machine(file, settings)
    if output is not None:
        page_file.check(output, COMMAND)
    prediction = model.predict(machine)
    if format is TableOrJson.JSON:
        print(json.dumps(prediction.as_dict(), indent=1))
    else:
        print_prediction(prediction, console())
    if output is not None:
        from kumiki.predict.page import render  # matplotlib is slow to load

        page = page_file.write(output, render(prediction))
        console(stderr=format is TableOrJson.JSON).print(f"Page: {page}", soft_wrap=True)


def _model(name: str) -> Model:
    models = {model.name: model for model in ALL}
    if name not in models:
        raise UserError(f"there is no model '{name}'{nearest(name, list(models))}; the models are: {', '.join(models)}")
    return models[name]
