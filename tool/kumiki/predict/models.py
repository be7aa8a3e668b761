"""All models."""

from __future__ import annotations

from kumiki.predict.maestro.model import MODEL as MAESTRO
from kumiki.predict.prediction import Model

ALL: tuple[Model, ...] = (MAESTRO,)
