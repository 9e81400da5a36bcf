// Layouts as pictures.
#include "codegen/layout/layout_svg.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/layout/layout_holders.h"

namespace nereid::codegen {
namespace {

/// Pixels of a cell, and beside the table for headings.
constexpr unsigned cell_width = 46, cell_height = 26, left = 40, heading = 20, line = 18;

class SvgDrawing {
public:
  SvgDrawing(const LinearLayout &layout, const DrawingOptions &options)
      : layout_(layout), holders_(find_holders(layout)), rank_(layout.rank()), all_rows_(size(1)),
        all_columns_(size(0)), rows_(std::min(all_rows_, options.rows)),
        columns_(std::min(all_columns_, options.columns)) {}

  std::string run() {
    uint32_t tables = 1;
    for (unsigned d = 0; d + 2 < rank_; ++d)
      tables *= static_cast<uint32_t>(layout_.dim(d).size());
    text(2, 12, layout_.text());
    y_ = line + 4;
    for (uint32_t t = 0; t < std::min(tables, most_drawn_tables); ++t)
      table(t);
    if (tables > most_drawn_tables || rows_ < all_rows_ || columns_ < all_columns_) {
      text(2, y_ + 14,
           fmt::format("{} of {} tables, {} of {} rows, {} of {} columns",
                       std::min(tables, most_drawn_tables), tables, rows_, all_rows_, columns_,
                       all_columns_));
      y_ += line;
    }
    const unsigned width = std::max<unsigned>(left + columns_ * cell_width + 4,
                                              7 * static_cast<unsigned>(layout_.text().size()) + 8);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"monospace\" font-size=\"10\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
        width, y_ + 6, body_);
  }

private:
  /// Of the last dimension (0) or the one before it (1).
  uint32_t size(unsigned from_last) const {
    return from_last < rank_ ? static_cast<uint32_t>(layout_.dim(rank_ - 1 - from_last).size()) : 1;
  }
  void text(unsigned x, unsigned y, const std::string &content, const char *anchor = "start") {
    fmt::format_to(std::back_inserter(body_), "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                   anchor, content);
  }
  void table(uint32_t number);
  void cell(unsigned x, unsigned y, const Coordinates &at);

  const LinearLayout &layout_;
  const std::map<Coordinates, Holders> holders_;
  unsigned rank_;
  uint32_t all_rows_, all_columns_, rows_, columns_;
  unsigned y_ = 0;
  std::string body_;
};

void SvgDrawing::table(uint32_t number) {
  Coordinates at(rank_, 0);
  for (unsigned d = rank_ > 2 ? rank_ - 2 : 0; d-- > 0;) {
    at[d] = number % static_cast<uint32_t>(layout_.dim(d).size());
    number /= static_cast<uint32_t>(layout_.dim(d).size());
  }
  if (rank_ > 2) {
    text(2, y_ + 14, fmt::format("at [{}, ...]", fmt::join(at.begin(), at.end() - 2, ", ")));
    y_ += line;
  }
  for (uint32_t column = 0; column < columns_; ++column)
    text(left + column * cell_width + cell_width / 2, y_ + 14, std::to_string(column), "middle");
  y_ += heading;
  for (uint32_t row = 0; row < rows_; ++row, y_ += cell_height) {
    text(left - 6, y_ + 17, std::to_string(row), "end");
    for (uint32_t column = 0; column < columns_; ++column) {
      if (rank_ > 0)
        at[rank_ - 1] = column;
      if (rank_ > 1)
        at[rank_ - 2] = row;
      cell(left + column * cell_width, y_, at);
    }
  }
}

void SvgDrawing::cell(unsigned x, unsigned y, const Coordinates &at) {
  const auto found = holders_.find(at);
  const bool is_held = found != holders_.end();
  const Holders holders = is_held ? found->second : Holders{};
  // Neighbouring lanes are told apart by their lightness, all of them by their hue.
  const std::string colour = is_held ? fmt::format("hsl({}, 62%, {}%)", holders.first.lane * 360 / 64,
                                                   holders.first.lane % 2 ? 74 : 84)
                                     : "#eee";
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#fff\"/>\n", x, y,
                 cell_width, cell_height, colour);
  if (!is_held)
    return;
  const std::string wave = layout_.waves() > 1 ? fmt::format("w{} ", holders.first.wave) : "";
  const std::string copies = holders.count > 1 ? fmt::format(" x{}", holders.count) : "";
  text(x + cell_width / 2, y + 11, fmt::format("{}l{}", wave, holders.first.lane), "middle");
  text(x + cell_width / 2, y + 22, fmt::format("r{}{}", holders.first.reg, copies), "middle");
}

} // namespace

std::string draw_svg(const LinearLayout &layout, const DrawingOptions &options) {
  return SvgDrawing(layout, options).run();
}

} // namespace nereid::codegen
