#pragma once

#include <cstddef>
#include <string>

#include "accelerator/library.hpp"

namespace kumiki::accelerator::vendor {

/// What is used of a vendor's runtime and BLAS, as their documents specify it. CUDA with cuBLAS and HIP with rocBLAS
/// have functions of the same shape under different names, and the same numbers but one.
struct Table {
    std::string name;
    int not_transposed;

    // Numbers of both: kinds of copies, and flags.
    static constexpr int to_device = 1, to_host = 2, within_device = 3;
    static constexpr unsigned independent_stream = 1, event_without_time = 2;
    // Errors of both: the driver is absent or too old, and there is none of its devices.
    static constexpr int no_driver = 35, no_device = 100;

    using Stream = void*;
    using Event = void*;
    using Handle = void*;

    const char* (*error_text)(int);
    int (*count_devices)(int*);
    int (*set_device)(int);
    int (*bus_name)(char*, int, int);
    int (*memory_info)(std::size_t* free, std::size_t* all);
    int (*allocate)(void**, std::size_t);
    int (*release)(void*);
    int (*pin)(void*, std::size_t, unsigned);
    int (*unpin)(void*);
    int (*create_stream)(Stream*, unsigned);
    int (*destroy_stream)(Stream);
    int (*finish_stream)(Stream);
    int (*copy)(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                std::size_t height, int kind, Stream);
    int (*create_event)(Event*, unsigned);
    int (*destroy_event)(Event);
    int (*record_event)(Event, Stream);
    int (*wait_for_event)(Event);
    int (*stream_waits)(Stream, Event, unsigned);

    /// Sets the functions that follow: the BLAS is large, and of no use where there is no device.
    void (*open_blas)(Table&);
    int (*create_handle)(Handle*);
    int (*destroy_handle)(Handle);
    int (*set_stream)(Handle, Stream);
    /// By columns.
    int (*dgemm)(Handle, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
                 double*, int);

    static Table cuda() {
        const Library runtime("CUDA", {"libcudart.so.12", "libcudart.so.13", "libcudart.so.11.0", "libcudart.so"});
        Table table("CUDA", 0, runtime, "cuda");
        table.open_blas = [](Table& it) {
            const Library blas("cuBLAS", {"libcublas.so.12", "libcublas.so.13", "libcublas.so.11", "libcublas.so"});
            blas.find(it.create_handle, "cublasCreate_v2");
            blas.find(it.destroy_handle, "cublasDestroy_v2");
            blas.find(it.set_stream, "cublasSetStream_v2");
            blas.find(it.dgemm, "cublasDgemm_v2");
        };
        return table;
    }
    static Table hip() {
        const Library runtime("HIP", {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so"});
        Table table("HIP", 111, runtime, "hip");
        table.open_blas = [](Table& it) {
            const Library blas("rocBLAS", {"librocblas.so.4", "librocblas.so.5", "librocblas.so.3", "librocblas.so"});
            blas.find(it.create_handle, "rocblas_create_handle");
            blas.find(it.destroy_handle, "rocblas_destroy_handle");
            blas.find(it.set_stream, "rocblas_set_stream");
            blas.find(it.dgemm, "rocblas_dgemm");
        };
        return table;
    }

private:
    Table(const char* vendor, int transposition, const Library& runtime, const std::string& prefix)
        : name(vendor), not_transposed(transposition) {
        const auto find = [&](auto& function, const char* what) { runtime.find(function, (prefix + what).c_str()); };
        find(error_text, "GetErrorString");
        find(count_devices, "GetDeviceCount");
        find(set_device, "SetDevice");
        find(bus_name, "DeviceGetPCIBusId");
        find(memory_info, "MemGetInfo");
        find(allocate, "Malloc");
        find(release, "Free");
        find(pin, "HostRegister");
        find(unpin, "HostUnregister");
        find(create_stream, "StreamCreateWithFlags");
        find(destroy_stream, "StreamDestroy");
        find(finish_stream, "StreamSynchronize");
        find(copy, "Memcpy2DAsync");
        find(create_event, "EventCreateWithFlags");
        find(destroy_event, "EventDestroy");
        find(record_event, "EventRecord");
        find(wait_for_event, "EventSynchronize");
        find(stream_waits, "StreamWaitEvent");
    }
};

} // namespace kumiki::accelerator::vendor
