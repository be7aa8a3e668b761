#pragma once

namespace kumiki::platform {

/// Makes every running thread of every process that asked for it execute a full memory fence (Linux membarrier), so
/// that the other side of a store-load ordering needs none. Returns false where the system cannot do it. Now and then
/// it misses a thread all the same (docs/decisions/waiting.md): a caller that relies on it needs a second way out.
bool fence_all_threads();

/// Lets this process take part in the fences of others; returns true when the system can do it. Each process must call
/// it before it relies on fence_all_threads().
bool join_fences();

} // namespace kumiki::platform
