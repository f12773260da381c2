"""A fake CUDA driver for graphs: computes nothing, prints what becomes of each block of memory.

    import graph_driver                 # before cuda.core

For cuda.core, on machines without a GPU. Every line that it prints begins with "driver:". It is a
little C, loaded under the driver's name (built_driver). A freed block is the next to be given out.
What a graph is told to keep, it keeps for ever.
"""

import built_driver as _built_driver

_built_driver.load(r"""
#define SAY(...) (printf("driver: " __VA_ARGS__), puts(""), fflush(stdout), 0)
typedef unsigned long long ptr;

static int capturing;
int cuStreamGetFlags(void *s, unsigned *f) { *f = 1; return 0; }
int cuStreamIsCapturing(void *s, int *c) { *c = capturing; return 0; }
int cuStreamGetCaptureInfo_v2(void *s, int *c, ...) { *c = capturing; return 0; }
int cuStreamGetCaptureInfo_v3(void *s, int *c, ...) { *c = capturing; return 0; }
int cuStreamBeginCapture_v2(void *s, int m) { capturing = 1; return 0; }
int cuStreamBeginCaptureToGraph(void *s, ...) { capturing = 1; return 0; }
int cuStreamEndCapture(void *s, void **g) { capturing = 0; return g ? GIVE(g) : 0; }

/* memory: a block's address gives its number */
NO_COPIES
static char used[64];
static const ptr first = 0x7f0000000000, apart = 1ull << 32;
static int number(ptr p) { return (p - first) / apart; }
int cuMemAllocFromPoolAsync(ptr *p, size_t n, void *q, void *s) {
  int i = 1;
  while (used[i]) i++;
  used[i] = 1;
  *p = first + i * apart;
  return SAY("block %d is given out", i);
}
int cuMemFreeAsync(ptr p, void *s) {
  used[number(p)] = 0;
  return SAY("block %d is free", number(p));
}

/* kernels and graphs: the first argument of a kernel is the block that it writes to */
struct launch { unsigned grid[3], block[3], shared; void *stream; };
struct node { void *kernel; unsigned grid[3], block[3], shared; void **arguments; };
static int record(void **arguments) {
  return SAY("recorded: write to block %d", number(*(ptr *)arguments[0]));
}
int cuLaunchKernelEx(struct launch *l, void *f, void **arguments, void **e) {
  return capturing ? record(arguments) : 801;
}
int cuGraphAddKernelNode_v2(void **n, void *g, void *d, size_t c, const struct node *new) {
  return record(new->arguments), GIVE(n);
}
int cuGraphCreate(void **g, unsigned f) { return GIVE(g); }
int cuGraphClone(void **g, void *o) { return GIVE(g); }
int cuGraphNodeFindInClone(void **n, void *o, void *c) { *n = o; return 0; }
int cuGraphGetRootNodes(void *g, void *n, size_t *c) { *c = 0; return 0; }
int cuGraphGetNodes(void *g, void *n, size_t *c) { *c = 0; return 0; }
int cuGraphInstantiateWithParams(void **e, void *g, void *p) { return GIVE(e); }
int cuGraphLaunch(void *e, void *s) { return SAY("the graph runs"); }
int cuGraphDestroy(void *g) { return 0; }
int cuGraphExecDestroy(void *g) { return 0; }
int cuUserObjectCreate(void **u, ...) { return GIVE(u); }
int cuUserObjectRelease(void *u, unsigned c) { return 0; }
int cuGraphRetainUserObject(void *g, void *u, ...) { return 0; }
int cuGraphReleaseUserObject(void *g, void *u, unsigned c) { return 0; }
""")
