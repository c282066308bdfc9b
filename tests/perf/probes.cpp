#include "probes.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

namespace sircl::perf {
namespace {

struct Counts {
  bool on = false;
  int allocations = 0;
  int locks = 0;
  int system_calls = 0;
  int last_system_call = -1;
};
// constinit and of plain types: reached from malloc, so it must never allocate itself.
constinit thread_local Counts counts;

void on_refused(int, siginfo_t* info, void* context) {
  if (counts.on) {
    ++counts.system_calls;
    counts.last_system_call = info->si_syscall;
  }
  // What the thread sees as the result of the call.
  auto* const machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine->gregs[REG_RAX] = -ENOSYS;
#elif defined(__aarch64__)
  machine->regs[0] = static_cast<unsigned long>(-ENOSYS);
#endif
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

bool refuse_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = on_refused;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  constexpr int kAllowed[] = {SYS_sched_yield, SYS_futex, SYS_clock_gettime, SYS_rt_sigreturn,
                              SYS_write,       SYS_exit,  SYS_exit_group};
  constexpr auto kCount = static_cast<unsigned char>(std::size(kAllowed));
  sock_filter filter[kCount + 3];
  filter[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (unsigned char i = 0; i < kCount; ++i) {
    const auto to_end = static_cast<unsigned char>(kCount - i);
    filter[1 + i] =
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(kAllowed[i]), to_end, 0);
  }
  filter[kCount + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  filter[kCount + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{kCount + 3, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void start_counting() {
  counts = {};
  counts.on = true;
}

std::string stop_counting() {
  const Counts seen = counts;
  counts.on = false;
  if (seen.allocations == 0 && seen.locks == 0 && seen.system_calls == 0) return "";
  char text[160];
  std::snprintf(text, sizeof text, "%d allocations, %d locks, %d system calls (last: number %d)",
                seen.allocations, seen.locks, seen.system_calls, seen.last_system_call);
  return text;
}

}  // namespace sircl::perf

// These come before those of the C library, for the shared library too. operator new calls malloc.
extern "C" {

void* __libc_malloc(size_t);            // NOLINT: names of glibc
void* __libc_calloc(size_t, size_t);    // NOLINT
void* __libc_realloc(void*, size_t);    // NOLINT
void* __libc_memalign(size_t, size_t);  // NOLINT

void* malloc(size_t size) {
  if (sircl::perf::counts.on) ++sircl::perf::counts.allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  if (sircl::perf::counts.on) ++sircl::perf::counts.allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  if (sircl::perf::counts.on) ++sircl::perf::counts.allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  if (sircl::perf::counts.on) ++sircl::perf::counts.allocations;
  return __libc_memalign(alignment, size);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const real = sircl::perf::next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  if (sircl::perf::counts.on) ++sircl::perf::counts.locks;
  return real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static auto* const real = sircl::perf::next<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  if (sircl::perf::counts.on) ++sircl::perf::counts.locks;
  return real(mutex);
}

}  // extern "C"
