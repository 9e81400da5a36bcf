// Writes the text form of a function: the inverse of parser.cpp.
#include "dsl/ir/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/ir/text.h"

namespace nereid::ir {
namespace {

class Printer {
public:
  explicit Printer(const Function &function) : function_(function) {}

  std::string function() {
    out_ = "kernel @" + (is_plain_name(function_.name) ? function_.name : quote(function_.name)) + "(";
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      argument(function_.arguments[i]);
    }
    const CompileOptions &options = function_.options;
    append(") options {{waves = {}, mfma = {}, waves_per_eu = {}", options.waves, options.mfma,
           options.waves_per_eu);
    if (options.wave_split != WaveSplit::Auto)
      append(", wave_split = {}", wave_split_names[static_cast<size_t>(options.wave_split)]);
    out_ += "} {";
    block(function_.body, 1);
    out_ += "\n}\n";
    return std::move(out_);
  }

  std::string operation(const Op &op) {
    head(op);
    return std::move(out_);
  }

private:
  template <class... Args> void append(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string type(ValueId value) const {
    return value < function_.value_types.size() ? function_.type(value).text() : "?";
  }

  void argument(const Argument &argument) {
    append("%{}: {}", argument.value, type(argument.value));
    std::vector<std::string> facts;
    if (argument.read_only)
      facts.emplace_back("read_only");
    if (argument.divisibility != 1)
      facts.push_back(fmt::format("divisibility = {}", argument.divisibility));
    if (argument.constant)
      facts.push_back(fmt::format("constant = {}", *argument.constant));
    if (argument.pointer_range != 0)
      facts.push_back(fmt::format("pointer_range = {}", argument.pointer_range));
    if (!facts.empty())
      append(" {{{}}}", fmt::join(facts, ", "));
  }

  void values(const std::vector<ValueId> &values) {
    for (size_t i = 0; i < values.size(); ++i)
      append("{}%{}", i == 0 ? "" : ", ", values[i]);
  }

  void attribute(const Op &op, const std::string &name, const Attribute &attribute) {
    append("{} = ", name);
    if (const auto *list = std::get_if<std::vector<int64_t>>(&attribute))
      append("[{}]", fmt::join(*list, ", "));
    else if (const auto *string = std::get_if<std::string>(&attribute))
      out_ += quote(*string);
    else if (op.opcode == Opcode::Constant && !op.results.empty() && name == "bits" &&
             is_float_value(op.result()))
      append("{:#x}", static_cast<uint64_t>(std::get<int64_t>(attribute)));
    else
      append("{}", std::get<int64_t>(attribute));
  }

  bool is_float_value(ValueId value) const {
    return value < function_.value_types.size() && is_float(function_.type(value).element);
  }

  void head(const Op &op) {
    if (!op.results.empty()) {
      values(op.results);
      out_ += " = ";
    }
    out_ += facts(op.opcode).name;
    out_ += op.operands.empty() ? "" : " ";
    values(op.operands);
    if (!op.attributes.empty()) {
      const char *separator = " {";
      for (const auto &[name, value] : op.attributes) {
        out_ += separator;
        attribute(op, name, value);
        separator = ", ";
      }
      out_ += "}";
    }
    const char *separator = " : ";
    for (ValueId result : op.results) {
      out_ += separator + type(result);
      separator = ", ";
    }
  }

  void block(const Block &block, unsigned depth) {
    for (const Op &op : block.ops) {
      out_ += '\n';
      out_.append(2 * depth, ' ');
      head(op);
      for (size_t i = 0; i < op.blocks.size(); ++i) {
        append(" {} ", block_keyword(op.opcode, i));
        if (!op.blocks[i].arguments.empty()) {
          const char *separator = "(";
          for (ValueId value : op.blocks[i].arguments) {
            append("{}%{}: {}", separator, value, type(value));
            separator = ", ";
          }
          out_ += ") ";
        }
        out_ += '{';
        this->block(op.blocks[i], depth + 1);
        out_ += " }";
      }
    }
  }

  const Function &function_;
  std::string out_;
};

} // namespace

std::string print(const Function &function) { return Printer(function).function(); }
std::string print(const Function &function, const Op &op) { return Printer(function).operation(op); }

} // namespace nereid::ir
