// Finds the source line of an address in the line number programs of DWARF 2 to 5.

#include "sim/object/line_table.h"

#include <algorithm>
#include <vector>

#include <llvm/BinaryFormat/Dwarf.h>

namespace nereid::sim {

namespace {

namespace dwarf = llvm::dwarf;

/// Reads forward; beyond the end everything is zero and `failed` is set.
class Cursor {
public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return failed_ || at_ == bytes_.size(); }

  template <class T> T fixed() {
    T value{};
    if (const std::string_view raw = take(sizeof value); raw.size() == sizeof value)
      std::copy(raw.begin(), raw.end(), reinterpret_cast<char *>(&value));
    return value;
  }
  uint64_t unsigned_number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<uint8_t>();
      if (shift < 64)
        value |= uint64_t{byte & 0x7Fu} << shift;
      if (!(byte & 0x80))
        return value;
    }
  }
  int64_t signed_number() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = fixed<uint8_t>();
      if (shift < 64)
        value |= uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if (byte & 0x80)
        continue;
      if (byte & 0x40 && shift < 64)
        value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }
  /// Up to a zero, which is passed over.
  std::string_view text() {
    const size_t end = bytes_.find('\0', at_);
    if (failed_ || end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view result = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }
  std::string_view take(uint64_t count) {
    if (failed_ || count > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    const std::string_view result = bytes_.substr(at_, count);
    at_ += count;
    return result;
  }

private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

std::string_view text_at(std::string_view section, uint32_t offset) {
  return offset < section.size() ? Cursor(section.substr(offset)).text() : std::string_view();
}

/// The table of one compilation unit.
class LineTable {
public:
  LineTable(std::string_view unit, const LineSections &sections) : sections_(sections), cursor_(unit) {}

  SourceLine find(uint64_t address) {
    if (!header())
      return {};
    target_ = address;
    while (!cursor_.at_end() && !found_)
      step();
    if (!found_ || previous_.line == 0)
      return {};
    const uint64_t index = version_ >= 5 ? previous_.file : previous_.file - 1;
    if (index >= files_.size())
      return {};
    return {std::string(files_[index]), previous_.line};
  }

private:
  struct Row {
    uint64_t address = 0;
    uint64_t file = 1;
    uint32_t line = 1;
  };

  bool header() {
    version_ = cursor_.fixed<uint16_t>();
    if (version_ < 2 || version_ > 5)
      return false;
    if (version_ >= 5)
      cursor_.take(2); // sizes of addresses and segment selectors
    Cursor fields(cursor_.take(cursor_.fixed<uint32_t>()));
    instruction_size_ = fields.fixed<uint8_t>();
    if (version_ >= 4)
      fields.take(1); // operations of an instruction
    fields.take(1);   // whether rows begin statements
    line_base_ = static_cast<int>(fields.fixed<int8_t>());
    line_range_ = fields.fixed<uint8_t>();
    opcode_base_ = fields.fixed<uint8_t>();
    if (fields.failed() || line_range_ == 0 || opcode_base_ == 0)
      return false;
    operand_counts_ = fields.take(opcode_base_ - 1u);
    if (version_ >= 5) {
      std::vector<std::string_view> directories;
      read_entries(fields, directories);
      read_entries(fields, files_);
    } else {
      while (!fields.text().empty()) {
      }
      for (std::string_view name = fields.text(); !name.empty(); name = fields.text()) {
        files_.push_back(name);
        for (int number = 0; number < 3; ++number) // directory, time, size
          fields.unsigned_number();
      }
    }
    return !fields.failed() && !cursor_.failed();
  }

  /// The names of a list whose entries describe themselves (version 5).
  void read_entries(Cursor &fields, std::vector<std::string_view> &names) const {
    std::vector<std::pair<uint64_t, uint64_t>> format(fields.fixed<uint8_t>());
    for (auto &[content, form] : format) {
      content = fields.unsigned_number();
      form = fields.unsigned_number();
    }
    const uint64_t count = fields.unsigned_number();
    for (uint64_t i = 0; i < count && !format.empty() && !fields.failed(); ++i) {
      std::string_view name;
      for (const auto &[content, form] : format) {
        const std::string_view value = read_form(fields, form);
        if (content == dwarf::DW_LNCT_path)
          name = value;
      }
      names.push_back(name);
    }
  }

  /// A value's text; of numbers nothing, they are only passed over.
  std::string_view read_form(Cursor &fields, uint64_t form) const {
    switch (form) {
    case dwarf::DW_FORM_string:
      return fields.text();
    case dwarf::DW_FORM_line_strp:
      return text_at(sections_.line_strings, fields.fixed<uint32_t>());
    case dwarf::DW_FORM_strp:
      return text_at(sections_.strings, fields.fixed<uint32_t>());
    case dwarf::DW_FORM_udata:
      fields.unsigned_number();
      return {};
    case dwarf::DW_FORM_data1:
      fields.take(1);
      return {};
    case dwarf::DW_FORM_data2:
      fields.take(2);
      return {};
    case dwarf::DW_FORM_data4:
      fields.take(4);
      return {};
    case dwarf::DW_FORM_data8:
      fields.take(8);
      return {};
    case dwarf::DW_FORM_data16: // a checksum
      fields.take(16);
      return {};
    case dwarf::DW_FORM_block:
      fields.take(fields.unsigned_number());
      return {};
    default:
      fields.take(~uint64_t{0});
      return {};
    }
  }

  /// Ends a row: the row before it holds from its address to the new one's.
  void emit() {
    if (open_ && previous_.address <= target_ && target_ < row_.address)
      found_ = true;
    else
      previous_ = row_;
    open_ = true;
  }

  void advance(uint64_t operations) { row_.address += operations * instruction_size_; }

  void step() {
    const auto opcode = cursor_.fixed<uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      advance(adjusted / line_range_);
      row_.line += static_cast<uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      return emit();
    }
    switch (opcode) {
    case 0:
      return extended();
    case dwarf::DW_LNS_copy:
      return emit();
    case dwarf::DW_LNS_advance_pc:
      return advance(cursor_.unsigned_number());
    case dwarf::DW_LNS_advance_line:
      row_.line += static_cast<uint32_t>(cursor_.signed_number());
      return;
    case dwarf::DW_LNS_set_file:
      row_.file = cursor_.unsigned_number();
      return;
    case dwarf::DW_LNS_const_add_pc:
      return advance((255u - opcode_base_) / line_range_);
    case dwarf::DW_LNS_fixed_advance_pc:
      row_.address += cursor_.fixed<uint16_t>();
      return;
    default:
      for (auto count = static_cast<uint8_t>(operand_counts_[opcode - 1u]); count > 0; --count)
        cursor_.unsigned_number();
    }
  }

  void extended() {
    Cursor operation(cursor_.take(cursor_.unsigned_number()));
    switch (operation.fixed<uint8_t>()) {
    case dwarf::DW_LNE_end_sequence:
      emit();
      row_ = {};
      open_ = false;
      return;
    case dwarf::DW_LNE_set_address:
      row_.address = operation.fixed<uint64_t>();
      return;
    default:
      return;
    }
  }

  const LineSections &sections_;
  Cursor cursor_;
  unsigned version_ = 0;
  unsigned instruction_size_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  unsigned opcode_base_ = 1;
  std::string_view operand_counts_;
  std::vector<std::string_view> files_;
  Row row_, previous_;
  bool open_ = false; ///< `previous_` is of the sequence that is read
  uint64_t target_ = 0;
  bool found_ = false;
};

} // namespace

SourceLine find_line(const LineSections &sections, uint64_t address) {
  Cursor units(sections.lines);
  while (!units.at_end()) {
    const auto length = units.fixed<uint32_t>();
    const std::string_view unit = units.take(length);
    if (SourceLine line = LineTable(unit, sections).find(address); line.known())
      return line;
  }
  return {};
}

} // namespace nereid::sim
