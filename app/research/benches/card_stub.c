/* Stands in for the CUDA runtime and driver on a machine without a card, for as much as torch asks of them before any
   calculation. It has as many cards as `stub_cards` says, and knows on which threads a context is current.

   As in CUDA 12, calls that need a context make the primary one current on their thread; questions about the card don't.
   The driver's own calls fail without one. Memory is the machine's; launches do nothing. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, INVALID_CONTEXT = 201 };
static int count, capability[MOST];
static __thread int bound, current;

void stub_cards(int cards, const int *capabilities) {
    count = cards < MOST ? cards : MOST;
    for (int i = 0; i < count; i++) capability[i] = capabilities[i];
}

/* Questions. */
int cudaGetDeviceCount(int *n) { *n = count; return 0; }
int cudaGetDevice(int *device) { *device = current; return 0; }
int cudaGetLastError(void) { return 0; }
int cudaPeekAtLastError(void) { return 0; }
int cudaDriverGetVersion(int *version) { *version = 12080; return 0; }
int cudaDeviceCanAccessPeer(int *can, int a, int b) { (void)a; (void)b; *can = 0; return 0; }
int cudaDeviceGetAttribute(int *value, int what, int device) { (void)what; (void)device; *value = 0; return 0; }
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return 0; }
int cudaStreamIsCapturing(void *stream, int *status) { (void)stream; *status = 0; return 0; }
int cudaThreadExchangeStreamCaptureMode(int *mode) { (void)mode; return 0; }

/* The places of cudaDeviceProp (CUDA 12) that torch reads, and its size, in bytes. */
enum {
    PROP_BYTES = 1032, MEMORY = 288, SHARED = 296, REGISTERS = 304, WARP = 308, THREADS = 320, MAJOR = 360, MINOR = 364,
    PROCESSORS = 388
};

int cudaGetDeviceProperties_v2(char *out, int device) {
    const struct { int place, value; } ints[] = {
        {SHARED, 49152}, {REGISTERS, 65536}, {WARP, 32}, {THREADS, 1024}, {PROCESSORS, 128},
        {MAJOR, capability[device] / 10}, {MINOR, capability[device] % 10},
    };
    const size_t memory = (size_t)24 << 30;
    memset(out, 0, PROP_BYTES);
    strcpy(out, "no card");
    memcpy(out + MEMORY, &memory, sizeof memory);
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) memcpy(out + ints[i].place, &ints[i].value, sizeof(int));
    return 0;
}

/* Work, which needs a context. */
static int work(void) { bound = 1; return 0; }
int cudaSetDevice(int device) { current = device; return work(); }
int cudaMemGetInfo(size_t *unused, size_t *all) { *unused = *all = (size_t)24 << 30; return work(); }
int cudaDeviceSynchronize(void) { return work(); }
int cudaStreamSynchronize(void *stream) { (void)stream; return work(); }
int cudaMalloc(void **out, size_t bytes) { *out = aligned_alloc(512, (bytes + 511) / 512 * 512); return work(); }
int cudaFree(void *memory) { free(memory); return work(); }
int cudaLaunchKernel(const void *kernel) { (void)kernel; return work(); }
int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream) {
    (void)stream;
    memset(to, value, bytes);
    return work();
}
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    (void)kind; (void)stream;
    memcpy(to, from, bytes);
    return work();
}

/* The driver. */
static int driver(void **out) {
    if (!bound) return INVALID_CONTEXT;
    if (out) *out = &count;
    return 0;
}
int cuInit(unsigned flags) { (void)flags; return 0; }
int cuGetErrorString(int error, const char **text) {
    *text = error == INVALID_CONTEXT ? "invalid device context" : "an error";
    return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    (void)device;
    *flags = 0;
    *active = 1;
    return 0;
}
int cuModuleLoadData(void **module, const void *image) { (void)image; return driver(module); }
int cuModuleGetFunction(void **function, void *module, const char *name) { (void)module; (void)name; return driver(function); }
int cuLaunchKernel(void) { return driver(NULL); }
