"""The kernels of the COMPaS paper from its tables of the bus, the barriers and the network (M1 to M5)."""
