// The C interface of collectives. All of them work on a group; the job is a group, too.

#include <string>

#include "face/job.hpp"

using kumiki::collective::Collectives;
using kumiki::face::on_group;

using Pieces = Collectives::Pieces;

namespace {

Pieces pieces(const size_t* bytes, const size_t* offsets) {
    return {[bytes](int rank) { return bytes[rank]; }, [offsets](int rank) { return offsets[rank]; }};
}

kumiki::Result<> no_table(Collectives& all, const char* operation) {
    return all.refuse(
        kumiki::fail(KUMIKI_ERROR_ARGUMENT, std::string(operation) + ": a table of sizes or offsets is null"));
}

} // namespace

kumiki_status kumiki_group_barrier(kumiki_group* group) {
    return on_group(group, "barrier", [](Collectives& all) { return all.barrier(); });
}

kumiki_status kumiki_group_barrier_enter(kumiki_group* group) {
    return on_group(group, "barrier_enter", [](Collectives& all) { return all.barrier_enter(); });
}

kumiki_status kumiki_group_barrier_wait(kumiki_group* group) {
    return on_group(group, "barrier_wait", [](Collectives& all) { return all.barrier_wait(); });
}

kumiki_status kumiki_group_broadcast(kumiki_group* group, void* data, size_t bytes, int root) {
    return on_group(group, "broadcast", [&](Collectives& all) { return all.broadcast(data, bytes, root); });
}

kumiki_status kumiki_group_reduce(kumiki_group* group, const void* input, void* output, size_t count, kumiki_type type,
                                  kumiki_operation operation, int root) {
    return on_group(group, "reduce", [&](Collectives& all) {
        // The number is what asks the room below for the result at every rank.
        if (root == Collectives::every_rank) return all.refuse(all.no_such_root("reduce", root));
        return all.reduce(input, output, count, type, operation, root);
    });
}

kumiki_status kumiki_group_all_reduce(kumiki_group* group, const void* input, void* output, size_t count,
                                      kumiki_type type, kumiki_operation operation) {
    return on_group(group, "all_reduce", [&](Collectives& all) {
        return all.reduce(input, output, count, type, operation, Collectives::every_rank);
    });
}

kumiki_status kumiki_group_all_to_all(kumiki_group* group, const void* input, void* output, size_t bytes) {
    return on_group(group, "all_to_all", [&](Collectives& all) {
        const Pieces equal = Pieces::equal(bytes);
        return all.all_to_all(input, equal, output, equal);
    });
}

kumiki_status kumiki_group_all_to_all_v(kumiki_group* group, const void* input, const size_t* input_bytes,
                                        const size_t* input_offsets, void* output, const size_t* output_bytes,
                                        const size_t* output_offsets) {
    return on_group(group, "all_to_all_v", [&](Collectives& all) {
        if (input_bytes == nullptr || input_offsets == nullptr || output_bytes == nullptr || output_offsets == nullptr)
            return no_table(all, "all_to_all_v");
        return all.all_to_all(input, pieces(input_bytes, input_offsets), output, pieces(output_bytes, output_offsets));
    });
}

kumiki_status kumiki_group_all_gather(kumiki_group* group, const void* input, size_t bytes, void* output) {
    return on_group(group, "all_gather",
                    [&](Collectives& all) { return all.all_gather(input, bytes, output, Pieces::equal(bytes)); });
}

kumiki_status kumiki_group_all_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                        const size_t* output_bytes, const size_t* output_offsets) {
    return on_group(group, "all_gather_v", [&](Collectives& all) {
        if (output_bytes == nullptr || output_offsets == nullptr) return no_table(all, "all_gather_v");
        return all.all_gather(input, bytes, output, pieces(output_bytes, output_offsets));
    });
}

kumiki_status kumiki_group_gather(kumiki_group* group, const void* input, size_t bytes, void* output, int root) {
    return on_group(group, "gather",
                    [&](Collectives& all) { return all.gather(input, bytes, output, Pieces::equal(bytes), root); });
}

