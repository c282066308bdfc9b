#include "sircl/status.hpp"

namespace sircl {

std::string_view to_string(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::invalid_argument:
      return "invalid_argument";
    case StatusCode::invalid_setting:
      return "invalid_setting";
    case StatusCode::mismatch:
      return "mismatch";
    case StatusCode::unreachable:
      return "unreachable";
    case StatusCode::refused:
      return "refused";
    case StatusCode::resource:
      return "resource";
    case StatusCode::timeout:
      return "timeout";
    case StatusCode::peer_lost:
      return "peer_lost";
    case StatusCode::aborted:
      return "aborted";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::internal:
      return "internal";
  }
  return "invalid";
}

}  // namespace sircl
