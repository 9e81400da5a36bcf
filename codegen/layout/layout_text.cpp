// The inverse of LinearLayout::text().
#include "codegen/layout/layout_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "codegen/layout/layout_error.h"

namespace nereid::codegen {
namespace {

/// Positions of a workgroup that can be drawn: 16 waves of 64 lanes, 1024 registers.
constexpr unsigned max_position_bits = 20;
constexpr size_t max_rank = 8;

class LayoutParser {
public:
  explicit LayoutParser(std::string_view text) : rest_(text) {}

  Result<LinearLayout> run() {
    NEREID_CHECK(shape());
    Bases bases;
    for (const Space space : all_spaces)
      if (takes(std::string(space_name(space)) + ":"))
        NEREID_CHECK(bases_of(bases[static_cast<size_t>(space)]));
    std::vector<Repeat> repeats;
    while (takes(";"))
      NEREID_CHECK(repeat(repeats));
    if (!rest_.empty())
      return wrong("nothing more");
    double positions = std::ldexp(1.0, static_cast<int>(bases[0].size() + bases[1].size() + bases[2].size()));
    for (const Repeat &repeat : repeats)
      positions *= repeat.count;
    if (positions > std::ldexp(1.0, max_position_bits))
      return user_error(fmt::format("a layout of more than 2^{} positions", max_position_bits));
    try {
      return LinearLayout::from_flat_bases(shape_, std::move(bases), std::move(repeats));
    } catch (const LayoutError &error) {
      return user_error("no such layout: " + error.what());
    }
  }

private:
  Error wrong(std::string_view expected) const {
    return user_error(fmt::format("the layout has '{}' where {} should be", rest_, expected),
                      "it is written as the plan has it: [16, 32] register: (0,1) lane: (1,0) 0");
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  /// Whether the text goes on with a word, which is then passed.
  bool takes(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    skip_spaces();
    return true;
  }
  Result<uint32_t> number() {
    skip_spaces();
    uint32_t value = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failure != std::errc())
      return wrong("a number");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    skip_spaces();
    return value;
  }
  Status shape() {
    if (!takes("["))
      return wrong("a shape in brackets");
    unsigned bits = 0;
    while (!takes("]")) {
      if (!shape_.empty() && !takes(","))
        return wrong("a comma or a bracket");
      NEREID_TRY(const uint32_t size, number());
      if (size == 0 || shape_.size() == max_rank)
        return user_error(fmt::format("a tile has at most {} dimensions, each of at least 1", max_rank));
      shape_.push_back(size);
      bits += Dimension::of(size).bits;
    }
    if (bits > 2 * max_position_bits)
      return user_error(fmt::format("a tile of more than 2^{} elements", 2 * max_position_bits));
    return {};
  }
  /// "(0,1) 0 (2,0)": each flips bits of the coordinates; 0: none.
  Status bases_of(std::vector<uint64_t> &bases) {
    for (;;) {
      if (takes("0")) {
        bases.push_back(0);
        continue;
      }
      if (!takes("("))
        return {};
      uint64_t flat = 0;
      for (size_t d = 0; d < shape_.size(); ++d) {
        if (d > 0 && !takes(","))
          return wrong("a comma");
        NEREID_TRY(const uint32_t coordinate, number());
        const unsigned bits = Dimension::of(shape_[d]).bits;
        if (coordinate >> bits != 0)
          return user_error(
              fmt::format("a basis has {} in dimension {}, which has {} bits", coordinate, d, bits));
        flat = flat << bits | coordinate;
      }
      if (!takes(")"))
        return wrong("a closing parenthesis");
      bases.push_back(flat);
    }
  }
  Status repeat(std::vector<Repeat> &repeats) {
    Repeat repeat;
    if (takes("wave"))
      repeat.owner = Space::Wave;
    else if (!takes("register"))
      return wrong("register or wave");
    if (!takes("x"))
      return wrong("x and a count");
    NEREID_TRY(repeat.count, number());
    if (takes("along")) {
      NEREID_TRY(const uint32_t dim, number());
      if (dim >= shape_.size())
        return user_error(fmt::format("a repeat is along dimension {} of {}", dim, shape_.size()));
      repeat.dim = static_cast<int>(dim);
    } else if (!takes("broadcast")) {
      return wrong("along or broadcast");
    }
    repeats.push_back(repeat);
    return {};
  }

  std::string_view rest_;
  ir::Shape shape_;
};

} // namespace

Result<LinearLayout> parse_layout(std::string_view text) { return LayoutParser(text).run(); }

} // namespace nereid::codegen
