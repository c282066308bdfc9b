#include "comm/agreement.hpp"

#include <fmt/format.h>

#include <span>

namespace sircl::detail {

Result<std::vector<std::string>> exchange(bootstrap::Member& member, const std::string& mine,
                                          const std::string& label) {
  auto all = member.all_gather(std::as_bytes(std::span(mine)), label);
  if (!all) return all.status();
  std::vector<std::string> texts;
  for (const auto& bytes : *all) {
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

Status agree(bootstrap::Member& member, const Status& mine, const std::string& label) {
  const std::string text =
      mine.ok() ? std::string() : std::string(1, static_cast<char>(mine.code())) + mine.message();
  auto all = exchange(member, text, label);
  if (!all) return all.status();
  for (std::size_t rank = 0; rank < all->size(); ++rank) {
    const std::string& theirs = (*all)[rank];
    if (theirs.empty()) continue;
    return {static_cast<StatusCode>(theirs[0]), fmt::format("rank {}: {}", rank, theirs.substr(1))};
  }
  return {};
}

}  // namespace sircl::detail
