// What ranks of one host share: the layout, boards, the other processes' memory, and bad addresses.
#include "transport/shm/shm_transport.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "transport/shm/board.hpp"
#include "transport/shm/peer_memory.hpp"

using namespace sircl;
using namespace sircl::transport;
using namespace sircl::transport::shm;

namespace {

Parameters parameters_of(int rank, int ranks) {
  Parameters parameters;
  parameters.rank = rank;
  parameters.ranks = ranks;
  parameters.half_bytes = 8192;
  parameters.shape = {2, 64, 512};
  parameters.token = 77;
  return parameters;
}

std::vector<std::unique_ptr<ShmTransport>> group_of(int ranks) {
  std::vector<std::unique_ptr<ShmTransport>> group;
  for (int rank = 0; rank < ranks; ++rank) {
    auto one = rank == 0
                   ? ShmTransport::create(parameters_of(0, ranks))
                   : ShmTransport::connect(parameters_of(rank, ranks), group[0]->local_address());
    INFO(one.status().to_string());
    REQUIRE(one.ok());
    group.push_back(*std::move(one));
  }
  return group;
}

OperationTag tag_of(std::uint64_t sequence, std::uint64_t count) {
  OperationTag tag;
  tag.sequence = sequence;
  tag.count = count;
  return tag;
}

}  // namespace

TEST_CASE("no two regions of the shared memory overlap, and lines do not share a cache line") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const Layout layout{ranks, 12288, 640};
    std::vector<std::pair<std::size_t, std::size_t>> regions;  // begin, size
    regions.emplace_back(0, sizeof(Header));
    for (int rank = 0; rank < ranks; ++rank) {
      regions.emplace_back(layout.lines() + static_cast<std::size_t>(rank) * sizeof(RankLine),
                           sizeof(RankLine));
      for (const int half : {0, 1}) regions.emplace_back(layout.board(rank, half), 12288);
      for (int writer = 0; writer < ranks; ++writer) {
        if (writer != rank) regions.emplace_back(layout.window(rank, writer), 640);
      }
    }
    std::sort(regions.begin(), regions.end());
    for (std::size_t i = 0; i + 1 < regions.size(); ++i) {
      REQUIRE(regions[i].first + regions[i].second <= regions[i + 1].first);
      REQUIRE(regions[i].first % 64 == 0);
    }
    CHECK(regions.back().first + regions.back().second == layout.total());
    CHECK(layout.boards() % 4096 == 0);
  }
}

TEST_CASE("boards show flags, tags and buffers of every rank to every other") {
  const auto group = group_of(3);
  Board& mine = *group[1]->board();
  Board& theirs = *group[2]->board();
  CHECK(mine.rank() == 1);
  CHECK(mine.ranks() == 3);
  CHECK(mine.process(2) == getpid());
  CHECK_FALSE(theirs.reached(1, 1));
  mine.announce(tag_of(8, 100), {1, 2});
  mine.raise(5);
  CHECK(theirs.reached(1, 5));
  CHECK_FALSE(theirs.reached(1, 6));
  CHECK(theirs.reached(1, 4));
  CHECK_FALSE(theirs.reached(0, 1));
  CHECK(theirs.signature(1, 8) == tag_of(8, 100).signature());
  CHECK(theirs.tag(1, 8).count == 100);
  CHECK(theirs.buffers(1, 8).out == 2);
  // The next operation leaves this one's entry alone.
  mine.announce(tag_of(9, 200));
  CHECK(theirs.tag(1, 8).count == 100);
  CHECK(theirs.tag(1, 9).count == 200);
  CHECK(theirs.buffers(1, 9).out == 0);

  for (int rank = 0; rank < 3; ++rank) {
    for (const int half : {0, 1}) {
      std::fill_n(group[static_cast<std::size_t>(rank)]->board()->half(rank, half),
                  mine.half_bytes(), static_cast<std::byte>(rank * 2 + half));
    }
  }
  for (int rank = 0; rank < 3; ++rank) {
    for (const int half : {0, 1}) {
      const std::byte* const begin = mine.half(rank, half);
      CHECK(std::all_of(begin, begin + mine.half_bytes(), [&](std::byte each) {
        return each == static_cast<std::byte>(rank * 2 + half);
      }));
    }
  }
}

TEST_CASE("peers' memory is offered only where all of it can be read") {
  const auto group = group_of(2);
  REQUIRE(group[0]->probe_peer_memory().ok());
  CHECK(group[0]->board()->peer_memory() == nullptr);
  group[0]->use_peer_memory();
  const PeerMemory* memory = group[0]->board()->peer_memory();
  REQUIRE(memory != nullptr);

  std::vector<std::byte> from(3 << 20, std::byte{0x5C});
  std::vector<std::byte> to(from.size());
  CHECK(memory->offers(from.data(), from.size()));
  CHECK(memory->offers(nullptr, 0));
  CHECK(
      memory->read(1, to.data(), reinterpret_cast<std::uintptr_t>(from.data()), from.size()).ok());
  CHECK(to == from);

  // Two pages of which the second may not be read.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(static_cast<std::byte*>(pages) + page, page, PROT_NONE) == 0);
  CHECK(memory->offers(pages, page));
  CHECK_FALSE(memory->offers(pages, page + 1));
  const Status status =
      memory->read(1, to.data(), reinterpret_cast<std::uintptr_t>(pages), 2 * page);
  CHECK(status.code() == StatusCode::resource);
  CHECK(status.message() ==
        fmt::format("the buffer of rank 1 (process {}) cannot be read: Bad address; keep buffers "
                    "until the operation has ended, or set SIRCL_SHM_SINGLE_COPY=never",
                    getpid()));
  munmap(pages, 2 * page);
}

TEST_CASE("a process that has ended is named") {
  pid_t ended = 0;
  {
    test::Ranks child(1, [](int) { return std::to_string(getpid()); });
    ended = static_cast<pid_t>(std::stoi(child.wait(0).text));
  }
  const PeerMemory memory(0, {getpid(), ended});
  std::uint64_t word = 0;
  const Status status = memory.read(1, &word, reinterpret_cast<std::uintptr_t>(&word), sizeof word);
  CHECK(status.code() == StatusCode::peer_lost);
  CHECK(status.message() ==
        fmt::format("rank 1 (process {}) has ended in the middle of an operation", ended));
}

TEST_CASE("what is not this group's memory is refused") {
  const auto group = group_of(2);
  const std::string address = group[0]->local_address();
  for (const std::string text : {"", "here", "12", "12:", ":7"}) {
    const auto refused = ShmTransport::connect(parameters_of(1, 2), text);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().message() == fmt::format("malformed shared memory address '{}'", text));
  }
  auto other = parameters_of(1, 2);
  other.token = 78;
  const auto stranger = ShmTransport::connect(other, address);
  REQUIRE_FALSE(stranger.ok());
  CHECK(stranger.status().code() == StatusCode::resource);
  CHECK(stranger.status().message().find("is not this group's shared memory") != std::string::npos);
  const auto larger = ShmTransport::connect(parameters_of(1, 3), address);
  REQUIRE_FALSE(larger.ok());
  CHECK(larger.status().message().find("has not the size that was announced") != std::string::npos);
}
