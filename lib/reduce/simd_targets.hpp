// Which Highway targets this layer compiles. Include before any other Highway header.
#pragma once

// Every x86 server of the last decade has SSE4, and the targets beyond AVX3 add nothing that these
// kernels use; SVE without SVE2 and other architectures are not machines of this library. Each
// target less is compile time saved; a processor with none of them runs SCALAR.
#define HWY_DISABLED_TARGETS                                                                   \
  (HWY_SSE2 | HWY_SSSE3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | HWY_SVE_256 | \
   HWY_RVV | HWY_WASM | HWY_WASM_EMU256 | HWY_PPC8)
#include <hwy/detect_targets.h>

// Names that the oldest supported Highway (1.0.3) does not know yet.
#ifndef HWY_SSE2
#define HWY_SSE2 0LL
#endif
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0LL
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0LL
#endif

// Whether the target that is being compiled converts between f16 and f32 by instructions that are
// exact, denormals included: F16C and those of Arm are. What Highway does elsewhere is not.
#define SIRCL_REDUCE_HAS_F16                               \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && \
   (!HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX2))