kumiki_status kumiki_group_gather_v(kumiki_group* group, const void* input, size_t bytes, void* output,
                                    const size_t* output_bytes, const size_t* output_offsets, int root) {
    return on_group(group, "gather_v", [&](Collectives& all) {
        if (all.group().rank() == root && (output_bytes == nullptr || output_offsets == nullptr))
            return no_table(all, "gather_v");
        return all.gather(input, bytes, output, pieces(output_bytes, output_offsets), root);
    });
}

kumiki_status kumiki_group_scatter(kumiki_group* group, const void* input, void* output, size_t bytes, int root) {
    return on_group(group, "scatter",
                    [&](Collectives& all) { return all.scatter(input, Pieces::equal(bytes), output, bytes, root); });
}

kumiki_status kumiki_group_scatter_v(kumiki_group* group, const void* input, const size_t* input_bytes,
                                     const size_t* input_offsets, void* output, size_t bytes, int root) {
    return on_group(group, "scatter_v", [&](Collectives& all) {
        if (all.group().rank() == root && (input_bytes == nullptr || input_offsets == nullptr))
            return no_table(all, "scatter_v");
        return all.scatter(input, pieces(input_bytes, input_offsets), output, bytes, root);
    });
}

kumiki_status kumiki_group_scan(kumiki_group* group, const void* input, void* output, size_t count, kumiki_type type,
                                kumiki_operation operation) {
    return on_group(group, "scan", [&](Collectives& all) { return all.scan(input, output, count, type, operation); });
}

kumiki_status kumiki_group_reduce_scatter(kumiki_group* group, const void* input, void* output, size_t count,
                                          kumiki_type type, kumiki_operation operation) {
    return on_group(group, "reduce_scatter", [&](Collectives& all) {
        return all.reduce_scatter(input, output, [count](int) { return count; }, type, operation);
    });
}

kumiki_status kumiki_group_reduce_scatter_v(kumiki_group* group, const void* input, void* output, const size_t* counts,
                                            kumiki_type type, kumiki_operation operation) {
    return on_group(group, "reduce_scatter_v", [&](Collectives& all) {
        if (counts == nullptr) return no_table(all, "reduce_scatter_v");
        return all.reduce_scatter(input, output, [counts](int rank) { return counts[rank]; }, type, operation);
    });
}

// -- of the job --

kumiki_status kumiki_barrier(kumiki_job* job) { return kumiki_group_barrier(kumiki_job_group(job)); }
kumiki_status kumiki_barrier_enter(kumiki_job* job) { return kumiki_group_barrier_enter(kumiki_job_group(job)); }
kumiki_status kumiki_barrier_wait(kumiki_job* job) { return kumiki_group_barrier_wait(kumiki_job_group(job)); }

kumiki_status kumiki_broadcast(kumiki_job* job, void* data, size_t bytes, int root) {
    return kumiki_group_broadcast(kumiki_job_group(job), data, bytes, root);
}

kumiki_status kumiki_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                            kumiki_operation operation, int root) {
    return kumiki_group_reduce(kumiki_job_group(job), input, output, count, type, operation, root);
}

kumiki_status kumiki_all_reduce(kumiki_job* job, const void* input, void* output, size_t count, kumiki_type type,
                                kumiki_operation operation) {
    return kumiki_group_all_reduce(kumiki_job_group(job), input, output, count, type, operation);
}

kumiki_status kumiki_all_to_all(kumiki_job* job, const void* input, void* output, size_t bytes) {
    return kumiki_group_all_to_all(kumiki_job_group(job), input, output, bytes);
}

kumiki_status kumiki_all_to_all_v(kumiki_job* job, const void* input, const size_t* input_bytes,
                                  const size_t* input_offsets, void* output, const size_t* output_bytes,
                                  const size_t* output_offsets) {
    return kumiki_group_all_to_all_v(kumiki_job_group(job), input, input_bytes, input_offsets, output, output_bytes,
                                     output_offsets);
}
