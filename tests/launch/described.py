"""Machines that hwloc reads from a file (HWLOC_XMLFILE): two packages of two cores, with devices on their buses."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

GPU, COPROCESSOR = 1, 5
"""hwloc's numbers for the kinds of devices that a driver shows."""


@dataclass(frozen=True)
class Driver:
    """A device as a driver or a programming interface shows it."""

    name: str
    kind: int
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BusDevice:
    package: int
    address: str
    type: str
    """Class, vendor and device as hwloc writes them: 0302 [10de:2330]."""
    model: str
    drivers: tuple[Driver, ...] = ()


def nvidia(package: int, address: str, number: int) -> BusDevice:
    """A device that NVML, CUDA and OpenCL see."""
    uuid = f"GPU-{number:08d}-1111-2222-3333-444444444444"
    return BusDevice(
        package,
        address,
        "0302 [10de:2330]",
        "GH100",
        (
            Driver(f"opencl0d{number}", COPROCESSOR, {"Backend": "OpenCL", "OpenCLGlobalMemorySize": "1024"}),
            Driver(f"nvml{number}", GPU, {"Backend": "NVML", "GPUModel": "NVIDIA H100", "NVIDIAUUID": uuid}),
            Driver(f"cuda{number}", COPROCESSOR, {"Backend": "CUDA", "CUDAGlobalMemorySize": str(80 << 20)}),
        ),
    )


AMD = BusDevice(1, "0000:c1:00.0", "0380 [1002:740f]", "Aldebaran", (Driver("rsmi0", GPU, {"Backend": "RSMI"}),))
DISPLAY = BusDevice(0, "0000:02:00.0", "0300 [102b:0538]", "Matrox G200", (Driver("card0", GPU),))
BARE = BusDevice(1, "0000:e1:00.0", "0302 [10de:20b5]", "GA100")
"""A device whose driver is missing."""
DEVICES = (DISPLAY, nvidia(0, "0000:17:00.0", 0), nvidia(1, "0000:a3:00.0", 1), AMD, BARE)


def machine(folder: Path, devices: tuple[BusDevice, ...] = DEVICES) -> dict[str, str]:
    """The variable by which hwloc finds the description that is written into the folder."""
    numbers = count(1)

    def add(parent: ElementTree.Element, kind: str, **attributes: str) -> ElementTree.Element:
        return ElementTree.SubElement(parent, "object", type=kind, gp_index=str(next(numbers)), **attributes)

    def sets(mask: int, nodes: int) -> dict[str, str]:
        names = {"cpuset": mask, "complete_cpuset": mask, "nodeset": nodes, "complete_nodeset": nodes}
        return {name: f"0x{value:08x}" for name, value in names.items()}

    def info(element: ElementTree.Element, facts: dict[str, str]) -> None:
        for name, value in facts.items():
            ElementTree.SubElement(element, "info", name=name, value=value)

    root = ElementTree.Element("topology", version="2.0")
    allowed = {"allowed_cpuset": "0x0000000f", "allowed_nodeset": "0x00000003"}
    whole = add(root, "Machine", os_index="0", **sets(0xF, 3), **allowed)
    for package in range(2):
        own = add(whole, "Package", os_index=str(package), **sets(3 << 2 * package, 1 << package))
        add(own, "NUMANode", os_index=str(package), local_memory=str(8 << 30), **sets(3 << 2 * package, 1 << package))
        for core in (2 * package, 2 * package + 1):
            made = add(own, "Core", os_index=str(core), **sets(1 << core, 1 << package))
            add(made, "PU", os_index=str(core), **sets(1 << core, 1 << package))
        for device in (each for each in devices if each.package == package):
            bus = device.address.split(":")[1]
            bridge = add(own, "Bridge", bridge_type="0-1", depth="0", bridge_pci=f"0000:[{bus}-{bus}]")
            on_bus = add(
                bridge,
                "PCIDev",
                pci_busid=device.address,
                pci_type=f"{device.type} [0000:0000] a1",
                pci_link_speed="31.5",
            )
            info(on_bus, {"PCIDevice": device.model})
            for driver in device.drivers:
                shown = add(on_bus, "OSDev", name=driver.name, osdev_type=str(driver.kind))
                info(shown, driver.facts)
    path = folder / "machine.xml"
    ElementTree.ElementTree(root).write(path, encoding="UTF-8", xml_declaration=True)
    return {"HWLOC_XMLFILE": str(path)}
