// Weight-only quantised matrix-vector products: y = W x, with W in int8 (one scale per row) or int4 (one scale and
// one minimum per group of 128 columns), x and y in bf16, and sums in float. Compiled at run time.
//
// Each warp computes ROWS rows, so that the vector is read only once for them. Each lane reads 16 bytes of weights at a
// time, and neighbouring lanes read neighbouring bytes, which uses the full memory width. The number of rows is
// arbitrary; the number of columns must be a multiple of 16 (int8) or 128 (int4). Weights and vector must be 16-byte
// aligned.

#define ROWS 2
#define WARPS 4

typedef unsigned int u32;
typedef unsigned short u16;

struct alignas(16) Wide {
  u32 part[4];
};

__device__ __forceinline__ float low(u32 pair) { return __uint_as_float(pair << 16); }

__device__ __forceinline__ float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ __forceinline__ u16 to_bf16(float value) {
  u32 bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ __forceinline__ Wide read_once(const void* at) {
#ifndef __CUDACC__
  return *(const Wide*)at;  // the tests run these kernels on the CPU
#else
  Wide wide;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(wide.part[0]), "=r"(wide.part[1]), "=r"(wide.part[2]), "=r"(wide.part[3])
               : "l"(at));
  return wide;
#endif
}

__device__ __forceinline__ float warp_sum(float value) {
  for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
gemv_int8(const signed char* weight, const float* scale, const u16* x, u16* y, int rows, int columns) {
  const int lane = threadIdx.x & 31;
  const int first = (blockIdx.x * WARPS + (threadIdx.x >> 5)) * ROWS;
  if (first >= rows) return;
  float sum[ROWS] = {};
  for (int column = lane * 16; column < columns; column += 32 * 16) {
    const Wide* vector = (const Wide*)(x + column);
    const Wide near = vector[0], far = vector[1];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = min(first + r, rows - 1);
      const Wide packed = read_once(weight + (long long)row * columns + column);
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const u32 four = packed.part[word];
        const u32 pair0 = word < 2 ? near.part[2 * word] : far.part[2 * word - 4];
        const u32 pair1 = word < 2 ? near.part[2 * word + 1] : far.part[2 * word - 3];
        sum[r] += (float)((int)(four << 24) >> 24) * low(pair0);
        sum[r] += (float)((int)(four << 16) >> 24) * high(pair0);
        sum[r] += (float)((int)(four << 8) >> 24) * low(pair1);
        sum[r] += (float)((int)four >> 24) * high(pair1);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float total = warp_sum(sum[r]);
    if (lane == 0 && first + r < rows) y[first + r] = to_bf16(total * scale[first + r]);
  }
}

// Byte j of a row contains columns 2j (low nibble) and 2j + 1 (high nibble). `params`: the scale (low half) and the
// minimum (high half) of each row and group, as bf16.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
gemv_int4(const unsigned char* weight, const u32* params, const u16* x, u16* y, int rows, int columns) {
  const int lane = threadIdx.x & 31;
  const int first = (blockIdx.x * WARPS + (threadIdx.x >> 5)) * ROWS;
  if (first >= rows) return;
  const int groups = columns / 128;
  float sum[ROWS] = {};
  for (int column = lane * 32; column < columns; column += 32 * 32) {
    const Wide* vector = (const Wide*)(x + column);
    Wide part[4];
    float plain = 0.f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      part[i] = vector[i];
#pragma unroll
      for (int word = 0; word < 4; ++word) plain += low(part[i].part[word]) + high(part[i].part[word]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = min(first + r, rows - 1);
      const Wide packed = read_once(weight + (long long)row * (columns / 2) + column / 2);
      const u32 param = params[(long long)row * groups + column / 128];
      float dot = 0.f;
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const u32 eight = packed.part[word];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          const u32 both = part[word].part[pair];
          dot += (float)((eight >> (8 * pair)) & 15u) * low(both);
          dot += (float)((eight >> (8 * pair + 4)) & 15u) * high(both);
        }
      }
      sum[r] += dot * low(param) + plain * high(param);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float total = warp_sum(sum[r]);
    if (lane == 0 && first + r < rows) y[first + r] = to_bf16(total);
  }
}
