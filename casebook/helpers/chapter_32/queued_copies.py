"""A fake CUDA driver whose GPU is busy: queued copies run only when the host waits.

    import queued_copies            # before Numba; needs a C compiler, `cc`

It copies pinned memory as CUDA's documentation says: cuMemcpyHtoDAsync puts the copy into a queue,
cuMemcpyHtoD waits. Memory of the GPU is memory of the process, and pinned memory is not pinned.
Each line that it prints begins with "driver:".
"""

import built_driver as _built_driver

_built_driver.load(r"""
#define SAY(...) (printf("driver: " __VA_ARGS__), puts(""), fflush(stdout), 0)
enum { MANY = 256 };
/* one queue for all streams; the host waits for all that is in it */
static struct { void *to; const void *from; size_t size; } queue[MANY];
static int queued, done;
static int run(void) {
  for (; done < queued; done++) memcpy(queue[done].to, queue[done].from, queue[done].size);
  return 0;
}
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *stream) {
  if (queued == MANY) return 2;
  queue[queued].to = to;
  queue[queued].from = from;
  queue[queued++].size = n;
  return SAY("copy %d is put into the queue", queued);
}
int cuMemcpyHtoD_v2(void *to, const void *from, size_t n) {
  run();
  memcpy(to, from, n);
  return SAY("the host waits for this copy");
}
int cuMemcpyDtoH_v2(void *to, const void *from, size_t n) {
  run();
  memcpy(to, from, n);
  return 0;
}
int cuStreamSynchronize(void *s) {
  if (done < queued) SAY("the host waits: the queue runs to copy %d", queued);
  return run();
}
int cuCtxSynchronize(void) { return cuStreamSynchronize(0); }
""")
