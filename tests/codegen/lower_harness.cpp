#include "tests/codegen/lower_harness.h"

#include <bit>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "dsl/interpreter/interpreter.h"
#include "dsl/interpreter/numbers.h"
#include "dsl/ir/printer.h"
#include "dsl/ir/verifier.h"
#include "jit/build.h"
#include "jit/compile/compiler.h"
#include "sim/code_object.h"
#include "tests/codegen/run_code.h"

namespace nereid::codegen::testing {

ir::ValueId KernelBuilder::offsets(ir::Shape shape) {
  if (shape.size() == 1)
    return arange(0, shape[0]);
  ir::ValueId row = mul(expand_dims(arange(0, shape[0]), 1), number(shape[1]));
  return add(row, expand_dims(arange(0, shape[1]), 0));
}

ir::Function KernelBuilder::done() {
  ir::Function function = finish();
  Status verified = ir::verify(function);
  EXPECT_TRUE(verified.ok()) << (verified ? "" : verified.error().text());
  return function;
}

Result<Outcome> run_compiled(const ir::Function &function, Grid grid,
                             const std::vector<Argument> &arguments) {
  JitTimes times;
  Result<jit::Binary> binary = jit::embedded_compiler().compile(jit::lowered(function), times);
  if (!binary)
    return binary.error();
  NEREID_CHECK(jit::check_spills(function, binary->resources));
  return run_code(binary->code_object, function.options.waves, grid, arguments, {});
}

Result<Outcome> run_code(std::span<const uint8_t> code_object, int waves, Grid grid,
                         const std::vector<Argument> &arguments, const sim::Checks &checks) {
  Result<sim::CodeObject> code = sim::CodeObject::load(std::as_bytes(code_object));
  if (!code)
    return code.error();
  sim::Memory memory;
  sim::Launch launch;
  launch.grid = grid;
  launch.block = {static_cast<uint32_t>(64 * waves), 1, 1};
  launch.threads = 1;
  launch.checks = checks;
  std::vector<uint64_t> addresses;
  auto add = [&](const void *data, size_t bytes) {
    while (launch.kernarg.size() % bytes != 0)
      launch.kernarg.push_back(std::byte{0});
    const auto *at = static_cast<const std::byte *>(data);
    launch.kernarg.insert(launch.kernarg.end(), at, at + bytes);
  };
  for (const Argument &argument : arguments) {
    addresses.push_back(0);
    if (const auto *bytes = std::get_if<Bytes>(&argument.value)) {
      Result<uint64_t> address = memory.allocate(bytes->size());
      if (!address)
        return address.error();
      addresses.back() = *address;
      if (Status written = memory.write(*address, bytes->data(), bytes->size()); !written)
        return written.error();
      add(&*address, 8);
    } else if (const auto *reserved = std::get_if<Reserved>(&argument.value)) {
      Result<uint64_t> address = memory.allocate(reserved->bytes);
      if (!address)
        return address.error();
      add(&*address, 8);
    } else if (const auto *i = std::get_if<int32_t>(&argument.value)) {
      add(i, 4);
    } else if (const auto *l = std::get_if<int64_t>(&argument.value)) {
      add(l, 8);
    } else if (const auto *s = std::get_if<Scalar>(&argument.value)) {
      add(&s->given.bits, s->bytes);
    } else {
      add(&std::get<float>(argument.value), 4);
    }
  }
  Result<sim::Report> report = sim::run(*code, memory, launch);
  if (!report)
    return report.error();
  if (report->fault)
    return report->fault->error();
  Outcome outcome{std::vector<Bytes>(arguments.size()), report->counts};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *bytes = std::get_if<Bytes>(&arguments[i].value)) {
      outcome.buffers[i].resize(bytes->size());
      if (Status read = memory.read(addresses[i], outcome.buffers[i].data(), bytes->size()); !read)
        return read.error();
    }
  return outcome;
}

Result<Outcome> run_interpreted(const ir::Function &function, Grid grid,
                                const std::vector<Argument> &arguments) {
  Outcome outcome{std::vector<Bytes>(arguments.size()), {}};
  std::vector<InterpretArgument> values;
  HostMemory memory;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto *bytes = std::get_if<Bytes>(&arguments[i].value)) {
      outcome.buffers[i] = *bytes;
      if (Status added = memory.add(outcome.buffers[i].data(), bytes->size()); !added)
        return added.error();
      values.push_back(InterpretArgument::pointer(outcome.buffers[i].data()));
    } else if (const auto *n = std::get_if<int32_t>(&arguments[i].value)) {
      values.push_back(InterpretArgument::i32(*n));
    } else if (const auto *l = std::get_if<int64_t>(&arguments[i].value)) {
      values.push_back(InterpretArgument::i64(*l));
    } else if (std::holds_alternative<Reserved>(arguments[i].value)) {
      return user_error("the interpreter gets no reserved memory", "give bytes");
    } else if (const auto *s = std::get_if<Scalar>(&arguments[i].value)) {
      values.push_back(s->given);
    } else {
      values.push_back(InterpretArgument::f32(std::get<float>(arguments[i].value)));
    }
  }
  if (Status done = interpret(function, grid, values, memory); !done)
    return done.error();
  return outcome;
}

