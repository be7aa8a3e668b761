/* Allocators. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What all threads have taken from a pool is in it again when they have given it back. */
static void share_pool(void) {
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 60000}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 2, traits);
    int none = 0;
#pragma omp parallel reduction(+ : none)
    for (int i = 0; i < 20; i++) {
        void* block = omp_alloc(100 + 2000 * omp_get_thread_num(), own);
        none += block == NULL;
#pragma omp barrier
        omp_free(block, own);
    }
    void* whole = omp_alloc(59000, own);
    printf("shared pool %d %d\n", none, whole != NULL);
    omp_free(whole, own);
    omp_destroy_allocator(own);
}

int main(void) {
    char* plain = omp_alloc(100, omp_default_mem_alloc);
    memset(plain, 1, 100);
    char* aligned = omp_aligned_alloc(256, 512, omp_null_allocator);
    int* zeros = omp_calloc(100, sizeof(int), omp_default_mem_alloc);
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += zeros[i];
    plain = omp_realloc(plain, 1000, omp_default_mem_alloc, omp_default_mem_alloc);
    printf("%d %d %d %d\n", plain[99], (int)((uintptr_t)aligned % 256), sum,
           omp_alloc(0, omp_default_mem_alloc) == NULL);
    omp_alloctrait_t traits[] = {
        {omp_atk_alignment, 128}, {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 3, traits);
    char* first = omp_alloc(2000, own);
    char* second = omp_alloc(3000, own);
    printf("%d %d %d\n", first != NULL, (int)((uintptr_t)first % 128), second == NULL);
    omp_free(first, own);
    second = omp_alloc(3000, own);
    printf("%d\n", second != NULL);
    omp_free(second, own);
    omp_destroy_allocator(own);
    own = omp_init_allocator(omp_default_mem_space, 2, traits + 1);
    first = omp_alloc(4096 - 32, own); /* what libgomp takes for itself, too */
    printf("%d", first != NULL);
    omp_free(first, own);
    first = omp_alloc(3000, own);
    memset(first, 3, 3000);
    first = omp_realloc(first, 3500, own, own); /* the pool has no room for both */
    printf(" %d", first != NULL && first[2999] == 3);
    second = omp_alloc(800, own);
    printf(" %d", second != NULL);
    omp_free(first, own);
    second = omp_alloc(3000, own);
    printf(" %d\n", second != NULL);
    omp_free(second, own);
    omp_destroy_allocator(own);
    omp_free(plain, omp_null_allocator);
    omp_free(aligned, omp_null_allocator);
    omp_free(zeros, omp_null_allocator);
    omp_set_default_allocator(omp_large_cap_mem_alloc);
    printf("%d\n", (int)omp_get_default_allocator());
    long total = 0;
#pragma omp parallel reduction(+ : total)
    {
        long part[64];
        for (int i = 0; i < 64; i++) part[i] = i;
        for (int i = 0; i < 64; i++) total += part[i];
    }
    printf("%ld\n", total / omp_get_max_threads());
    share_pool();
    return 0;
}
