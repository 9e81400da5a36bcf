// Pointers from addresses: how wide their accesses are. Their values: tests/jit/scalar_arguments_test.cpp.
#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

enum class Promise { None, OfAnother, InABranch, Sixteen };

/// The code of a kernel that copies 512 halves from the address that it loads.
template <Promise promise> std::string copy_code() {
  const auto kernel = [](const TileConfig &c, Ptr<const u64> addresses, Ptr<f16> z, Int n) {
    const Tile<u64> address = load(addresses), other = load(addresses + 1);
    if constexpr (promise == Promise::Sixteen)
      assume(address % 16 == 0);
    if constexpr (promise == Promise::OfAnother)
      assume(other % 16 == 0);
    if constexpr (promise == Promise::InABranch)
      when(n > 3, [&] { assume(address % 16 == 0); });
    store(z + arange(0, c.columns), load(as_pointer<const f16>(address) + arange(0, c.columns)));
    store(z + c.columns, other.to<f32>().to<f16>());
  };
  const Result<ir::Function> function =
      trace("kernel", kernel, TileConfig{1, 512, 1, 0, 1}, {{.divisibility = 16}, {.divisibility = 16}});
  EXPECT_TRUE(function.ok()) << function.error().text();
  return codegen::testing::assembly(*function);
}

/// Through a descriptor, which wants dwords at multiples of 4; others are global, and as wide.
bool is_through_descriptor(const std::string &code) {
  const bool global = code.find("global_load_dwordx4") != std::string::npos;
  EXPECT_NE(global, code.find("buffer_load_dwordx4") != std::string::npos) << code;
  return !global;
}

TEST(LowerPointer, AnAssumedAlignmentAllowsADescriptor) {
  EXPECT_TRUE(is_through_descriptor(copy_code<Promise::Sixteen>()));
  EXPECT_FALSE(is_through_descriptor(copy_code<Promise::None>()));
  EXPECT_FALSE(is_through_descriptor(copy_code<Promise::OfAnother>()));
}

/// Where the promise may not have been given, it says nothing.
TEST(LowerPointer, AnAlignmentAssumedInABranchIsNoneAfterIt) {
  EXPECT_FALSE(is_through_descriptor(copy_code<Promise::InABranch>()));
}

} // namespace
} // namespace nereid::lowering_test
