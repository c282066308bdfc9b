#include "local_ranks/held_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace sircl::local {

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&held_, signal);
  sigprocmask(SIG_BLOCK, &held_, &before_);
  fd_ = signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
}

HeldSignals::~HeldSignals() {
  if (fd_ >= 0) close(fd_);
  release();
}

void HeldSignals::release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int HeldSignals::wait(std::chrono::milliseconds limit) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
  const int signal = sigtimedwait(&held_, nullptr, &time);
  return signal > 0 ? signal : 0;
}

}  // namespace sircl::local
