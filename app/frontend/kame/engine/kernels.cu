// The app's own kernels, compiled at run time: quantised matrix-vector products, and what a step of the language model
// does between its products, each in one launch where plain torch takes several. Activations are bf16, which a u16
// holds; a u32 holds two of them, the first in the low half. Arithmetic is in float.

#define ROWS 2
#define WARPS 4
#define EPSILON 1e-8f

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

__device__ __forceinline__ u32 to_pair(float first, float second) {
  return (u32)to_bf16(first) | ((u32)to_bf16(second) << 16);
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

// Products y = W x with W in int8 (one scale per row) or int4 (one scale and one minimum per group of 128 columns).
//
// Each warp computes ROWS rows, so that the vector is read only once for them. Each lane reads 16 bytes of weights at a
// time, and neighbouring lanes read neighbouring bytes, which uses the full memory width. The number of rows is
// arbitrary; the number of columns must be a multiple of 16 (int8) or 128 (int4). Weights and vector must be 16-byte
// aligned.
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

// The root mean square norm: y = x * (alpha * 1 / sqrt(mean(x^2) + EPSILON)), a block for each row of `width` values.
// `width` must be a multiple of 8, and all three 16-byte aligned. At most 1024 threads a block.
extern "C" __global__ void rms_norm(const u16* x, const u16* alpha, u16* y, int width) {
  __shared__ float sums[32];
  const int count = width / 8;
  const Wide* in = (const Wide*)(x + (long long)blockIdx.x * width);
  const Wide* scale = (const Wide*)alpha;
  Wide* out = (Wide*)(y + (long long)blockIdx.x * width);
  float sum = 0.f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const Wide eight = in[i];
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      const float first = low(eight.part[word]), second = high(eight.part[word]);
      sum += first * first + second * second;
    }
  }
  sum = warp_sum(sum);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  float all = 0.f;
  for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) all += sums[warp];
  const float factor = rsqrtf(all / (float)width + EPSILON);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const Wide eight = in[i], by = scale[i];
    Wide result;
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      const u32 pair = eight.part[word], alphas = by.part[word];
      result.part[word] = to_pair(low(pair) * (low(alphas) * factor), high(pair) * (high(alphas) * factor));
    }
    out[i] = result;
  }
}

__device__ __forceinline__ float silu(float value) { return value / (1.f + expf(-value)); }

// The gate y = silu(a) * b of rows [a, b], each of `width` values; silu(a) is rounded to bf16, as by torch. `width` must
// be a multiple of 8, and both 16-byte aligned.
extern "C" __global__ void silu_gate(const u16* x, u16* y, int rows, int width) {
  const int count = width / 8;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= rows * count) return;
  const int row = index / count;
  const Wide* in = (const Wide*)x + (long long)row * 2 * count + index % count;
  const Wide a = in[0], b = in[count];
  Wide result;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const u32 gate = to_pair(silu(low(a.part[word])), silu(high(a.part[word])));
    result.part[word] = to_pair(low(gate) * low(b.part[word]), high(gate) * high(b.part[word]));
  }
  ((Wide*)y)[index] = result;
}

__device__ __forceinline__ u32 rotated(u32 pair, float cosine, float sine) {
  // Without fused multiply-add, whose rounding differs from torch's.
  const float real = __fsub_rn(__fmul_rn(low(pair), cosine), __fmul_rn(high(pair), sine));
  const float imaginary = __fadd_rn(__fmul_rn(low(pair), sine), __fmul_rn(high(pair), cosine));
  return to_pair(real, imaginary);
}

// Rotates the query and key of one position (arXiv 2104.09864), and writes key and value to position `slot` of a ring.
// `projected`: [query, key, value], each [heads, pairs]; `rotation`: (cosine, sine) for each pair; `ring`: [2, heads,
// capacity, pairs], keys and values.
extern "C" __global__ void rope_write(const u32* projected, const float* rotation, const long long* slot, u32* query,
                                      u32* ring, int heads, int pairs, int capacity) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x, all = heads * pairs;
  if (index >= all) return;
  const int pair = index % pairs;
  const float cosine = rotation[2 * pair], sine = rotation[2 * pair + 1];
  const long long place = ((long long)(index / pairs) * capacity + slot[0]) * pairs + pair;
  query[index] = rotated(projected[index], cosine, sine);
  ring[place] = rotated(projected[all + index], cosine, sine);
  ring[(long long)all * capacity + place] = projected[2 * all + index];
}