namespace {

/// Floats as integers that count their order, so that a difference is one in ulps.
int64_t ordered(uint64_t bits, unsigned width) {
  int64_t magnitude = static_cast<int64_t>(bits & ((uint64_t(1) << (width - 1)) - 1));
  return bits >> (width - 1) & 1 ? -magnitude : magnitude;
}

bool is_nan(uint64_t bits, ir::Element element) {
  switch (element) {
  case ir::Element::F64:
    return bits << 1 > uint64_t{0x7ff} << 53;
  case ir::Element::F32:
    return (bits & 0x7fffffff) > 0x7f800000;
  case ir::Element::BF16:
    return (bits & 0x7fff) > 0x7f80;
  case ir::Element::FP8:
    return (bits & 0x7f) == 0x7f;
  case ir::Element::BF8:
    return (bits & 0x7f) > 0x7c;
  default:
    return (bits & 0x7fff) > 0x7c00;
  }
}

void compare_floats(const FloatBuffer &buffer, const Bytes &compiled, const Bytes &interpreted) {
  unsigned bytes = ir::byte_size(buffer.element);
  unsigned shown = 0;
  for (size_t at = 0; at < compiled.size() && shown < 5; at += bytes) {
    uint64_t got = 0, wanted = 0;
    std::memcpy(&got, compiled.data() + at, bytes);
    std::memcpy(&wanted, interpreted.data() + at, bytes);
    if (is_nan(got, buffer.element) && is_nan(wanted, buffer.element))
      continue;
    bool same = got == wanted;
    if (!same && buffer.ulps > 0 && !is_nan(got, buffer.element) && !is_nan(wanted, buffer.element))
      same = std::abs(ordered(got, 8 * bytes) - ordered(wanted, 8 * bytes)) <= buffer.ulps;
    if (same)
      continue;
    ++shown;
    ADD_FAILURE() << "argument " << buffer.argument << ", element " << at / bytes << ": compiled " << std::hex
                  << got << ", interpreted " << wanted;
  }
}

} // namespace

void expect_same(const ir::Function &function, Grid grid, const std::vector<Argument> &arguments,
                 const std::vector<FloatBuffer> &floats, WhenTooLarge when_too_large) {
  SCOPED_TRACE(ir::print(function));
  Result<Outcome> interpreted = run_interpreted(function, grid, arguments);
  ASSERT_TRUE(interpreted.ok()) << interpreted.error().text();
  Result<Outcome> compiled = run_compiled(function, grid, arguments);
  if (!compiled && compiled.error().owner == Owner::User && when_too_large == WhenTooLarge::Refused)
    return;
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const FloatBuffer *as_float = nullptr;
    for (const FloatBuffer &buffer : floats)
      if (buffer.argument == i)
        as_float = &buffer;
    if (as_float) {
      compare_floats(*as_float, compiled->buffers[i], interpreted->buffers[i]);
      continue;
    }
    unsigned shown = 0;
    for (size_t at = 0; at < compiled->buffers[i].size() && shown < 5; ++at)
      if (compiled->buffers[i][at] != interpreted->buffers[i][at]) {
        ++shown;
        ADD_FAILURE() << "argument " << i << ", byte " << at << ": compiled "
                      << std::to_integer<int>(compiled->buffers[i][at]) << ", interpreted "
                      << std::to_integer<int>(interpreted->buffers[i][at]);
      }
  }
}

Error compile_error(const ir::Function &function) {
  JitTimes times;
  Result<jit::Binary> binary = jit::embedded_compiler().compile(jit::lowered(function), times);
  EXPECT_FALSE(binary.ok());
  return binary ? Error{} : binary.error();
}

std::string assembly(const ir::Function &function) {
  Result<std::string> text = jit::embedded_compiler().assembly(jit::lowered(function));
  EXPECT_TRUE(text.ok()) << (text ? "" : text.error().text());
  return text ? *text : "";
}

uint64_t Random::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_ * 0x2545f4914f6cdd1du;
}

float Random::normal() {
  float sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += static_cast<float>(next() >> 40) * 0x1p-24f;
  return sum;
}

std::vector<float> Random::normals(size_t count) {
  std::vector<float> result(count);
  for (float &x : result)
    x = normal();
  return result;
}

std::vector<uint16_t> Random::bf16_normals(size_t count) {
  std::vector<uint16_t> result(count);
  for (uint16_t &x : result)
    x = interpreter::bf16_bits(normal());
  return result;
}

} // namespace nereid::codegen::testing
