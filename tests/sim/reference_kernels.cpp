#include "tests/sim/reference_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/Support/JSON.h>

#include "tests/sim/assembler.h"
#include "tests/sim/mx_formats.h"

namespace nereid::sim::test {

namespace {

std::string text_of(const std::string &name) {
  std::ifstream file(fmt::format("{}/{}", NEREID_SIM_REFERENCE, name), std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::array<uint32_t, 3> extents(const llvm::json::Array &array) {
  std::array<uint32_t, 3> result{};
  for (size_t axis = 0; axis < 3; ++axis)
    result[axis] = static_cast<uint32_t>(*array[axis].getAsInteger());
  return result;
}

/// Scales of three successive exponents.
void random_scales(std::vector<uint8_t> &scales, std::mt19937 &random) {
  for (uint8_t &scale : scales)
    scale = static_cast<uint8_t>(120 + random() % 3);
}

MxMatrix random_matrix(size_t rows, size_t columns, std::mt19937 &random) {
  MxMatrix result(rows, columns);
  for (uint8_t &code : result.codes)
    code = random() & 15;
  random_scales(result.scales, random);
  return result;
}

constexpr uint8_t nan_scale = 0xFF;

template <class T> std::vector<uint8_t> bytes_of(const std::vector<T> &values) {
  const auto *first = reinterpret_cast<const uint8_t *>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

} // namespace

std::vector<ReferenceLaunch> reference_launches() {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text_of("launches.json"));
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  std::vector<ReferenceLaunch> result;
  for (const llvm::json::Value &entry : *value->getAsArray()) {
    const llvm::json::Object &object = *entry.getAsObject();
    auto number = [&](const char *key) { return static_cast<uint32_t>(*object.getInteger(key)); };
    ReferenceLaunch launch;
    launch.file = object.getString("file")->str();
    launch.kernel = object.getString("kernel")->str();
    launch.m = number("m");
    launch.n = number("n");
    launch.k = number("k");
    launch.grid = extents(*object.getArray("grid"));
    launch.block = extents(*object.getArray("block"));
    for (const llvm::json::Value &argument : *object.getArray("arguments")) {
      if (const auto name = argument.getAsString())
        launch.arguments.emplace_back(name->str());
      else
        launch.arguments.emplace_back(static_cast<uint32_t>(*argument.getAsInteger()));
    }
    launch.strength_reduction = object.getArray("llc") == nullptr;
    launch.reads_ahead = object.getBoolean("reads_ahead").value_or(false);
    result.push_back(std::move(launch));
  }
  return result;
}

ReferenceLaunch reference_launch(const std::string &file) {
  for (ReferenceLaunch &launch : reference_launches())
    if (launch.file == file)
      return launch;
  throw std::runtime_error("no launch for " + file);
}

std::string reference_assembly(const ReferenceLaunch &launch) {
  return compile_to_assembly(text_of(launch.file + ".ll"), launch.strength_reduction);
}

template <class T>
void ReferenceRun::operand(const std::string &name, const std::vector<T> &content, size_t padding) {
  Buffer &buffer = buffers_[name];
  buffer.content = bytes_of(content);
  buffer.content.resize(buffer.content.size() + padding, 0xFF);
  buffer.size = buffer.content.size();
}

ReferenceRun::ReferenceRun(const ReferenceLaunch &launch, unsigned seed) : launch_(launch) {
  if (launch.file.starts_with("quant"))
    make_quantisation(seed);
  else if (launch.file.starts_with("reduce"))
    make_reduction(seed);
  else
    make_product(seed);
}

void ReferenceRun::make_product(unsigned seed) {
  const auto [m, n, k] = std::array<size_t, 3>{launch_.m, launch_.n, launch_.k};
  std::mt19937 random(seed);
  const MxMatrix b = random_matrix(n, k, random);
  // What is read ahead is defined memory, and in the format of scales a NaN.
  const size_t ahead = launch_.reads_ahead ? size_t{16} << 10 : 0;
  operand("B", shuffled_rows(b), ahead);
  // A reads scales of whole groups of eight; where the last is not whole, its zeros must not meet a NaN.
  operand("SB", shuffled_scales(b, k % 256 ? 127 : nan_scale), ahead);
  MxMatrix a = random_matrix(m, k, random);
  if (launch_.large()) {
    operand("A", packed_rows(a));
    operand("SA", shuffled_scales(a, nan_scale));
  } else {
    // Groups of three magnitudes, so that their sums are exact and their scales differ.
    std::vector<uint16_t> values(m * k);
    for (size_t i = 0; i < values.size(); i += 32) {
      const int exponent = static_cast<int>(random() % 3) - 10;
      for (size_t j = 0; j < 32; ++j)
        values[i + j] = bf16_of(std::ldexp(static_cast<float>(random() % 255) - 127, exponent));
    }
    operand("A", values);
    a = quantised(values, m, k);
  }
  expected_["C"] = [a, b] { return bytes_of(mx_product(a, b)); };
  buffers_["C"].size = 2 * m * n;
  // Two slices of f32 partial sums, and a counter for each tile of 16 x 64.
  buffers_["W"].size = 2 * m * n * 4;
  operand("CNT", std::vector<uint32_t>(m / 16 * (n / 64)));
}

void ReferenceRun::make_quantisation(unsigned seed) {
  const auto [m, k] = std::array<size_t, 2>{launch_.m, launch_.k};
  std::mt19937 random(seed);
  std::vector<uint16_t> values(m * k);
  for (size_t i = 0; i < values.size(); i += 32) {
    const int exponent = static_cast<int>(random() % 200) - 100;
    const bool zeros = random() % 16 == 0;
    for (size_t j = 0; j < 32; ++j)
      values[i + j] = zeros ? 0 : bf16_of(std::ldexp(static_cast<float>(random() % 511) - 255, exponent));
  }
  const MxMatrix expected = quantised(values, m, k);
  operand("A", values);
  expected_["Q"] = [expected] { return packed_rows(expected); };
  buffers_["Q"].size = m * k / 2;
  expected_["S"] = [expected] { return shuffled_scales(expected, 127); };
  buffers_["S"].size = shuffled_scales(expected, 127).size();
  for (size_t row = 0; row < m; ++row)
    for (size_t group = 0; group < k / 32; ++group)
      compared_scales_.push_back(shuffled_scale_place(row, group, k / 32));
}

void ReferenceRun::make_reduction(unsigned seed) {
  const auto [m, n] = std::array<size_t, 2>{launch_.m, launch_.n};
  std::mt19937 random(seed);
  std::vector<float> slices(2 * m * n);
  for (float &x : slices)
    x = static_cast<float>(random() % 20001) - 10000;
  // A tile of 16 columns holds four neighbours of a row in each lane.
  std::vector<uint16_t> c(m * n);
  for (size_t i = 0; i < m * n; ++i) {
    const size_t tile = i / 256, lane = i % 256 / 4;
    c[lane % 16 * n + 16 * tile + lane / 16 * 4 + i % 4] = bf16_of(slices[i] + slices[i + m * n]);
  }
  operand("W", slices);
  expected_["C"] = [c] { return bytes_of(c); };
  buffers_["C"].size = 2 * c.size();
}

Report ReferenceRun::run(const CodeObject &code, const Launch &options) {
  Launch launch = options;
  launch.kernel = launch_.kernel;
  launch.grid = launch_.grid;
  launch.block = launch_.block;
  const KernelInfo &kernel = *code.kernel(launch.kernel).value();
  for (size_t i = 0; i < launch_.arguments.size(); ++i) {
    const KernelArgument &target = kernel.arguments.at(i);
    launch.kernarg.resize(target.offset + target.size);
    std::byte *to = launch.kernarg.data() + target.offset;
    if (const auto *number = std::get_if<uint32_t>(&launch_.arguments[i])) {
      std::memcpy(to, number, 4);
      continue;
    }
    Buffer &buffer = buffers_.at(std::get<std::string>(launch_.arguments[i]));
    if (buffer.address) {
      EXPECT_TRUE(memory_.free(buffer.address).ok());
    }
    buffer.address = *memory_.allocate(buffer.size);
    EXPECT_TRUE(memory_.write(buffer.address, buffer.content.data(), buffer.content.size()).ok());
    std::memcpy(to, &buffer.address, 8);
  }
  auto report = sim::run(code, memory_, launch);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.ok() ? *report : Report();
}

std::vector<uint8_t> ReferenceRun::result(const std::string &name) const {
  const Buffer &buffer = buffers_.at(name);
  std::vector<uint8_t> content(buffer.size);
  EXPECT_TRUE(memory_.read(buffer.address, content.data(), content.size()).ok());
  return content;
}

void ReferenceRun::set(const std::string &name, std::vector<uint8_t> content) {
  Buffer &buffer = buffers_[name];
  buffer.size = content.size();
  buffer.content = std::move(content);
}

void ReferenceRun::expect_results() {
  for (const auto &[name, compute] : expected_) {
    if (!buffers_.at(name).address)
      continue; // no argument of this kernel
    const std::vector<uint8_t> found = result(name), expected = compute();
    ASSERT_EQ(found.size(), expected.size());
    if (name == "S") {
      for (const size_t place : compared_scales_)
        ASSERT_EQ(found[place], expected[place]) << "scale at " << place;
      continue;
    }
    const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    EXPECT_EQ(wrong, found.end()) << launch_.file << ": byte " << wrong - found.begin() << " of " << name;
  }
}

} // namespace nereid::sim::test
