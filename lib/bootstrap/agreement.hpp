// All ranks compare one record before any payload.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace sircl::bootstrap {

using Record = std::vector<std::pair<std::string, std::string>>;

Bytes encode_record(const Record& record);
std::optional<Record> decode_record(std::span<const std::byte> bytes);

/// The first difference is the same error on all ranks: "SIRCL_TRANSPORT is 'shm' on rank 0 but
/// 'tcp' on rank 2".
Status compare_records(Member& member, const Record& mine);

}  // namespace sircl::bootstrap
