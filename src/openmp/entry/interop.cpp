#include <array>
#include <cstdint>
#include <string_view>

#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"

/// Interoperability objects, by which a program reaches the runtime of a device (OpenMP 5.1), and the names of devices
/// (OpenMP 6.0). There is no device but this host, which has no such runtime: each object is omp_interop_none, which
/// has no properties. Results are those of libgomp 16, but for the words of descriptions.
using namespace kumiki::openmp;

namespace {

using Object = std::uintptr_t;

constexpr std::string_view host_name = "OMP_INITIAL_DEVICE";

/// From omp_ipr_fr_id, -1, to omp_ipr_first.
constexpr std::array property_names{"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                    "platform", "device",  "device_context", "targetsync"};

const char* property_name(int property) {
    if (property >= 0 || property < -static_cast<int>(property_names.size())) return nullptr;
    return property_names[static_cast<std::size_t>(-property - 1)];
}

/// Notes why a property has no value: the object is none, or there is no such property.
void note_none(int property, int* code) {
    constexpr int empty = -1, out_of_range = -2;
    if (code != nullptr) *code = property_name(property) != nullptr ? empty : out_of_range;
}

const char* description(int code) {
    switch (code) {
    case 1: return "the property has no value";
    case 0: return "the property has been read";
    case -1: return "the object is omp_interop_none";
    case -2: return "there is no such property";
    case -3: return "the property is an integer (omp_get_interop_int)";
    case -4: return "the property is a pointer (omp_get_interop_ptr)";
    case -5: return "the property is a text (omp_get_interop_str)";
    default: return nullptr;
    }
}

/// Fortran's pointer to a text, and its length.
void give_text(const char* text, const char** pointer, std::size_t* length) {
    *pointer = text;
    *length = text != nullptr ? std::string_view(text).size() : 0;
}

const char* name_of_device(std::int64_t device) {
    return device == initial_device || device == default_device || device == 0 ? host_name.data() : nullptr;
}

int device_of_name(std::string_view name) { return name == host_name ? initial_device : invalid_device; }

} // namespace

KUMIKI_ENTRY int omp_get_num_interop_properties(Object) { return 0; }
KUMIKI_ENTRY std::intptr_t omp_get_interop_int(Object, int property, int* code) {
    note_none(property, code);
    return 0;
}
KUMIKI_ENTRY void* omp_get_interop_ptr(Object, int property, int* code) {
    note_none(property, code);
    return nullptr;
}
KUMIKI_ENTRY const char* omp_get_interop_str(Object, int property, int* code) {
    note_none(property, code);
    return nullptr;
}
KUMIKI_ENTRY const char* omp_get_interop_name(Object, int property) { return property_name(property); }
KUMIKI_ENTRY const char* omp_get_interop_type_desc(Object, int) { return nullptr; }
KUMIKI_ENTRY const char* omp_get_interop_rc_desc(Object, int code) { return description(code); }

KUMIKI_ENTRY void omp_get_interop_str_(const char** text, std::size_t* length, Object object, int property, int* code) {
    give_text(omp_get_interop_str(object, property, code), text, length);
}
KUMIKI_ENTRY void omp_get_interop_name_(const char** text, std::size_t* length, Object, int property) {
    give_text(property_name(property), text, length);
}
KUMIKI_ENTRY void omp_get_interop_type_desc_(const char** text, std::size_t* length, Object, int) {
    give_text(nullptr, text, length);
}
KUMIKI_ENTRY void omp_get_interop_rc_desc_(const char** text, std::size_t* length, Object, int code) {
    give_text(description(code), text, length);
}

KUMIKI_ENTRY const char* omp_get_uid_from_device(int device) { return name_of_device(device); }
KUMIKI_ENTRY void omp_get_uid_from_device_(const char** text, std::size_t* length, std::int32_t device) {
    give_text(name_of_device(device), text, length);
}
KUMIKI_ENTRY void omp_get_uid_from_device_8_(const char** text, std::size_t* length, std::int64_t device) {
    give_text(name_of_device(device), text, length);
}
KUMIKI_ENTRY int omp_get_device_from_uid(const char* name) { return device_of_name(name); }
KUMIKI_ENTRY int omp_get_device_from_uid_(const char* text, std::size_t length) {
    const std::string_view name(text, length);
    return device_of_name(name.substr(0, name.find_last_not_of(' ') + 1));
}
