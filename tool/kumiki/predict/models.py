"""All models."""

from __future__ import annotations

from kumiki.predict.compas.model import MODEL as COMPAS
from kumiki.predict.linpack.model import MODEL as LINPACK
from kumiki.predict.maestro.model import MODEL as MAESTRO
from kumiki.predict.prediction import Model

ALL: tuple[Model, ...] = (MAESTRO, LINPACK, COMPAS)
