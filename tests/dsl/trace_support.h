#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "dsl/dsl.h"
#include "dsl/ir/printer.h"

namespace nereid::test {

struct NoConfig {
  NEREID_CONFIG(NoConfig)
};

/// The parameters of the kernels in the tests.
struct Inputs {
  Ptr<f32> p;
  Ptr<i32> q;
  Ptr<const u8> bytes;
  Ptr<bf16> h;
  Int n;
  Long m;
  Float s;

  Tile<f32> x(const Shape &shape) const { return full<f32>(shape, s); }
  Tile<i32> i(const Shape &shape) const { return full<i32>(shape, n); }
  Tile<u8> u(const Shape &shape) const { return full<u8>(shape, n.to<u8>()); }
  Tile<bf16> b(const Shape &shape) const { return full<bf16>(shape, s.to<bf16>()); }
};

using Body = void (*)(const Inputs &);

inline Result<ir::Function> trace_body(Body body) {
  auto kernel = [body](const NoConfig &, Ptr<f32> p, Ptr<i32> q, Ptr<const u8> bytes, Ptr<bf16> h, Int n,
                       Long m, Float s) { body({p, q, bytes, h, n, m, s}); };
  return trace("test", kernel, NoConfig{});
}

/// The operations of the traced body: the text of the function without its first and last line.
inline std::string body_of(Body body) {
  Result<ir::Function> function = trace_body(body);
  if (!function)
    return function.error().text();
  std::string text = ir::print(*function);
  size_t first = text.find('\n') + 1;
  return text.substr(first, text.rfind('}') - first);
}

/// Expects the body to be refused: a user error at the line of the macro with this message and remedy.
inline void expect_refused(Body body, std::string_view message, std::string_view remedy,
                           std::source_location where) {
  SCOPED_TRACE(where.line());
  Result<ir::Function> function = trace_body(body);
  ASSERT_FALSE(function.ok()) << ir::print(*function);
  const Error &error = function.error();
  EXPECT_EQ(error.owner, Owner::User);
  EXPECT_NE(error.message.find(message), std::string::npos) << error.message;
  EXPECT_NE(error.remedy.find(remedy), std::string::npos) << error.remedy;
  EXPECT_EQ(error.where.line, where.line());
  EXPECT_TRUE(error.where.file.ends_with(".cpp")) << error.where.file;
}

#define EXPECT_REFUSED(message, remedy, ...)                                                                 \
  ::nereid::test::expect_refused([]([[maybe_unused]] const ::nereid::test::Inputs &in) { __VA_ARGS__; },     \
                                 message, remedy, std::source_location::current())

} // namespace nereid::test
