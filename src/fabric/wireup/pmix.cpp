#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <pmix.h>
#include <string>
#include <thread>

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
        const auto size = number(PMIX_JOB_SIZE);
        if (!size) return tl::unexpected(size.error());
        size_ = *size;
        return {};
    }

    int rank() const override { return static_cast<int>(self_.rank); }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return 64 << 10; }

    bool has_written(std::string_view key) override {
        std::string value;
        return ask_now(rank(), key, value) == PMIX_SUCCESS;
    }
    Result<> put(std::string_view key, std::string_view value) override {
        std::string text(value);
        pmix_value_t wrapped{};
        wrapped.type = PMIX_STRING;
        wrapped.data.string = text.data();
        return outcome("PMIx_Put", PMIx_Put(PMIX_GLOBAL, std::string(key).c_str(), &wrapped));
    }
    /// MPI_Finalize closes the rank's connection, and then Open MPI's launcher counts the rank as lost to a fence: the
    /// fence ends without it, and its values are missing. Over hosts the launcher does not always tell keys without a
    /// fence, so there the ranks must do with fences.
    Result<> replace_fences() override {
        const auto on_this_host = number(PMIX_LOCAL_SIZE);
        if (!on_this_host) return tl::unexpected(on_this_host.error());
        fences_are_keys_ = *on_this_host == size_;
        return {};
    }
    Result<> fence() override {
        if (fences_are_keys_) return meet_by_keys(fmt::format("kumiki-fence-{}", fences_++));
        if (auto committed = commit(); !committed) return committed;
        pmix_proc_t everybody = process(PMIX_RANK_WILDCARD);
        pmix_info_t collect;
        bool yes = true;
        PMIX_INFO_CONSTRUCT(&collect);
        PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        return outcome("PMIx_Fence", PMIx_Fence(&everybody, 1, &collect, 1));
    }
    Result<std::string> get(int rank, std::string_view key) override {
        std::string text;
        const auto status = fences_are_keys_ ? ask_now(rank, key, text) : ask(rank, key, text, nullptr, 0);
        if (auto got = outcome("PMIx_Get", status); !got) return tl::unexpected(got.error());
        return text;
    }

private:
    /// What a rank has put before is committed with the key. This asks again and again because a query that waits in
    /// the launcher may miss a key that arrives at the same time. Only a commit fails when the launcher has ended; a
    /// query then finds no key.
    Result<> meet_by_keys(std::string_view key) {
        if (auto told = put(key, "1"); !told) return told;
        std::string value;
        for (int rank = 0; rank < size_;) {
            if (auto committed = commit(); !committed) return committed;
            if (ask_now(rank, key, value) == PMIX_SUCCESS) ++rank;
            else std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return {};
    }

    /// Returns what the launcher tells of the whole job under the key.
    Result<int> number(const char* key) const {
        const pmix_proc_t everybody = process(PMIX_RANK_WILDCARD);
        pmix_value_t* value = nullptr;
        auto got = outcome("PMIx_Get of the job", PMIx_Get(&everybody, key, nullptr, 0, &value));
        if (!got) return tl::unexpected(got.error());
        const auto number = static_cast<int>(value->data.uint32);
        PMIX_VALUE_RELEASE(value);
        return number;
    }
    static Result<> commit() { return outcome("PMIx_Commit", PMIx_Commit()); }
    pmix_proc_t process(pmix_rank_t rank) const {
        pmix_proc_t made{};
        std::memcpy(made.nspace, self_.nspace, sizeof made.nspace);
        made.rank = rank;
        return made;
    }
    pmix_status_t ask(int rank, std::string_view key, std::string& text, pmix_info_t* how, std::size_t count) const {
        const pmix_proc_t owner = process(static_cast<pmix_rank_t>(rank));
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&owner, std::string(key).c_str(), how, count, &value);
        if (status != PMIX_SUCCESS) return status;
        text = value->type == PMIX_STRING ? value->data.string : "";
        PMIX_VALUE_RELEASE(value);
        return status;
    }
    /// Without `immediate`, a query for a key that was never written is answered only when the key is written. The
    /// query must go to the server itself, because a rank that joins a second time uses another proxy.
    pmix_status_t ask_now(int rank, std::string_view key, std::string& text) const {
        pmix_info_t now;
        bool yes = true;
        PMIX_INFO_CONSTRUCT(&now);
        PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
        return ask(rank, key, text, &now, 1);
    }

    pmix_proc_t self_{};
    int size_ = 0;
    bool fences_are_keys_ = false;
    int fences_ = 0; ///< that have been keys
};

} // namespace
} // namespace kumiki::fabric

extern "C" [[gnu::visibility("default")]] kumiki::Result<std::unique_ptr<kumiki::fabric::KeyValueSpace>>
kumiki_open_pmix() {
    auto made = std::make_unique<kumiki::fabric::Pmix>();
    if (auto begun = made->begin(); !begun) return tl::unexpected(begun.error());
    return made;
}
