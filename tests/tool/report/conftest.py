"""Makes the package and the synthetic evaluations importable, however pytest is started."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "tool")]
