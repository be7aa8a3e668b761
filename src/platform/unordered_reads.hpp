#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace kumiki::platform {

/// The scope of a read of more bytes than the reader will use: those that it will not use may be written meanwhile.
/// ThreadSanitizer takes no notice of reads in it; elsewhere it is nothing.
class UnorderedReads {
public:
#if defined(__SANITIZE_THREAD__)
    UnorderedReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
    ~UnorderedReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
    UnorderedReads() {}
#endif
    UnorderedReads(const UnorderedReads&) = delete;
    UnorderedReads& operator=(const UnorderedReads&) = delete;
};

} // namespace kumiki::platform
