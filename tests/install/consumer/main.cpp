// One rank of an all-reduce through the installed C++ interface.
#include <sircl/sircl.hpp>

#include <cstdio>
#include <vector>

int main() {
  auto comm = sircl::Communicator::create();
  if (!comm) {
    std::fprintf(stderr, "%s\n", comm.status().to_string().c_str());
    return 1;
  }
  std::vector<float> data(1000, static_cast<float>(comm->rank() + 1));
  const sircl::Status status = comm->all_reduce(std::span<float>(data));
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
    return 1;
  }
  const float expected = static_cast<float>(comm->size() * (comm->size() + 1)) / 2;
  for (const float value : data) {
    if (value != expected) {
      std::fprintf(stderr, "got %g, expected %g\n", value, expected);
      return 1;
    }
  }
  std::printf("sircl %s: rank %d of %d is right\n", sircl::version().data(), comm->rank(),
              comm->size());
  return comm->size() == 2 ? 0 : 1;
}
