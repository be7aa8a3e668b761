/// The C library's variable that tells whether a process has one thread only; std::shared_ptr asks it. Where a program
/// asks, too, the linker moves the variable into the program's own data, and every library finds it there. Over several
/// processes these are shared memory: a library of the runtime that asked could fault in the middle of handling a
/// fault, or after its network has ended. So it gets a variable of its own, which always says that there are several
/// threads.
extern "C" [[gnu::visibility("hidden")]] char __libc_single_threaded; // NOLINT: the name is the C library's
char __libc_single_threaded = 0;                                      // NOLINT: the same
