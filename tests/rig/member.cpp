// One rank of a group that spans several hosts: says who it is and where, adds, adds in a part.
#include <cstdio>
#include <span>
#include <vector>

#include "sircl/sircl.hpp"

namespace {

/// Rank r gives first + r * step.
bool adds_up(sircl::Communicator& comm, float first, float step, sircl::Status& status) {
  std::vector<float> data(50'000, first + step * static_cast<float>(comm.rank()));
  status = comm.all_reduce(std::span<float>(data));
  const auto ranks = static_cast<float>(comm.size());
  const float sum = ranks * first + step * ranks * (ranks - 1) / 2;
  return status.ok() && data.front() == sum && data.back() == sum;
}

}  // namespace

int main() {
  auto comm = sircl::Communicator::create();
  if (!comm) {
    std::printf("%s\n", comm.status().to_string().c_str());
    return 1;
  }
  std::printf("%s\n", comm->describe().c_str());
  sircl::Status status;
  if (!adds_up(*comm, 1, 1, status)) {
    std::printf("wrong sum, or %s\n", status.to_string().c_str());
    return 1;
  }
  // One rank of each host in a part, if ranks are dealt out host by host.
  auto part = comm->split(comm->rank() % 2, comm->rank());
  if (!part || !adds_up(*part, 2, 1, status)) {
    const auto& bad = part ? status : part.status();
    std::printf("in a part: wrong sum, or %s\n", bad.to_string().c_str());
    return 1;
  }
  std::printf("added on %d ranks and on %d\n", comm->size(), part->size());
  return 0;
}
