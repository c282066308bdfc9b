// A copy whose stores go around the caches.
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "reduce/reduce.hpp"

namespace sircl::reduce {

#if defined(__SSE2__)

namespace {
// Below this the store fence and the lost cache lines cost more than the stores save.
constexpr std::size_t kMinStreamingBytes = 16 * 1024;
constexpr std::size_t kLine = 64;
}  // namespace

// Whole lines only: a write-combining buffer that is filled completely leaves in one transfer.
void copy_streaming(void* out, const void* in, std::size_t bytes) noexcept {
  if (bytes < kMinStreamingBytes) {
    if (bytes != 0) std::memcpy(out, in, bytes);
    return;
  }
  auto* to = static_cast<std::uint8_t*>(out);
  const auto* from = static_cast<const std::uint8_t*>(in);
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* line = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  std::memcpy(to + i, from + i, bytes - i);
  _mm_sfence();  // the next reader may be another core, told by an ordinary store
}

#else

void copy_streaming(void* out, const void* in, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(out, in, bytes);
}

#endif

}  // namespace sircl::reduce
