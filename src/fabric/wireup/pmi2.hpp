#pragma once

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// PMI-2 through Slurm's library of it, for a process that has that library because its MPI library uses it: the two
/// then share one conversation with srun, which speaks one dialect with each process.
class Pmi2 : public KeyValueSpace {
public:
    static constexpr const char* library_name = "libpmi2.so.0";

    /// Whether the process has the library: as something that its program or an MPI library was linked with.
    static bool is_loaded() { return dlopen(library_name, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

    static Result<std::unique_ptr<KeyValueSpace>> open() {
        std::unique_ptr<Pmi2> space(new Pmi2);
        if (auto begun = space->begin(); !begun) return tl::unexpected(begun.error());
        return space;
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return most_value / 2; }

    bool has_written(std::string_view key) override { return get(rank_, key).has_value(); }

    Result<> put(std::string_view key, std::string_view value) override {
        return outcome("PMI2_KVS_Put", put_(std::string(key).c_str(), std::string(value).c_str()));
    }
    Result<> fence() override { return outcome("PMI2_KVS_Fence", fence_()); }
    Result<std::string> get(int, std::string_view key) override {
        std::array<char, most_value + 1> value{};
        int length = 0;
        constexpr int anywhere = -1; // a hint where the value was put
        auto done = outcome("PMI2_KVS_Get", get_(job_.data(), anywhere, std::string(key).c_str(), value.data(),
                                                 static_cast<int>(value.size()), &length));
        if (!done) return tl::unexpected(done.error());
        if (length <= 0) return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("PMI2_KVS_Get found no {}", key));
        return std::string(value.data());
    }

private:
    Pmi2() = default;

    Result<> begin() {
        void* library = dlopen(library_name, RTLD_NOW); // never closed
        int (*initialized)() = nullptr;
        int (*initialize)(int*, int*, int*, int*) = nullptr;
        int (*job_of)(char*, int) = nullptr;
        if (!find(library, "PMI2_Initialized", initialized) || !find(library, "PMI2_Init", initialize) ||
            !find(library, "PMI2_Job_GetId", job_of) || !find(library, "PMI2_Job_GetRank", rank_of_) ||
            !find(library, "PMI2_Info_GetSize", size_of_) || !find(library, "PMI2_KVS_Put", put_) ||
            !find(library, "PMI2_KVS_Get", get_) || !find(library, "PMI2_KVS_Fence", fence_))
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        fmt::format("{} is not Slurm's library of PMI-2; use srun --mpi=pmix", library_name));
        if (auto known = initialized() != 0 ? ask_who() : introduce(initialize); !known) return known;
        return outcome("PMI2_Job_GetId", job_of(job_.data(), static_cast<int>(job_.size())));
    }
    Result<> introduce(int (*initialize)(int*, int*, int*, int*)) {
        int spawned = 0, application = 0;
        return outcome("PMI2_Init", initialize(&spawned, &size_, &rank_, &application));
    }
    /// Somebody else has begun the conversation, so that its answer to PMI2_Init is not ours.
    Result<> ask_who() {
        if (auto known = outcome("PMI2_Job_GetRank", rank_of_(&rank_)); !known) return known;
        return outcome("PMI2_Info_GetSize", size_of_(&size_));
    }

    template <class Function>
    static bool find(void* library, const char* name, Function*& function) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        return function != nullptr;
    }
    static Result<> outcome(const char* call, int code) {
        if (code == 0) return {};
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{} failed with {}; join the job before MPI_Finalize, and start the program by srun "
                                "--mpi=pmi2 or --mpi=pmix",
                                call, code));
    }

    static constexpr std::size_t most_value = 1024; ///< PMI2_MAX_VALLEN
    int rank_ = 0, size_ = 0;
    std::array<char, 256> job_{};
    int (*rank_of_)(int*) = nullptr;
    int (*size_of_)(int*) = nullptr;
    int (*put_)(const char*, const char*) = nullptr;
    int (*get_)(const char*, int, const char*, char*, int, int*) = nullptr;
    int (*fence_)() = nullptr;
};

} // namespace kumiki::fabric
