"""The work of `kumiki predict`: it finds the model, sets its parameters, prints the result and writes the page."""

from __future__ import annotations

import json
from pathlib import Path

from kumiki.errors import UserError, nearest
from kumiki.predict.models import ALL
from kumiki.predict.prediction import Model
from kumiki.predict.view import print_prediction
from kumiki.terminal.display import console
from kumiki.terminal.formats import TableOrJson

PAGE = "index.html"
MARK = '<meta name="generator" content="kumiki predict">'
"""The mark that distinguishes a page of this command from foreign files."""


def run(name: str, settings: list[str], file: Path | None, output: Path | None, format: TableOrJson) -> None:
    """Predicts, prints, and writes a page if a folder is given. Raises UserError if this is impossible."""
    model = _model(name)
    machine = model.machine(file, settings)
    if output is not None:
        _check_folder(output)
    prediction = model.predict(machine)
    if format is TableOrJson.JSON:
        print(json.dumps(prediction.as_dict(), indent=1))
    else:
        print_prediction(prediction, console())
    if output is not None:
        from kumiki.predict.page import render  # matplotlib is slow to load

        page = _write(output, render(prediction))
        console(stderr=format is TableOrJson.JSON).print(f"Page: {page}", soft_wrap=True)


def _model(name: str) -> Model:
    models = {model.name: model for model in ALL}
    if name not in models:
        raise UserError(f"there is no model '{name}'{nearest(name, list(models))}; the models are: {', '.join(models)}")
    return models[name]


def _check_folder(directory: Path) -> None:
    """Raises UserError if the page would replace a foreign file."""
    page = directory / PAGE
    try:
        ours = not page.exists() or MARK in page.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{page} cannot be read ({error.strerror}); name another folder with --output") from None
    if not ours:
        raise UserError(f"{page} is not a page of kumiki predict; name another folder with --output")


def _write(directory: Path, content: str) -> Path:
    page = directory / PAGE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        page.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{page} cannot be written ({error.strerror}); name another folder with --output") from None
    return page
