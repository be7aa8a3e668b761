#pragma once

#include <cstddef>
#include <string>

#include "accelerator/library.hpp"

namespace kumiki::accelerator::vendor {

/// What is used of a vendor's runtime and BLAS, as their documents specify it. CUDA with cuBLAS and HIP with rocBLAS
/// have functions of the same shape under different names, and the same numbers but one.
struct Table {
    std::string name;
    int not_transposed, transposed;

    // Numbers of both: kinds of copies, and flags.
    static constexpr int to_device = 1, to_host = 2, within_device = 3;
    static constexpr unsigned independent_stream = 1, event_without_time = 2;
    // Errors of both: the driver is absent or too old, and there is none of its devices.
    static constexpr int no_driver = 35, no_device = 100;

    using Stream = void*;
    using Event = void*;
    using Handle = void*;
    using Program = void*;
    using Module = void*;
    using Kernel = void*;

    const char* (*error_text)(int);
    int (*count_devices)(int*);
    int (*set_device)(int);
    int (*bus_name)(char*, int, int);
    int (*memory_info)(std::size_t* free, std::size_t* all);
    int (*allocate)(void**, std::size_t);
    int (*release)(void*);
    int (*pin)(void*, std::size_t, unsigned);
    int (*unpin)(void*);
    int (*priorities)(int* least, int* greatest);
    int (*create_stream)(Stream*, unsigned, int priority);
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

    /// C = alpha op(A) + beta op(B), by columns.
    int (*add)(Handle, int, int, int, int, const double*, const double*, int, const double*, const double*, int,
               double*, int);

    /// Sets the functions that follow, which the BLAS does not need. Throws DeviceError where they are not installed.
    void (*open_solver)(Table&);
    int (*create_solver)(Handle*);
    int (*destroy_solver)(Handle);
    int (*set_solver_stream)(Handle, Stream);
    /// The workspace of getrf, in doubles.
    int (*getrf_room)(Handle, int rows, int columns, double*, int lead, int* room);
    int (*getrf)(Handle, int rows, int columns, double*, int lead, double* work, int* pivots, int* info);

    /// Sets the functions that follow, which compile a kernel while the program runs, and start it. Throws DeviceError
    /// where they are not installed.
    void (*open_compiler)(Table&);
    int (*create_program)(Program*, const char* source, const char* name, int, const char* const*, const char* const*);
    int (*compile)(Program, int, const char* const*);
    int (*code_size)(Program, std::size_t*);
    int (*code)(Program, char*);
    int (*destroy_program)(Program*);
    int (*load)(Module*, const void* code);
    int (*find_kernel)(Kernel*, Module, const char* name);
    int (*launch)(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared_bytes, Stream,
                  void** parameters, void** extra);

    static Table cuda() {
        const Library runtime("CUDA", {"libcudart.so.12", "libcudart.so.13", "libcudart.so.11.0", "libcudart.so"});
        Table table("CUDA", {0, 1}, runtime, "cuda");
        table.open_blas = [](Table& it) {
            const Library blas("cuBLAS", {"libcublas.so.12", "libcublas.so.13", "libcublas.so.11", "libcublas.so"});
            blas.find(it.create_handle, "cublasCreate_v2");
            blas.find(it.destroy_handle, "cublasDestroy_v2");
            blas.find(it.set_stream, "cublasSetStream_v2");
            blas.find(it.dgemm, "cublasDgemm_v2");
            blas.find(it.add, "cublasDgeam");
        };
        // Version 11 is that of CUDA 11 and of CUDA 12.
        table.open_solver = [](Table& it) {
            it.find_solver({"cuSOLVER", {"libcusolver.so.11", "libcusolver.so.12", "libcusolver.so"}}, "cusolver");
        };
        table.open_compiler = [](Table& it) {
            const Library compiler("NVRTC", {"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.11.2", "libnvrtc.so"});
            it.find_compiler(compiler, "nvrtc", "PTX");
            it.find_launch({"the driver of CUDA", {"libcuda.so.1"}}, "cuModule", "cuLaunchKernel");
        };
        return table;
    }
    static Table hip() {
        static constexpr auto runtime_names = {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5",
                                               "libamdhip64.so"};
        const Library runtime("HIP", runtime_names);
        Table table("HIP", {111, 112}, runtime, "hip");
        table.open_blas = [](Table& it) {
            const Library blas("rocBLAS", {"librocblas.so.4", "librocblas.so.5", "librocblas.so.3", "librocblas.so"});
            blas.find(it.create_handle, "rocblas_create_handle");
            blas.find(it.destroy_handle, "rocblas_destroy_handle");
            blas.find(it.set_stream, "rocblas_set_stream");
            blas.find(it.dgemm, "rocblas_dgemm");
            blas.find(it.add, "rocblas_dgeam");
        };
        table.open_solver = [](Table& it) {
            it.find_solver({"hipSOLVER", {"libhipsolver.so.0", "libhipsolver.so.1", "libhipsolver.so"}}, "hipsolver");
        };
        table.open_compiler = [](Table& it) {
            it.find_compiler({"HIPRTC", {"libhiprtc.so.6", "libhiprtc.so.7", "libhiprtc.so.5", "libhiprtc.so"}},
                             "hiprtc", "Code");
            it.find_launch({"HIP", runtime_names}, "hipModule", "hipModuleLaunchKernel");
        };
        return table;
    }

private:
    struct Operations {
        int plain, transposed;
    };

    void find_solver(const Library& solver, const std::string& prefix) {
        const auto find = [&](auto& function, const char* what) { solver.find(function, (prefix + what).c_str()); };
        find(create_solver, "DnCreate");
        find(destroy_solver, "DnDestroy");
        find(set_solver_stream, "DnSetStream");
        find(getrf_room, "DnDgetrf_bufferSize");
        find(getrf, "DnDgetrf");
    }

    void find_compiler(const Library& compiler, const std::string& prefix, const std::string& code_name) {
        const auto find = [&](auto& function, const std::string& what) {
            compiler.find(function, (prefix + what).c_str());
        };
        find(create_program, "CreateProgram");
        find(compile, "CompileProgram");
        find(code_size, "Get" + code_name + "Size");
        find(code, "Get" + code_name);
        find(destroy_program, "DestroyProgram");
    }
    void find_launch(const Library& driver, const std::string& prefix, const char* launch_name) {
        driver.find(load, (prefix + "LoadData").c_str());
        driver.find(find_kernel, (prefix + "GetFunction").c_str());
        driver.find(launch, launch_name);
    }

    Table(const char* vendor, const Operations& operations, const Library& runtime, const std::string& prefix)
        : name(vendor), not_transposed(operations.plain), transposed(operations.transposed) {
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
        find(priorities, "DeviceGetStreamPriorityRange");
        find(create_stream, "StreamCreateWithPriority");
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
