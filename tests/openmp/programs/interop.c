// Interoperability objects and the names of devices, of OpenMP 5.1 and 6.0 (gcc 15). There is no device but the host.
#include <omp.h>
#include <stdio.h>

static const char* shown(const char* text) { return text != NULL ? text : "nothing"; }

static void show_properties(omp_interop_t object) {
    printf("%d properties of the implementation\n", omp_get_num_interop_properties(object));
    for (int i = omp_ipr_first - 1; i <= 0; ++i) {
        const omp_interop_property_t property = (omp_interop_property_t)i;
        omp_interop_rc_t codes[3] = {omp_irc_other, omp_irc_other, omp_irc_other};
        const long number = (long)omp_get_interop_int(object, property, &codes[0]);
        const void* const pointer = omp_get_interop_ptr(object, property, &codes[1]);
        const char* const text = omp_get_interop_str(object, property, &codes[2]);
        printf("%d %s: %ld %d %s, %d %d %d, %s\n", i, shown(omp_get_interop_name(object, property)), number,
               pointer != NULL, shown(text), codes[0], codes[1], codes[2],
               shown(omp_get_interop_type_desc(object, property)));
    }
    for (int code = omp_irc_other - 1; code <= omp_irc_no_value + 1; ++code)
        printf("%d described: %d\n", code, omp_get_interop_rc_desc(object, (omp_interop_rc_t)code) != NULL);
}

int main(void) {
    omp_interop_t first = (omp_interop_t)5, second = (omp_interop_t)6;
#pragma omp interop init(targetsync : first) init(target, targetsync : second)
    printf("objects %d %d\n", first != omp_interop_none, second != omp_interop_none);
    show_properties(first);
#pragma omp interop use(first) device(omp_initial_device)
#pragma omp interop use(first) nowait
#pragma omp interop init(prefer_type("cuda", "hip"), targetsync : first) device(omp_get_num_devices())
#pragma omp interop destroy(first, second)
    printf("objects %d %d\n", first != omp_interop_none, second != omp_interop_none);

    for (int device = -1; device <= 2; ++device) printf("%d is %s\n", device, shown(omp_get_uid_from_device(device)));
    printf("%d %d %d\n", omp_get_device_from_uid(omp_get_uid_from_device(omp_get_initial_device())),
           omp_get_device_from_uid("OMP_INITIAL"), omp_get_device_from_uid(""));
    return 0;
}
