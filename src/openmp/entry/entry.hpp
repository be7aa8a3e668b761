#pragma once

/// Marks the functions that programs find by their names; the versions are in entry/symbols.map.
#define KUMIKI_ENTRY extern "C" __attribute__((visibility("default")))
