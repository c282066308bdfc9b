/* LD_PRELOAD for MPICH (ch4:ucx): its progress loop never yields, so with more ranks than cores a
 * waiting rank keeps the core from the one that it waits for, for whole scheduler slices. Every
 * turn of that loop calls ucp_worker_progress(); here a turn that found nothing to do yields. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

typedef unsigned (*progress_function)(void* worker);

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static progress_function real;
  if (real == NULL) real = (progress_function)dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = real(worker);
  if (events == 0) sched_yield();
  return events;
}
