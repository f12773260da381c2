"""A CUDA C++ kernel that needs many registers.

Each thread keeps 48 running values; each iteration of its loop reads and writes all of them.
"""

HEAVY = r"""
extern "C" __global__ void heavy(const float* __restrict__ a, const float* __restrict__ b,
                                 float* __restrict__ out, int n, int iters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float acc[48], r = 0;
    for (int j = 0; j < 48; ++j) acc[j] = a[(i + j * 131) % n];
    for (int it = 0; it < iters; ++it)
        for (int j = 0; j < 48; ++j)
            acc[j] = acc[j] * b[(i + it) % n] + 0.25f * acc[(j * 7 + 1) % 48] + 0.1f;
    for (int j = 0; j < 48; ++j) r += acc[j] / (1 + fabsf(acc[(j + 5) % 48]));
    out[i] = sqrtf(fabsf(r));
}
"""
