#include "bootstrap/agreement.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>

namespace sircl::bootstrap {

Status compare_records(Member& member, const Record& mine) {
  std::string text;
  for (const auto& [field, value] : mine) text += field + '\n' + value + '\n';
  auto all = member.all_gather(std::as_bytes(std::span(text)), "agreement");
  if (!all) return all.status();
  const auto parse = [](const Bytes& bytes) {
    std::map<std::string, std::string> record;
    const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::size_t at = 0;
    while (at < whole.size()) {
      const std::size_t middle = whole.find('\n', at);
      const std::size_t end = middle == std::string::npos ? middle : whole.find('\n', middle + 1);
      if (end == std::string::npos) break;
      record[whole.substr(at, middle - at)] = whole.substr(middle + 1, end - middle - 1);
      at = end + 1;
    }
    return record;
  };
  const auto first = parse(all->front());
  for (std::size_t rank = 1; rank < all->size(); ++rank) {
    const auto other = parse((*all)[rank]);
    for (const auto& [field, value] : first) {
      const auto found = other.find(field);
      const std::string theirs = found == other.end() ? "(not known)" : found->second;
      if (theirs == value) continue;
      return {StatusCode::mismatch, fmt::format("{} is '{}' on rank 0 but '{}' on rank {}; give all ranks the same", field,
                                                value, theirs, rank)};
    }
  }
  return {};
}

}  // namespace sircl::bootstrap
