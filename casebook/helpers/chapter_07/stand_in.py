"""A fake CUDA driver for machines without a GPU: it computes nothing and prints the calls it gets.

Every line that it prints begins with "stand-in:". It is a little C, loaded under the driver's name
(built_driver). Streams are numbered in order of creation, 0 is the default stream; blocks and
events likewise. Launched work runs until the host waits for it. A freed block is reused on a
stream whose next work comes after the free, as far as the order of calls shows: on the same
stream, or after the host has waited, or with an event or the default stream (for blocking streams)
in between. A real driver may reuse such a block, but need not; and it may let a stream wait rather
than allocate new memory.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_SOURCE = r"""
static char said[1 << 16];
#define SAY(...) do { char *line = said + strlen(said); \
                      sprintf(line, "stand-in: " __VA_ARGS__); strcat(line, "\n"); \
                      fputs(line, stdout); fflush(stdout); } while (0)
typedef unsigned long long ptr;

const char *stand_in_said(void) { return said; }

/* streams and events: the handles 0 to 2 are the default stream, 100 + n is stream n. A Time holds
   for each stream how many of its launches come before: after[s] before the next work of stream s,
   event[e] before event e, done before now. */
enum { STREAMS = 64, EVENTS = 1024 };
typedef int Time[STREAMS];
static Time after[STREAMS], event[EVENTS], done;
static int blocking[STREAMS], streams;
static int number(void *s) { uintptr_t n = (uintptr_t)s; return n < 100 ? 0 : (int)n - 100; }
static int place(void *e) { return (uintptr_t)e % EVENTS; }
static void join(Time t, Time u) {
  for (int i = 0; i < STREAMS; i++) if (t[i] < u[i]) t[i] = u[i];
}
static int before(Time t, Time u) {
  for (int i = 0; i < STREAMS; i++) if (t[i] > u[i]) return 0;
  return 1;
}
static int next(void *stream) {         /* the number of a stream that gets work */
  int s = number(stream);
  /* blocking streams and the default stream wait for each other */
  for (int i = 1; i <= streams; i++) if (!s && blocking[i]) join(after[0], after[i]);
  if (blocking[s]) join(after[s], after[0]);
  return s;
}
static const char *state(int s) { return before(after[s], done) ? "idle" : "busy"; }
static void wait_for_all(void) { for (int i = 0; i <= streams; i++) join(done, after[i]); }
int cuStreamCreateWithPriority(void **s, unsigned f, int p) {
  *s = (void *)(uintptr_t)(100 + ++streams);
  blocking[streams] = !(f & 1);
  return 0;
}
int cuStreamCreate(void **s, unsigned f) { return cuStreamCreateWithPriority(s, f, 0); }
int cuStreamGetFlags(void *s, unsigned *f) {
  *f = number(s) && !blocking[number(s)];
  return 0;
}
int cuStreamGetDevice(void *s, int *d) { *d = 0; return 0; }
int cuStreamSynchronize(void *s) {
  int n = next(s);
  join(done, after[n]);
  SAY("wait for stream %d", n);
  return 0;
}
int cuCtxSynchronize(void) { wait_for_all(); SAY("wait for all streams"); return 0; }
int cuEventCreate(void **e, unsigned f) {
  static uintptr_t events;
  *e = (void *)++events;
  return 0;
}
int cuEventRecord(void *e, void *s) {
  int n = next(s);
  memcpy(event[place(e)], after[n], sizeof(Time));
  SAY("record event %d on stream %d", place(e), n);
  return 0;
}
int cuEventSynchronize(void *e) {
  join(done, event[place(e)]);
  SAY("wait for event %d", place(e));
  return 0;
}
int cuStreamWaitEvent(void *s, void *e, unsigned f) {
  int n = next(s);
  join(after[n], event[place(e)]);
  SAY("stream %d will wait for event %d", n, place(e));
  return 0;
}

/* memory: a block's address gives its number */
static struct { size_t size; int used; Time freed; } block[256];
static int blocks;
NO_COPIES
static const ptr first = 0x7f0000000000, apart = 1ull << 32;
static int allocate(ptr *p, size_t n, void *stream) {
  int s = next(stream), i;
  Time known;
  memcpy(known, after[s], sizeof known);
  join(known, done);
  for (i = 1; i <= blocks; i++)
    if (!block[i].used && block[i].size == n && before(block[i].freed, known)) break;
  const char *origin = i <= blocks ? ", which was freed" : "";
  SAY("allocate %zu bytes on stream %d: block %d%s", n, s, i, origin);
  if (i > blocks) blocks = i;
  block[i].size = n; block[i].used = 1;
  *p = first + i * apart;
  return 0;
}
static int release(ptr p, Time freed) {
  int i = (p - first) / apart;
  block[i].used = 0;
  memcpy(block[i].freed, freed, sizeof(Time));
  return i;
}
int cuMemAllocFromPoolAsync(ptr *p, size_t n, void *pool, void *s) { return allocate(p, n, s); }
int cuMemAllocAsync(ptr *p, size_t n, void *s) { return allocate(p, n, s); }
int cuMemAlloc_v2(ptr *p, size_t n) { return allocate(p, n, 0); }
int cuMemFreeAsync(ptr p, void *s) {
  int n = next(s);
  SAY("free block %d on stream %d, which is %s", release(p, after[n]), n, state(n));
  return 0;
}
int cuMemFree_v2(ptr p) {
  wait_for_all();
  SAY("wait for all streams, then free block %d", release(p, done));
  return 0;
}
int cuPointerGetAttribute(void *v, int a, ptr p) {
  memset(v, 0, 8);
  if (a == 1) *(void **)v = context;
  return 0;
}
int cuPointerGetAttributes(unsigned n, int *a, void **v, ptr p) { return 801; }
int cuMemPoolCreate(void **p, const void *q) { *p = pool; return 0; }
int cuMemPoolDestroy(void *p) { return 0; }
int cuMemPoolSetAccess(void *p, void *a, size_t n) { return 0; }

static int launched(void *s, void **arguments) {
  ptr p = arguments ? *(ptr *)arguments[0] : 0;
  int n = next(s), b = p > first ? (p - first) / apart : 0;
  if (b > 0 && b <= blocks) SAY("launch on stream %d, with block %d", n, b);
  else SAY("launch on stream %d", n);
  after[n][n]++;
  return 0;
}
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z,
                   unsigned n, void *s, void **p, void **e) { return launched(s, p); }
struct config { unsigned grid[3], block[3], shared; void *stream; };
int cuLaunchKernelEx(struct config *c, void *f, void **p, void **e) {
  return launched(c->stream, p);
}
"""

_library = _built_driver.load(_SOURCE)
_library.stand_in_said.restype = _ctypes.c_char_p


def calls():
    """The lines printed so far."""
    return _library.stand_in_said().decode().splitlines()


print("stand-in: no GPU; what follows are calls, recorded", flush=True)
