#include "bootstrap/admission.hpp"

#include <fmt/format.h>

namespace sircl::bootstrap {
namespace {

Status wrong_version(std::uint32_t theirs) {
  return {StatusCode::refused,
          fmt::format("the root speaks protocol {}, this rank {}; use one version of sircl",
                      kVersion, theirs)};
}

}  // namespace

Caller::State Caller::hear(std::span<const std::byte> bytes) {
  heard_.insert(heard_.end(), bytes.begin(), bytes.end());
  if (heard_.size() < kPrefixBytes) return State::listening;
  const auto version = version_of(heard_);
  if (!version) return State::stranger;
  // Another version may say more or less than ours, so it is not heard out.
  if (*version != kVersion) return refuse(wrong_version(*version), {});
  if (heard_.size() < kHelloBytes) return State::listening;

  const auto heard = decode_hello(heard_, terms_->secret, nonce_);
  if (!heard) return State::stranger;
  if (const Status verdict = judge(*heard); !verdict.ok()) {
    return refuse(verdict, heard->hello.nonce);
  }
  hello_ = heard->hello;
  answer_ = encode(Answer{}, terms_->secret, hello_.nonce);
  return State::welcome;
}

Caller::State Caller::refuse(const Status& why, const Nonce& challenge) {
  answer_ = encode(Answer{why.code(), why.message()}, terms_->secret, challenge);
  return State::refused;
}

// The proof first: who does not know the secret learns nothing else.
Status Caller::judge(const HeardHello& heard) const {
  const Hello& hello = heard.hello;
  if (!heard.proved) {
    return {StatusCode::refused,
            "the secret differs; give all ranks the same SIRCL_SECRET or SIRCL_SECRET_FILE"};
  }
  if (hello.group != terms_->group) {
    return {StatusCode::refused, "another group meets here; check SIRCL_ROOT and SIRCL_GROUP"};
  }
  if (hello.epoch != terms_->epoch) {
    return {
        StatusCode::refused,
        fmt::format("the root is in epoch {}, this rank in epoch {}; start all ranks again with "
                    "the same SIRCL_EPOCH",
                    terms_->epoch, hello.epoch)};
  }
  if (hello.size != terms_->size) {
    return {StatusCode::mismatch,
            fmt::format("the root waits for {} ranks, this rank was told {}; give all the same "
                        "SIRCL_SIZE",
                        terms_->size, hello.size)};
  }
  if (hello.rank < 0 || hello.rank >= terms_->size) {
    return {StatusCode::invalid_setting,
            fmt::format("rank {} is not from 0 to {}", hello.rank, terms_->size - 1)};
  }
  if (const auto why = terms_->taken(hello.rank)) {
    return {StatusCode::mismatch, fmt::format("{}; give every process its own SIRCL_RANK", *why)};
  }
  return {};
}

}  // namespace sircl::bootstrap
