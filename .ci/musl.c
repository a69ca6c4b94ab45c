// What Debian's libstdc++ and libgcc, which are made for glibc, ask of the C library and musl does not have. With it, programs
// for musl run on Debian: .ci/run live preloads it.
#include <stddef.h>
#include <stdint.h>

typedef struct { uint32_t type, flags; uint64_t offset, vaddr, paddr, filesz, memsz, align; } segment;
typedef struct { uint64_t base; const char *name; const segment *segments; uint16_t count; } object;
typedef struct { unsigned long long flags; void *start, *end, *map, *frames; unsigned long long reserved[7]; } found;
typedef struct { uintptr_t pc; found *out; } search;

int dl_iterate_phdr(int (*)(object *, size_t, void *), void *);
int getentropy(void *, size_t);
size_t strftime_l(char *, size_t, const char *, const void *, void *);

static int look(object *o, size_t size, void *data) {
  search *s = data;
  uintptr_t start = 0, end = 0, frames = 0;
  int inside = 0;
  for (int i = 0; i < o->count; i++) {
    const segment *g = &o->segments[i];
    uintptr_t from = o->base + g->vaddr, to = from + g->memsz;
    if (g->type == 1) { // PT_LOAD
      if (!start || from < start) start = from;
      if (to > end) end = to;
      if (s->pc >= from && s->pc < to) inside = 1;
    } else if (g->type == 0x6474e550) { // PT_GNU_EH_FRAME
      frames = from;
    }
  }
  if (!inside || !frames) return 0;
  s->out->flags = 0, s->out->map = NULL;
  s->out->start = (void *)start, s->out->end = (void *)end, s->out->frames = (void *)frames;
  return 1;
}

// The unwinder of libgcc finds the unwind data of code so.
int _dl_find_object(void *pc, found *out) {
  search s = {(uintptr_t)pc, out};
  return dl_iterate_phdr(look, &s) == 1 ? 0 : -1;
}

struct { unsigned vendor, type, subtype, features[1]; } __cpu_model; // no features
unsigned __cpu_features2[4];
int __cpu_indicator_init(void) { return 0; }

uint32_t arc4random(void) {
  uint32_t v = 0;
  getentropy(&v, sizeof v);
  return v;
}

size_t __strftime_l(char *to, size_t size, const char *form, const void *time, void *locale) { return strftime_l(to, size, form, time, locale); }

int __cxa_thread_atexit_impl(void (*end)(void *), void *of, void *library) { return 0; }
char __libc_single_threaded = 0;
