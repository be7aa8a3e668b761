#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <pmix.h>
#include <string>

#include "fabric/wireup/exit_hook.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {
namespace {

Result<> outcome(const char* call, pmix_status_t status) {
    if (status == PMIX_SUCCESS) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("{} failed: {}; the program was started with PMIx (PMIX_NAMESPACE), so the launcher should "
                            "answer, unless it has ended or is of another version",
                            call, PMIx_Error_string(status)));
}

/// PMIx, as Open MPI's mpirun and srun --mpi=pmix offer it. The library counts its users, so an MPI library of the same
/// process may initialize it before Kumiki, after it, or both.
class Pmix : public KeyValueSpace {
public:
    Result<> begin() {
        if (auto begun = outcome("PMIx_Init", PMIx_Init(&self_, nullptr, 0)); !begun) return begun;
        // PMIx cannot be initialized again after it has been finalized, and an MPI library may still want to use it.
        // Also, Open MPI's mpirun regards a process that ends without this as failed.
        at_process_exit([](int code) {
            if (code == 0) PMIx_Finalize(nullptr, 0);
        });
        pmix_proc_t everybody = process(PMIX_RANK_WILDCARD);
        pmix_value_t* size = nullptr;
        if (auto known = outcome("PMIx_Get of the job's size", PMIx_Get(&everybody, PMIX_JOB_SIZE, nullptr, 0, &size));
            !known)
            return known;
        size_ = static_cast<int>(size->data.uint32);
        PMIX_VALUE_RELEASE(size);
        return {};
    }

    int rank() const override { return static_cast<int>(self_.rank); }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return 64 << 10; }

    bool has_written(std::string_view key) override {
        // Without `immediate`, a query for a key that was never written is answered only when the key is written. The
        // query must go to the server itself, because a rank that joins a second time uses another proxy.
        pmix_info_t now;
        bool yes = true;
        PMIX_INFO_CONSTRUCT(&now);
        PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
        return read(rank(), key, &now, 1).has_value();
    }
    Result<> put(std::string_view key, std::string_view value) override {
        std::string text(value);
        pmix_value_t wrapped{};
        wrapped.type = PMIX_STRING;
        wrapped.data.string = text.data();
        return outcome("PMIx_Put", PMIx_Put(PMIX_GLOBAL, std::string(key).c_str(), &wrapped));
    }
    /// Open MPI's launcher ends the fence of one host with "partial success" for all others when a rank whose
    /// MPI_Finalize takes longer closes its connection meanwhile. That rank has not begun this fence, so the others
    /// begin it again. (Over hosts the launcher ends it well for the others, and that rank's own never ends.)
    Result<> fence() override {
        if (auto committed = outcome("PMIx_Commit", PMIx_Commit()); !committed) return committed;
        pmix_proc_t everybody = process(PMIX_RANK_WILDCARD);
        pmix_info_t collect;
        bool yes = true;
        PMIX_INFO_CONSTRUCT(&collect);
        PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        pmix_status_t status = PMIX_SUCCESS;
        do status = PMIx_Fence(&everybody, 1, &collect, 1);
        while (status == PMIX_ERR_PARTIAL_SUCCESS);
        return outcome("PMIx_Fence", status);
    }
    Result<std::string> get(int rank, std::string_view key) override { return read(rank, key, nullptr, 0); }

private:
    pmix_proc_t process(pmix_rank_t rank) const {
        pmix_proc_t made{};
        std::memcpy(made.nspace, self_.nspace, sizeof made.nspace);
        made.rank = rank;
        return made;
    }
    Result<std::string> read(int rank, std::string_view key, pmix_info_t* how, std::size_t count) const {
        const pmix_proc_t owner = process(static_cast<pmix_rank_t>(rank));
        pmix_value_t* value = nullptr;
        auto got = outcome("PMIx_Get", PMIx_Get(&owner, std::string(key).c_str(), how, count, &value));
        if (!got) return tl::unexpected(got.error());
        std::string text = value->type == PMIX_STRING ? value->data.string : "";
        PMIX_VALUE_RELEASE(value);
        return text;
    }

    pmix_proc_t self_{};
    int size_ = 0;
};

} // namespace
} // namespace kumiki::fabric

extern "C" [[gnu::visibility("default")]] kumiki::Result<std::unique_ptr<kumiki::fabric::KeyValueSpace>>
kumiki_open_pmix() {
    auto made = std::make_unique<kumiki::fabric::Pmix>();
    if (auto begun = made->begin(); !begun) return tl::unexpected(begun.error());
    return made;
}
