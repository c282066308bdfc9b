// Defines SIRCL_REDUCE_FAMILY(target): which of this translation unit's kFamily objects, one per
// target namespace, belongs to a target. Included once, at the end of each simd_*.cpp.
//
// Naming the namespaces, rather than asking Highway's own dispatch, lets the registry hold all
// targets side by side without touching Highway's process-wide choice, which other users of the
// same shared library read.

namespace sircl::reduce {

const Family* SIRCL_REDUCE_FAMILY(std::int64_t target) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (target == HWY_AVX3) return &N_AVX3::kFamily;
#endif
#if HWY_TARGETS & HWY_AVX2
  if (target == HWY_AVX2) return &N_AVX2::kFamily;
#endif
#if HWY_TARGETS & HWY_SSE4
  if (target == HWY_SSE4) return &N_SSE4::kFamily;
#endif
#if HWY_TARGETS & HWY_SVE2_128
  if (target == HWY_SVE2_128) return &N_SVE2_128::kFamily;
#endif
#if HWY_TARGETS & HWY_SVE2
  if (target == HWY_SVE2) return &N_SVE2::kFamily;
#endif
#if HWY_TARGETS & HWY_NEON
  if (target == HWY_NEON) return &N_NEON::kFamily;
#endif
#if defined(HWY_NEON_WITHOUT_AES)
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
  if (target == HWY_NEON_WITHOUT_AES) return &N_NEON_WITHOUT_AES::kFamily;
#endif
#endif
  static_cast<void>(target);
  return nullptr;
}

}  // namespace sircl::reduce
