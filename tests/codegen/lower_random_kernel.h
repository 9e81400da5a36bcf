#pragma once

#include <optional>
#include <vector>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {

/// A valid kernel of random operations with data for it. All that it stores is promised to the bit, but for
/// the payloads of NaNs in float buffers: float sums and products of matrices are of small whole numbers.
struct RandomKernel {
  ir::Function function;
  Grid grid;
  std::vector<Argument> arguments;
  std::vector<FloatBuffer> floats;
};

RandomKernel random_kernel(uint64_t seed);

/// A tile in the making.
struct RandomValue {
  ir::ValueId id = 0;
  /// A float that may be a NaN whose sign and payload depend on who computed it.
  bool open_nan = false;
  /// A product of matrices to which nothing may be added: the order of that sum is open.
  bool product = false;
};

/// Makes one kernel statement by statement; a statement draws its operands from the tiles made so far.
class RandomKernelBuilder : public KernelBuilder {
public:
  RandomKernelBuilder(uint64_t seed, int waves);
  RandomKernel build();

private:
  enum class Contents { Bits, Small };
  struct Buffer {
    ir::ValueId pointer;
    ir::Element element;
    int64_t used = 0;
  };
  struct Address {
    ir::ValueId pointer;
    ir::Shape shape;
  };
  /// Where the elements of a tile lie in a buffer: base + the sum of index * stride.
  struct Placement {
    ir::Shape shape;
    std::vector<int64_t> strides;
    int64_t base = 0;
    int64_t extent = 1;
  };

  int64_t below(int64_t count) { return static_cast<int64_t>(random_.next() % static_cast<uint64_t>(count)); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <class T> T one_of(std::initializer_list<T> list) { return *(list.begin() + below(list.size())); }

  // lower_random_kernel.cpp: what the kernel consists of.
  void statement(int depth);
  void statements(int count, int depth);
  void loop(int depth);
  void branch(int depth);
  void product_loop();
  void keep(RandomValue value) { pool_.push_back(value); }
  RandomValue pick();
  ir::ValueId small_scalar();
  Argument data(ir::Element element, Contents contents, int64_t count);

  // lower_random_values.cpp: operations on tiles.
  ir::Element any_element();
  ir::Shape any_shape(int64_t count);
  int64_t any_count(int64_t most);
  /// A power of two below 2^bits, or a small one times 3, 5 or 7.
  int64_t any_side(int bits);
  RandomValue as(RandomValue value, ir::Element element);
  RandomValue through_small_float(RandomValue value);
  /// The value in another shape: by renaming, broadcast or reduction.
  RandomValue fit(RandomValue value, const ir::Shape &shape);
  RandomValue fit_powers_of_two(RandomValue value, const ir::Shape &shape);
  RandomValue without_odd_factors(RandomValue value);
  RandomValue with_odd_factors(RandomValue value, const ir::Shape &shape);
  RandomValue scatter(RandomValue value);
  RandomValue small(ir::Element element, const ir::Shape &shape, int64_t largest);
  RandomValue mask(const ir::Shape &shape);
  RandomValue elementwise();
  RandomValue viewed_value();
  RandomValue reduced();
  RandomValue product();
  RandomValue scaled_product();
  void quantized();

  // lower_random_memory.cpp: loads, stores and atomics.
  Placement place(const ir::Shape &shape);
  ir::ValueId address(ir::ValueId pointer, const Placement &placement, int64_t first);
  RandomValue load_from(ir::ValueId pointer, const ir::Shape &shape, int64_t size);
  RandomValue loaded();
  RandomValue gathered();
  std::optional<int64_t> reserve(Buffer &buffer, int64_t count);
  void stored(RandomValue value);
  void read_back();
  void atomic_statement();

  Random random_;
  std::vector<RandomValue> pool_;
  std::vector<Buffer> inputs_, small_inputs_, outputs_;
  std::vector<ir::ValueId> scalars_, indices_;
  Grid grid_{1, 1, 1};
  int64_t max_elements_ = 256;
};

} // namespace nereid::codegen::testing
