// One rank of all-reduces of 12,288 bytes, for counting its instructions in measured_all_reduce.
// All ranks run it; the counted one is told by an argument, so that it alone pauses between calls:
// its peers have then arrived, and no waiting is counted.
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "sircl/sircl.hpp"

namespace {

constexpr std::size_t kCount = 12'288 / sizeof(float);
constexpr int kWarm = 20;
constexpr int kCounted = 50;

}  // namespace

extern "C" [[gnu::noinline]] bool measured_all_reduce(sircl::Communicator& comm,
                                                      std::vector<float>& in,
                                                      std::vector<float>& out) {
  return comm.all_reduce(in.data(), out.data(), kCount, sircl::DataType::f32).ok();
}

int main(int argc, char** argv) {
  const bool counted = argc > 1 && std::string_view(argv[1]) == "counted";
  auto comm = sircl::Communicator::create();
  if (!comm) {
    std::fprintf(stderr, "%s\n", comm.status().to_string().c_str());
    return 1;
  }
  std::vector<float> in(kCount, 1.0F);
  std::vector<float> out(kCount);
  for (int i = 0; i < kWarm; ++i) {
    if (!comm->all_reduce(in.data(), out.data(), kCount, sircl::DataType::f32).ok()) return 1;
  }
  for (int i = 0; i < kCounted; ++i) {
    if (counted) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!measured_all_reduce(*comm, in, out)) return 1;
  }
  if (counted)
    std::printf("calls: %d, algorithm: %s\n", kCounted,
                comm->algorithm_for("all_reduce", kCount * sizeof(float)).c_str());
  return out[0] == static_cast<float>(comm->size()) ? 0 : 1;
}
