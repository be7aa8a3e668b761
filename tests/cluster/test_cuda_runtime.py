"""The real runtime of CUDA where there is no driver: one sentence, and no device."""

from __future__ import annotations

import os
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from kumiki.machine.native import Native

WHEEL = "nvidia-cuda-runtime-cu12"
LIBRARY = "libcudart.so.12"
DRIVER = Path("/proc/driver/nvidia")


def _folder() -> Path:
    """Where the wheel has the library."""
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"the runtime of CUDA is not installed: pip install {WHEEL}")
    return next(Path(str(file.locate())).parent for file in files if file.name == LIBRARY)


def test_a_runtime_without_a_driver_has_no_device() -> None:
    if DRIVER.exists():
        pytest.skip("there is a driver for devices of NVIDIA here")
    native = Native.installed()
    device = native.command("kumiki-device")
    if not native.has(device):
        pytest.skip("the native part is not installed, or without Linpack (there was no BLAS library)")
    ended = subprocess.run(
        [str(device), "try", "cuda"],
        env={**os.environ, "LD_LIBRARY_PATH": str(_folder())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 3, ended.stderr
    assert "CUDA is installed here, but it finds no device: " in ended.stderr
    assert "(error 35); install the driver of the device, or choose another device" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
