// Layouts as tables of text.
#include "codegen/layout/layout_drawing.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/layout/layout_holders.h"

namespace nereid::codegen {

namespace {

std::string cell(const LinearLayout &layout, const Holders &holders) {
  if (holders.count == 0)
    return "-";
  std::vector<std::string> words;
  if (layout.waves() > 1)
    words.push_back(fmt::format("w{}", holders.first.wave));
  if (layout.lanes() > 1)
    words.push_back(fmt::format("l{}", holders.first.lane));
  if (layout.registers() > 1)
    words.push_back(fmt::format("r{}", holders.first.reg));
  if (holders.count > 1)
    words.push_back(fmt::format("x{}", holders.count));
  return words.empty() ? "r0" : fmt::format("{}", fmt::join(words, " "));
}

std::string draw_table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), row.size()), 0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:{}}{}", row[i], widths[i], i == 0 ? " | " : "  ");
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

/// The number of rows (from_last 1) or columns (0) of a table.
uint32_t table_size(const LinearLayout &layout, unsigned from_last) {
  const unsigned rank = layout.rank();
  return from_last < rank ? static_cast<uint32_t>(layout.dim(rank - 1 - from_last).size()) : 1;
}

/// One row a row of the tile, with headings. `at` names the table; its last two coordinates are free.
std::vector<std::vector<std::string>> cells_of_table(const LinearLayout &layout,
                                                     const std::map<Coordinates, Holders> &holders,
                                                     Coordinates at, const DrawingOptions &options) {
  const unsigned rank = layout.rank();
  const uint32_t all_rows = table_size(layout, 1), all_columns = table_size(layout, 0);
  const uint32_t rows = std::min(all_rows, options.rows), columns = std::min(all_columns, options.columns);
  std::vector<std::vector<std::string>> cells(1, {""});
  for (uint32_t column = 0; column < columns; ++column)
    cells[0].push_back(std::to_string(column));
  if (columns < all_columns)
    cells[0].push_back(fmt::format("... {}", all_columns - 1));
  for (uint32_t row = 0; row < rows; ++row) {
    cells.push_back({std::to_string(row)});
    for (uint32_t column = 0; column < columns; ++column) {
      if (rank > 0)
        at[rank - 1] = column;
      if (rank > 1)
        at[rank - 2] = row;
      const auto found = holders.find(at);
      cells.back().push_back(cell(layout, found == holders.end() ? Holders{} : found->second));
    }
  }
  if (rows < all_rows)
    cells.push_back({fmt::format("... {}", all_rows - 1)});
  return cells;
}

} // namespace

std::string draw(const LinearLayout &layout, const DrawingOptions &options) {
  const std::map<Coordinates, Holders> holders = find_holders(layout);
  const unsigned rank = layout.rank();
  uint32_t tables = 1;
  for (unsigned d = 0; d + 2 < rank; ++d)
    tables *= static_cast<uint32_t>(layout.dim(d).size());

  std::string text = layout.text() + "\n";
  for (uint32_t table = 0; table < std::min(tables, most_drawn_tables); ++table) {
    Coordinates at(rank, 0);
    uint32_t rest = table;
    for (unsigned d = rank > 2 ? rank - 2 : 0; d-- > 0;) {
      at[d] = rest % static_cast<uint32_t>(layout.dim(d).size());
      rest /= static_cast<uint32_t>(layout.dim(d).size());
    }
    if (rank > 2)
      text += fmt::format("at [{}, ...]\n", fmt::join(at.begin(), at.end() - 2, ", "));
    text += draw_table(cells_of_table(layout, holders, std::move(at), options));
  }
  if (tables > most_drawn_tables)
    text += fmt::format("... {} more tables\n", tables - most_drawn_tables);
  return text;
}

} // namespace nereid::codegen
