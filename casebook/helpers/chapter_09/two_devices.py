"""A fake CUDA driver (libcuda.so.1) with two devices; it computes nothing, and records calls.

    import two_devices              # before any CUDA library; needs a C compiler, `cc`
    two_devices.calls()             # prints the calls of this process so far, and forgets them

Needs no GPU. Contexts behave as the documentation of the driver API says: one primary context per
device, one stack per thread; cuCtxSetCurrent replaces the top of the stack, or pops it for NULL.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_SOURCE = r"""
static char record[1 << 16];
static size_t written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads;
static __thread int me = -1;
static void say(const char *format, ...) {
  pthread_mutex_lock(&lock);
  if (me < 0) me = threads++;
  if (written < sizeof record - 200) {
    if (me) written += sprintf(record + written, "thread %d: ", me);
    va_list a; va_start(a, format); written += vsprintf(record + written, format, a); va_end(a);
    record[written++] = '\n'; record[written] = 0;
  }
  pthread_mutex_unlock(&lock);
}
const char *take_record(void) {
  static char copy[sizeof record];
  strcpy(copy, record);
  written = record[0] = 0;
  return copy;
}

static char primary[2][8];
static __thread void *stack[64];
static __thread int depth;
static void *top(void) { return depth ? stack[depth - 1] : 0; }
static int of(void *c) { return c == primary[1]; }
static const char *list(void) {         /* the stack, bottom first */
  static __thread char text[300]; int n = sprintf(text, "stack now:");
  for (int i = 0; i < depth; i++) n += sprintf(text + n, " %d", of(stack[i]));
  if (!depth) sprintf(text + n, " empty");
  return text; }
int cuCtxGetCurrent(void **c) { *c = top(); return 0; }
int cuCtxSetCurrent(void *c) {
  if (!c) { if (depth) depth--; say("cuCtxSetCurrent(none)         %s", list()); return 0; }
  if (depth) stack[depth - 1] = c; else stack[depth++] = c;
  say("cuCtxSetCurrent(device %d)     %s", of(c), list()); return 0; }
int cuCtxPushCurrent_v2(void *c) {
  if (depth > 62) return 2;
  stack[depth++] = c; say("cuCtxPushCurrent(device %d)    %s", of(c), list()); return 0; }
int cuCtxPopCurrent_v2(void **c) {
  if (!depth) return 201;
  depth--; if (c) *c = stack[depth];
  say("cuCtxPopCurrent               %s", list()); return 0; }
int cuCtxGetDevice(int *d) { if (!top()) return 201; *d = of(top()); return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = primary[d]; return 0; }

static uintptr_t handles = 0x1000;       /* streams and events: numbers, and their contexts */
static void *made_in[1 << 12];
static int make(void **h, const char *kind) {
  handles += 16;
  made_in[(handles >> 4) & 4095] = top();
  *h = (void *)handles;
  say("%s made on device %d", kind, top() ? of(top()) : -1);
  return top() ? 0 : 201;
}
int cuStreamCreateWithPriority(void **s, unsigned f, int p) { return make(s, "stream"); }
int cuStreamCreate(void **s, unsigned f) { return make(s, "stream"); }
int cuStreamGetFlags(void *s, unsigned *f) { *f = 1; return 0; }
int cuStreamGetCtx(void *s, void **c) {
  uintptr_t h = (uintptr_t)s;
  *c = h < 3 ? top() : made_in[(h >> 4) & 4095];
  return 0;
}
int cuEventCreate(void **e, unsigned f) { return make(e, "event"); }
"""

_library = _built_driver.load(_SOURCE, devices=2)
_library.take_record.restype = _ctypes.c_char_p


def calls():
    """Print the calls since the last time, below a heading, and forget them.

    Threads are numbered in the order of their first calls. Returns the lines.
    """
    lines = _library.take_record().decode().splitlines()
    print("calls that the fake driver recorded:")
    for line in lines or ["none"]:
        print("   ", line)
    return lines


def current():
    """The device whose context is current in this thread, or None."""
    device = _ctypes.c_int()
    return None if _library.cuCtxGetDevice(_ctypes.byref(device)) else device.value
