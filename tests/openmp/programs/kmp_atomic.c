// The functions of LLVM's interface for atomic constructs, which programs of Intel's compilers call.
#include <stdio.h>

#define UPDATE(type, name, value)                                                                                      \
    void __kmpc_atomic_##type##_##name(const void*, int, value*, value);                                               \
    value __kmpc_atomic_##type##_##name##_cpt(const void*, int, value*, value, int);
UPDATE(fixed4, add, int)
UPDATE(fixed4, sub, int)
UPDATE(fixed8, max, long)
UPDATE(fixed2, shl, short)
UPDATE(fixed1, andb, signed char)
UPDATE(float8, mul, double)
UPDATE(float4, div, float)
UPDATE(float10, add, long double)
void __kmpc_atomic_float8_div_rev(const void*, int, double*, double);
int __kmpc_atomic_fixed4_rd(const void*, int, int*);
void __kmpc_atomic_fixed8_wr(const void*, int, long*, long);
void __kmpc_atomic_float4_mul_float8(const void*, int, float*, double);

int main(void) {
    int four = 0;
    long eight = 0;
    short two = 3;
    signed char one = 0x37;
    double real = 1;
    float small = 1024;
    long double wide = 0;
#pragma omp parallel for schedule(dynamic, 7)
    for (int i = 0; i < 1000; i++) {
        __kmpc_atomic_fixed4_add(0, 0, &four, i);
        __kmpc_atomic_fixed4_sub(0, 0, &four, 1);
        __kmpc_atomic_fixed8_max(0, 0, &eight, i * 3L);
        __kmpc_atomic_float10_add(0, 0, &wide, i / 2.0L);
        if (i < 10) __kmpc_atomic_float8_mul(0, 0, &real, 2);
    }
    printf("%d %ld %g %Lg\n", __kmpc_atomic_fixed4_rd(0, 0, &four), eight, real, wide);
    __kmpc_atomic_fixed2_shl(0, 0, &two, 4);
    __kmpc_atomic_fixed1_andb(0, 0, &one, 0x0f);
    __kmpc_atomic_float4_div(0, 0, &small, 8);
    __kmpc_atomic_float4_mul_float8(0, 0, &small, 0.5);
    __kmpc_atomic_float8_div_rev(0, 0, &real, 2048);
    printf("%d %d %g %g\n", two, one, small, real);
    const int before = __kmpc_atomic_fixed4_add_cpt(0, 0, &four, 5, 0);
    const int after = __kmpc_atomic_fixed4_add_cpt(0, 0, &four, 5, 1);
    printf("%d %d\n", before, after);
    __kmpc_atomic_fixed8_wr(0, 0, &eight, 77);
    printf("%ld\n", eight);
    return 0;
}
