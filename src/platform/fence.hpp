#pragma once

namespace kumiki::platform {

/// Makes every running thread of every participating process execute a full memory fence (Linux membarrier), so that
/// the other side of a store-load ordering needs no fence. Returns false if the system cannot do this. Now and then it
/// misses a thread nevertheless (docs/decisions/waiting.md), so a caller must not rely on it alone.
bool fence_all_threads();

/// Makes this process participate; returns true if the system supports this. Each process must call it before it relies
/// on fence_all_threads().
bool join_fences();

} // namespace kumiki::platform
