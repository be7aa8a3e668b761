#pragma once

namespace kumiki::platform {

/// Makes every running thread of every process that asked for it execute a full memory fence (Linux membarrier), so
/// that the other side of a store-load ordering needs none. Returns false where the system cannot.
/// Now and then it misses a thread all the same (docs/decisions/waiting.md): who relies on this needs a second way out.
bool fence_all_threads();

/// Takes part in the fences of others; true when the system can. To be called by each process before it relies on
/// fence_all_threads().
bool join_fences();

} // namespace kumiki::platform
