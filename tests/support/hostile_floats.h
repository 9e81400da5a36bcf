#pragma once

#include <cfenv>
#include <initializer_list>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace nereid::test {

/// A thread's floating-point settings as a program may have left them, until the scope ends.
class HostileFloats {
public:
  enum class Kind { FlushDenormals, RoundUp, RoundToZero, Trap };
  static constexpr std::initializer_list<Kind> kinds = {Kind::FlushDenormals, Kind::RoundUp,
                                                        Kind::RoundToZero, Kind::Trap};

  explicit HostileFloats(Kind kind) : kind_(kind) {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    switch (kind) {
    case Kind::FlushDenormals:
#if defined(__x86_64__)
      _mm_setcsr(_mm_getcsr() | flush_bits);
#endif
      break;
    case Kind::RoundUp:
      std::fesetround(FE_UPWARD);
      break;
    case Kind::RoundToZero:
      std::fesetround(FE_TOWARDZERO);
      break;
    case Kind::Trap:
      feenableexcept(trapped);
      break;
    }
  }
  ~HostileFloats() { std::fesetenv(&before_); }
  HostileFloats(const HostileFloats &) = delete;
  HostileFloats &operator=(const HostileFloats &) = delete;

  bool in_force() const {
    switch (kind_) {
    case Kind::FlushDenormals:
#if defined(__x86_64__)
      return (_mm_getcsr() & flush_bits) == flush_bits;
#else
      return true;
#endif
    case Kind::RoundUp:
      return std::fegetround() == FE_UPWARD;
    case Kind::RoundToZero:
      return std::fegetround() == FE_TOWARDZERO;
    case Kind::Trap:
      return fegetexcept() == trapped;
    }
    return false;
  }

private:
  static constexpr unsigned flush_bits = 0x8040; ///< FTZ and DAZ of MXCSR
  static constexpr int trapped = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
  Kind kind_;
  std::fenv_t before_;
};

} // namespace nereid::test
