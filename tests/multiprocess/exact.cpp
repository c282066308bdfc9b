// SIRCL_NUMERICS=exact: a group's sum can be compared bit for bit with that of one process.
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

TEST_CASE("exact numerics: one rounding of the sum in rank order, whatever the size") {
  const auto input = [](int rank, std::size_t i) {
    return static_cast<float>(1 + (i * 7 + static_cast<std::size_t>(rank) * 13) % 1000) * 0.37F;
  };
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks processes(4, [&](int rank) -> std::string {
      auto options = meeting.options(rank, 4, transport);
      options.set("numerics", "exact").set("shm_piece_bytes", "4096").set("tcp_slot_bytes", "1024");
      auto comm = Communicator::create(options);
      if (!comm) return comm.status().to_string();
      for (const std::size_t count : {std::size_t{1}, std::size_t{999}, std::size_t{100'003}}) {
        std::vector<float> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = input(rank, i);
        std::vector<float> scattered(count / 4);
        std::vector<float> reduced(count);
        Status status =
            comm->reduce(data.data(), reduced.data(), count, DataType::f32, ReduceOp::sum, 1);
        if (status.ok()) {
          status = comm->reduce_scatter(data.data(), scattered.data(), count / 4, DataType::f32);
        }
        if (status.ok()) status = comm->all_reduce(std::span<float>(data));
        if (!status.ok()) return status.to_string();
        for (std::size_t i = 0; i < count; ++i) {
          const auto sum = [&](std::size_t k) {
            return ((input(0, k) + input(1, k)) + input(2, k)) + input(3, k);
          };
          const std::size_t block = static_cast<std::size_t>(rank) * (count / 4);
          if (data[i] != sum(i)) return "all_reduce differs at " + std::to_string(i);
          if (rank == 1 && reduced[i] != sum(i)) return "reduce differs at " + std::to_string(i);
          if (i < count / 4 && scattered[i] != sum(block + i)) {
            return "reduce_scatter differs at " + std::to_string(i);
          }
        }
      }
      return "";
    });
    for (const auto& ended : processes.wait_all()) {
      INFO(transport << ": " << ended.text);
      CHECK(ended.exit_code == 0);
    }
  }
}

TEST_CASE("exact numerics round 16-bit sums once, on every transport and by every algorithm") {
  constexpr int kRanks = 3;
  // To the nearest, ties to even; no NaN here.
  const auto to_bf16 = [](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  };
  const auto from_bf16 = [](std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  };
  const auto input = [&](int rank, std::size_t i) {
    return to_bf16(static_cast<float>(1 + (i * 7 + static_cast<std::size_t>(rank) * 13) % 1000) *
                   0.37F);
  };
  for (const std::string transport : {"shm", "tcp"}) {
    for (const std::string algorithm : {"auto", "direct", "exchange"}) {
      const Meeting meeting;
      Ranks processes(kRanks, [&](int rank) -> std::string {
        auto options = meeting.options(rank, kRanks, transport);
        options.set("numerics", "exact").set("algorithm", algorithm);
        auto comm = Communicator::create(options);
        if (!comm) return comm.status().to_string();
        for (const std::size_t count : {std::size_t{3}, std::size_t{3'000}, std::size_t{150'003}}) {
          std::vector<std::uint16_t> data(count);
          for (std::size_t i = 0; i < count; ++i) data[i] = input(rank, i);
          std::vector<std::uint16_t> all(count);
          std::vector<std::uint16_t> block(count / kRanks);
          Status status = comm->all_reduce(data.data(), all.data(), count, DataType::bf16);
          if (status.ok()) {
            status = comm->reduce_scatter(data.data(), block.data(), block.size(), DataType::bf16);
          }
          if (!status.ok()) return status.to_string();
          const std::size_t first = static_cast<std::size_t>(rank) * block.size();
          for (std::size_t i = 0; i < count; ++i) {
            float sum = 0;
            for (int r = 0; r < kRanks; ++r) sum += from_bf16(input(r, i));
            if (all[i] != to_bf16(sum)) return "all_reduce differs at " + std::to_string(i);
            if (i >= first && i - first < block.size() && block[i - first] != to_bf16(sum)) {
              return "reduce_scatter differs at " + std::to_string(i);
            }
          }
        }
        return "";
      });
      for (const auto& ended : processes.wait_all()) {
        INFO(transport << " by " << algorithm << ": " << ended.text);
        CHECK(ended.exit_code == 0);
      }
    }
  }
}

TEST_CASE("exact numerics refuse an algorithm that rounds on the way") {
  const auto comm = Communicator::create(
      Options().rank(0).size(1).set("numerics", "exact").set("algorithm", "ring"));
  REQUIRE(!comm);
  CHECK(comm.status().code() == StatusCode::invalid_setting);
  CHECK(comm.status().message().find("SIRCL_ALGORITHM=ring") != std::string::npos);
}
