// Checks of the sorted rows of a mixture.
#include "kernels/moe_rows.h"

#include <fmt/format.h>

namespace nereid::kernels {

Status check_moe_rows(std::string_view kernel, const MoeRows &rows, int block_m, int64_t a_rows, int64_t k) {
  if (rows.block_m != block_m)
    return user_error(fmt::format("{}: the rows are sorted in blocks of {}, its config has block_m={}",
                                  kernel, rows.block_m, block_m),
                      fmt::format("use block_m={}", rows.block_m));
  if (a_rows * (k / 2) > INT32_MAX)
    return user_error(fmt::format("{}: {} rows of {} codes are 2^31 bytes and more", kernel, a_rows, k),
                      "give fewer rows to a launch");
  return {};
}

} // namespace nereid::kernels
