// The first difference between records is the same error on all ranks.
#include "bootstrap/agreement.hpp"

#include "bootstrap_support.hpp"

using namespace sircl;
using namespace sircl::test;
using bootstrap::Record;

namespace {

std::vector<std::string> compare(const std::vector<Record>& records) {
  const int size = static_cast<int>(records.size());
  const RootOptions options = root_options(size);
  const auto root = start_root(options);
  return on_ranks(size, [&](int rank) {
    auto member = Member::join(join_options(*root, options, rank));
    if (!member) return member.status().to_string();
    return bootstrap::compare_records(**member, records[static_cast<std::size_t>(rank)])
        .to_string();
  });
}

}  // namespace

TEST_CASE("equal records agree") {
  CHECK(compare({{{"A", "1"}, {"B", "with\nlines"}}, {{"B", "with\nlines"}, {"A", "1"}}}) ==
        std::vector<std::string>{"ok", "ok"});
}

TEST_CASE("a difference names field, ranks and values, on every rank") {
  const auto texts = compare({{{"V", "1"}, {"SIRCL_TRANSPORT", "shm"}},
                              {{"V", "1"}, {"SIRCL_TRANSPORT", "shm"}},
                              {{"V", "1"}, {"SIRCL_TRANSPORT", "tcp"}}});
  CHECK(
      texts[0] ==
      "mismatch: SIRCL_TRANSPORT is 'shm' on rank 0 but 'tcp' on rank 2; give all ranks the same");
  CHECK(texts[1] == texts[0]);
  CHECK(texts[2] == texts[0]);
}

TEST_CASE("a field that only one side knows is a difference, whichever side it is") {
  CHECK(compare({{{"A", "1"}}, {}})[1] ==
        "mismatch: A is '1' on rank 0 but not known on rank 1; give all ranks the same");
  CHECK(compare({{}, {{"A", "1"}}})[0] ==
        "mismatch: A is not known on rank 0 but '1' on rank 1; give all ranks the same");
}
