// The checker objects to programs that are damaged by hand.

#include "schedule/checker.hpp"

#include <algorithm>

#include "schedule/simulation.hpp"
#include "unit/schedule_support.hpp"

namespace sircl::schedule::test {
namespace {

/// What the checker says; "" if it is content.
std::string fault(const Request& request, const std::vector<Program>& programs) {
  return check_programs(request, programs).message();
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

std::vector<Step>& steps(std::vector<Program>& programs, int rank, int stream = 0) {
  return programs[static_cast<std::size_t>(rank)].streams[static_cast<std::size_t>(stream)].steps;
}

Request ring_all_reduce() {
  return request_of(Collective::all_reduce, Algorithm::ring, Wiring::ring, 4, 1024);
}

}  // namespace

TEST_CASE("an undamaged program passes") {
  const Request request = ring_all_reduce();
  CHECK(fault(request, programs_of(request)).empty());
  CHECK(check_programs(request, {}).code() == StatusCode::invalid_argument);
}

TEST_CASE("dropping any one step of any schedule is noticed") {
  for_each_kind([&](Collective collective, Algorithm algorithm, Wiring wiring) {
    const Request request = request_of(collective, algorithm, wiring, 4, 1000, 1);
    if (!supports(request).ok()) return;
    const std::vector<Program> whole = programs_of(request);
    for (std::size_t rank = 0; rank < whole.size(); ++rank) {
      for (std::size_t stream = 0; stream < whole[rank].streams.size(); ++stream) {
        for (std::size_t step = 0; step < whole[rank].streams[stream].steps.size(); ++step) {
          std::vector<Program> damaged = whole;
          auto& list = damaged[rank].streams[stream].steps;
          list.erase(list.begin() + static_cast<std::ptrdiff_t>(step));
          INFO(name_of(request) << ": rank " << rank << " stream " << stream << " step " << step);
          CHECK_FALSE(fault(request, damaged).empty());
        }
      }
    }
  });
}

TEST_CASE("swapped steps: messages meet the wrong receiver") {
  const Request request = ring_all_reduce();
  auto programs = programs_of(request);
  auto& list = steps(programs, 1);
  std::swap(list[1].operands[1], list[2].operands[1]);
  CHECK(has(fault(request, programs), "combines element"));
  programs = programs_of(request);
  std::swap(steps(programs, 1)[4], steps(programs, 1)[5]);
  CHECK_FALSE(fault(request, programs).empty());
}

TEST_CASE("a contribution that comes twice or never") {
  const Request request =
      request_of(Collective::all_reduce, Algorithm::exchange, Wiring::mesh, 3, 10);
  auto programs = programs_of(request);
  steps(programs, 2)[1].operands.push_back(local(input({0, 10})));
  CHECK(has(fault(request, programs), "a second time"));

  programs = programs_of(request);
  auto& operands = steps(programs, 2)[1].operands;
  operands.pop_back();
  CHECK(has(fault(request, programs), "not the complete sum: {0,1}"));

  programs = programs_of(request);
  steps(programs, 1)[1].operands.pop_back();
  steps(programs, 1)[1].finish = false;
  CHECK_FALSE(fault(request, programs).empty());
}

TEST_CASE("wrong ranges") {
  const Request request = ring_all_reduce();
  auto programs = programs_of(request);
  steps(programs, 0)[3].store->offset += 64;
  CHECK_FALSE(fault(request, programs).empty());

  programs = programs_of(request);
  steps(programs, 0)[3].store->offset = 1024;
  CHECK(has(fault(request, programs), "uses elements 1024+128 of a block of 1024"));

  programs = programs_of(request);
  steps(programs, 0)[3].store->count -= 1;
  CHECK(has(fault(request, programs), "has a range of 127 elements in a step of 128"));

  programs = programs_of(request);
  steps(programs, 0)[3].store->block = 1;
  CHECK(has(fault(request, programs), "a block that this rank does not have"));

  programs = programs_of(request);
  steps(programs, 0)[3].store->buffer = Buffer::input;
  CHECK(has(fault(request, programs), "writes to the input"));

  const Request gathers = request_of(Collective::all_gather, Algorithm::direct, Wiring::mesh, 3, 8);
  programs = programs_of(gathers);
  std::swap(steps(programs, 0)[1].store, steps(programs, 0)[2].store);
  CHECK(has(fault(gathers, programs), "holds element 0 of block"));
}

TEST_CASE("wrong message sizes") {
  const Request request = request_of(Collective::broadcast, Algorithm::direct, Wiring::mesh, 2, 10);
  auto programs = programs_of(request);
  steps(programs, 1)[0].count = 9;
  steps(programs, 1)[0].store->count = 9;
  CHECK(has(fault(request, programs), "expects 9 elements from rank 0, which sent 10"));
}

TEST_CASE("reading what nobody wrote") {
  const Request request =
      request_of(Collective::all_reduce, Algorithm::exchange, Wiring::ring, 4, 64);
  auto programs = programs_of(request);
  for (Step& step : steps(programs, 0)) {
    if (step.store && step.store->buffer == Buffer::scratch) step.store.reset();
  }
  CHECK(has(fault(request, programs), "reads 64 elements that nobody wrote"));
}

TEST_CASE("deadlock and left-over messages") {
  Request request = request_of(Collective::barrier, Algorithm::direct, Wiring::mesh, 3, 0);
  auto programs = programs_of(request);
  for (int rank = 0; rank < 3; ++rank)
    std::swap(steps(programs, rank)[0], steps(programs, rank)[1]);
  for (int rank = 0; rank < 3; ++rank)
    std::swap(steps(programs, rank)[0].round, steps(programs, rank)[1].round);
  CHECK(has(fault(request, programs), "sends after the last round"));
  for (Program& program : programs) program.rounds = 2;
  CHECK(has(fault(request, programs), "waits for ever for rank"));

  programs = programs_of(request);
  steps(programs, 1)[1].operands.pop_back();
  CHECK(has(fault(request, programs), "rank 1 never receives 1 messages of rank"));
}

TEST_CASE("more messages under way than there is room for") {
  // Both ranks send ten messages before they take one.
  const Request request =
      request_of(Collective::all_to_all, Algorithm::direct, Wiring::mesh, 2, 10);
  std::vector<Program> programs(2);
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    StreamBuilder stream;
    for (std::uint64_t i = 0; i < 10; ++i) {
      stream.move(0, 1, local(input({i, 1}, peer)), std::nullopt, {peer});
    }
    stream.move(0, 10, local(input({0, 10}, rank)), output({0, 10}, rank));
    for (std::uint64_t i = 0; i < 10; ++i) stream.move(1, 1, received(peer), output({i, 1}, peer));
    programs[static_cast<std::size_t>(rank)] = finish_program({&stream}, 1);
  }
  CHECK(has(fault(request, programs), "waits for ever"));
}

TEST_CASE("streams that take the room from each other") {
  // In either stream rank 1 takes three messages of rank 0 only when rank 2 tells it to, which rank
  // 0 causes after it has sent them. One stream alone fits the window; two that hold half of it do
  // not.
  const Request request = request_of(Collective::barrier, Algorithm::direct, Wiring::mesh, 3, 0);
  const auto step = [](int round, std::vector<Operand> operands, std::vector<int> to) {
    Step result;
    result.round = static_cast<std::uint16_t>(round);
    result.operands = std::move(operands);
    result.send_to = std::move(to);
    return result;
  };
  const Operand nothing = local(Range{});
  std::vector<Program> programs(3);
  for (Program& program : programs) program.rounds = 2;
  for (int stream = 0; stream < 2; ++stream) {
    const Step send = step(0, {nothing}, {1});
    const Step take = step(2, {received(0)}, {});
    programs[0].streams.push_back({{send, send, send, step(0, {nothing}, {2})}});
    programs[1].streams.push_back({{step(2, {received(2)}, {}), take, take, take}});
    programs[2].streams.push_back({{step(1, {received(0)}, {1})}});
  }
  const auto outcome = [&](Turns turns) {
    return simulate(request, programs, {Placement::separate, kWindowMessages, turns}).message();
  };
  CHECK(has(outcome(Turns::run_ahead), "leaves the barrier"));
  CHECK(has(outcome(Turns::alternate), "waits for ever"));
}

TEST_CASE("a barrier that lets somebody go too early") {
  const Request request = request_of(Collective::barrier, Algorithm::ring, Wiring::ring, 6, 0);
  auto programs = programs_of(request);
  for (int rank = 0; rank < 6; ++rank) {
    auto& list = steps(programs, rank);
    list.erase(list.begin() + 1);  // one round fewer
  }
  CHECK(has(fault(request, programs), "leaves the barrier without knowing of rank 3"));
}

TEST_CASE("finish and reduce marks") {
  const Request request = ring_all_reduce();
  auto programs = programs_of(request);
  steps(programs, 0)[3].finish = false;
  CHECK(has(fault(request, programs), "is not finished with the sum of {0,1,2,3}"));
  programs = programs_of(request);
  steps(programs, 0)[4].finish = true;
  CHECK(has(fault(request, programs), "finishes a value a second time"));
  programs = programs_of(request);
  steps(programs, 0)[1].finish = true;
  CHECK(has(fault(request, programs), "finishes what is not the complete sum"));
  programs = programs_of(request);
  steps(programs, 0)[4].reduce = false;
  CHECK(has(fault(request, programs), "wrong reduce mark"));
}

TEST_CASE("order of addition") {
  Request request = request_of(Collective::reduce, Algorithm::direct, Wiring::mesh, 3, 10);
  auto programs = programs_of(request);
  std::swap(steps(programs, 0)[0].operands[0], steps(programs, 0)[0].operands[1]);
  CHECK(has(fault(request, programs), "not formed in one step in rank order"));

  request = request_of(Collective::all_reduce, Algorithm::recursive_doubling, Wiring::ring, 4, 10);
  programs = programs_of(request);
  std::swap(steps(programs, 3)[2].operands[0], steps(programs, 3)[2].operands[1]);
  CHECK(has(fault(request, programs), "rank 3 output block 0: is added in another order"));
}

TEST_CASE("a sum in two steps is not rounded once") {
  const Request request = request_of(Collective::reduce, Algorithm::direct, Wiring::mesh, 3, 10);
  auto programs = programs_of(request);
  programs[0].scratch_elements = 10;
  Step last = steps(programs, 0)[0];
  Step first = last;
  first.operands = {received(1), received(2)};
  first.store = scratch(0, 10);
  first.finish = false;
  last.operands = {last.operands[0], local(scratch(0, 10))};
  steps(programs, 0) = {first, last};
  CHECK(has(fault(request, programs), "not formed in one step in rank order"));
}

TEST_CASE("rounds that do not follow each other") {
  const Request request = ring_all_reduce();
  auto programs = programs_of(request);
  steps(programs, 2)[1].round = 0;
  CHECK(has(fault(request, programs), "is in round 0 but needs a message of round 0"));

  const Request direct =
      request_of(Collective::all_reduce, Algorithm::direct, Wiring::mesh, 3, 1024);
  programs = programs_of(direct);
  steps(programs, 1)[0].round = 1;
  CHECK(has(fault(direct, programs), "its round lies before that of the last step"));
}

TEST_CASE("streams that disturb each other") {
  const Request request = ring_all_reduce();
  auto programs = programs_of(request);
  // The westward stream also keeps its first slice in the eastward half.
  Step& first = steps(programs, 2, 1)[1];
  first.store = output({0, first.count});
  CHECK(has(fault(request, programs), "writes elements that stream"));
}

TEST_CASE("what is safe with two buffers only") {
  // Rank 0 uses the output as working space before its contribution is sent.
  const Request request =
      request_of(Collective::all_reduce, Algorithm::exchange, Wiring::mesh, 2, 256);
  auto programs = programs_of(request);
  Step note;
  note.count = 128;
  note.operands = {local(input({0, 128}))};
  note.store = output({128, 128});
  steps(programs, 0).insert(steps(programs, 0).begin(), note);
  CHECK(simulate(request, programs, {Placement::separate, 0, Turns::run_ahead}).ok());
  for (const Turns turns : {Turns::run_ahead, Turns::alternate}) {
    CHECK_FALSE(simulate(request, programs, {Placement::in_place, 0, turns}).ok());
  }
  CHECK(has(fault(request, programs), "combines element"));

  // A step whose store overlaps its operand, shifted: chunks would read what earlier chunks wrote.
  std::vector<Program> shifted = programs_of(request);
  Program& program = shifted[0];
  program.scratch_elements = 256;
  Step fill;
  fill.count = 128;
  fill.operands = {local(input({0, 128}))};
  fill.store = scratch(0, 128);
  Step move = fill;
  move.operands = {local(scratch(0, 128))};
  move.store = scratch(64, 128);
  program.streams[0].steps.insert(program.streams[0].steps.begin(), {fill, move});
  CHECK(has(fault(request, shifted), "overwrites what a later chunk of it reads"));
}

TEST_CASE("no cable, too much on a cable, bad peers") {
  // A mesh schedule on a ring of four.
  Request request = request_of(Collective::all_gather, Algorithm::direct, Wiring::mesh, 4, 64);
  auto programs = programs_of(request);
  request.wiring = Wiring::ring;
  request.algorithm = Algorithm::ring;
  CHECK(has(fault(request, programs), "to which there is no cable"));

  // Path schedules are correct on a ring, but not the ring's share.
  request = request_of(Collective::broadcast, Algorithm::path, Wiring::ring, 4, 4096);
  programs = programs_of(request);
  CHECK(fault(request, programs).empty());
  request.algorithm = Algorithm::ring;
  CHECK(has(fault(request, programs), "more than its share"));

  programs[0].streams[0].steps[0].send_to = {0};
  CHECK(has(fault(request, programs), "talks to rank 0"));
  programs[0].streams[0].steps[0].send_to = {1, 1};
  CHECK(has(fault(request, programs), "sends twice"));
}

}  // namespace sircl::schedule::test
