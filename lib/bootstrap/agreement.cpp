#include "bootstrap/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace sircl::bootstrap {
namespace {

const std::string* find(const Record& record, const std::string& field) {
  const auto found = std::find_if(record.begin(), record.end(),
                                  [&](const auto& entry) { return entry.first == field; });
  return found == record.end() ? nullptr : &found->second;
}

std::string quoted(const std::string* value) {
  return value == nullptr ? "not known" : "'" + *value + "'";
}

}  // namespace

Bytes encode_record(const Record& record) {
  ByteWriter out;
  for (const auto& [field, value] : record) {
    out.text(field);
    out.text(value);
  }
  return std::move(out).bytes();
}

std::optional<Record> decode_record(std::span<const std::byte> bytes) {
  Record record;
  ByteReader in(bytes);
  while (!in.rest().empty()) {
    std::string field = in.text();
    std::string value = in.text();
    if (!in.ok()) return std::nullopt;
    record.emplace_back(std::move(field), std::move(value));
  }
  return record;
}

Status compare_records(Member& member, const Record& mine) {
  auto all = member.all_gather(encode_record(mine), "agreement");
  if (!all) return all.status();
  const auto first = decode_record(all->front());
  for (std::size_t rank = 0; rank < all->size(); ++rank) {
    const auto other = decode_record((*all)[rank]);
    if (!first || !other) {
      return {StatusCode::mismatch,
              fmt::format("rank {} sent a record that makes no sense; use one version of sircl",
                          first ? rank : 0)};
    }
    const auto differs = [&](const std::string& field) -> Status {
      return {StatusCode::mismatch,
              fmt::format("{} is {} on rank 0 but {} on rank {}; give all ranks the same", field,
                          quoted(find(*first, field)), quoted(find(*other, field)), rank)};
    };
    for (const auto& [field, value] : *first) {
      const std::string* theirs = find(*other, field);
      if (theirs == nullptr || *theirs != value) return differs(field);
    }
    for (const auto& [field, value] : *other) {
      if (find(*first, field) == nullptr) return differs(field);
    }
  }
  return {};
}

}  // namespace sircl::bootstrap
