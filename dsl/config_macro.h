#pragma once

// NEREID_EACH(macro, fixed, a, b, ...): macro(fixed, a) macro(fixed, b) ..., up to 64 items. A macro does not
// expand inside itself; each level of NEREID_EXPAND scans again and lets the helper continue.
#define NEREID_EACH(macro, fixed, ...) __VA_OPT__(NEREID_EXPAND(NEREID_EACH_STEP(macro, fixed, __VA_ARGS__)))
#define NEREID_EACH_STEP(macro, fixed, first, ...)                                                           \
  macro(fixed, first) __VA_OPT__(NEREID_EACH_AGAIN NEREID_PARENTHESES(macro, fixed, __VA_ARGS__))
#define NEREID_EACH_AGAIN() NEREID_EACH_STEP
#define NEREID_PARENTHESES ()
#define NEREID_EXPAND(...) NEREID_EXPAND3(NEREID_EXPAND3(NEREID_EXPAND3(NEREID_EXPAND3(__VA_ARGS__))))
#define NEREID_EXPAND3(...) NEREID_EXPAND2(NEREID_EXPAND2(NEREID_EXPAND2(NEREID_EXPAND2(__VA_ARGS__))))
#define NEREID_EXPAND2(...) NEREID_EXPAND1(NEREID_EXPAND1(NEREID_EXPAND1(NEREID_EXPAND1(__VA_ARGS__))))
#define NEREID_EXPAND1(...) __VA_ARGS__
