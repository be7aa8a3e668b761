#pragma once

#include <cstddef>
#include <cstdint>

#include "accelerator/library.hpp"

/// What is used of OpenCL 1.2 and of CLBlast's C interface, as their documents specify it: types, numbers, functions.
namespace kumiki::accelerator::opencl {

using Status = std::int32_t;
using Bits = std::uint64_t;
using Count = std::uint32_t;
using Platform = struct PlatformObject*;
using DeviceId = struct DeviceObject*;
using Context = struct ContextObject*;
using Queue = struct QueueObject*;
using Buffer = struct BufferObject*;
using EventId = struct EventObject*;

inline constexpr Status success = 0, device_not_found = -1, no_platform = -1001;
inline constexpr Bits all_types = 0xFFFFFFFF, read_and_write = 1;
inline constexpr Count largest_allocation = 0x1010, memory_size = 0x101F, name_of_device = 0x102B,
                       double_precision = 0x1032, event_status = 0x11D3;

/// An offset in bytes, rows and planes.
using Origin = const std::size_t[3];

struct Functions {
    Status (*get_platforms)(Count, Platform*, Count*);
    Status (*get_devices)(Platform, Bits, Count, DeviceId*, Count*);
    Status (*get_device_info)(DeviceId, Count, std::size_t, void*, std::size_t*);
    Context (*create_context)(const std::intptr_t*, Count, const DeviceId*, void*, void*, Status*);
    Status (*release_context)(Context);
    Queue (*create_queue)(Context, DeviceId, Bits, Status*);
    Status (*release_queue)(Queue);
    Status (*flush)(Queue);
    Status (*finish)(Queue);
    Buffer (*create_buffer)(Context, Bits, std::size_t, void*, Status*);
    Status (*release_buffer)(Buffer);
    Status (*write_rectangle)(Queue, Buffer, Count, Origin, Origin, Origin, std::size_t, std::size_t, std::size_t,
                              std::size_t, const void*, Count, const EventId*, EventId*);
    Status (*read_rectangle)(Queue, Buffer, Count, Origin, Origin, Origin, std::size_t, std::size_t, std::size_t,
                             std::size_t, void*, Count, const EventId*, EventId*);
    Status (*copy_rectangle)(Queue, Buffer, Buffer, Origin, Origin, Origin, std::size_t, std::size_t, std::size_t,
                             std::size_t, Count, const EventId*, EventId*);
    Status (*mark)(Queue, Count, const EventId*, EventId*);
    Status (*barrier)(Queue, Count, const EventId*, EventId*);
    Status (*wait_for_events)(Count, const EventId*);
    Status (*get_event_info)(EventId, Count, std::size_t, void*, std::size_t*);
    Status (*release_event)(EventId);

    Functions() {
        const Library library("OpenCL", {"libOpenCL.so.1", "libOpenCL.so"});
        library.find(get_platforms, "clGetPlatformIDs");
        library.find(get_devices, "clGetDeviceIDs");
        library.find(get_device_info, "clGetDeviceInfo");
        library.find(create_context, "clCreateContext");
        library.find(release_context, "clReleaseContext");
        library.find(create_queue, "clCreateCommandQueue");
        library.find(release_queue, "clReleaseCommandQueue");
        library.find(flush, "clFlush");
        library.find(finish, "clFinish");
        library.find(create_buffer, "clCreateBuffer");
        library.find(release_buffer, "clReleaseMemObject");
        library.find(write_rectangle, "clEnqueueWriteBufferRect");
        library.find(read_rectangle, "clEnqueueReadBufferRect");
        library.find(copy_rectangle, "clEnqueueCopyBufferRect");
        library.find(mark, "clEnqueueMarkerWithWaitList");
        library.find(barrier, "clEnqueueBarrierWithWaitList");
        library.find(wait_for_events, "clWaitForEvents");
        library.find(get_event_info, "clGetEventInfo");
        library.find(release_event, "clReleaseEvent");
    }
};

struct Products {
    static constexpr int by_rows = 101, not_transposed = 111;

    int (*dgemm)(int, int, int, std::size_t, std::size_t, std::size_t, double, Buffer, std::size_t, std::size_t, Buffer,
                 std::size_t, std::size_t, double, Buffer, std::size_t, std::size_t, Queue*, EventId*);

    Products() {
        const Library library("CLBlast", {"libclblast.so.1", "libclblast.so"});
        library.find(dgemm, "CLBlastDgemm");
    }
};

} // namespace kumiki::accelerator::opencl
