// Reads the text form of a function by recursive descent: the inverse of printer.cpp.
#include "dsl/ir/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/ir/lexer.h"
#include "dsl/ir/limits.h"
#include "dsl/ir/text.h"

namespace nereid::ir {
namespace {

/// Recursive descent; the first error is kept and every rule returns false from then on.
class Parser {
public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  bool kernel();
  Function take() { return std::move(function_); }
  Error error(std::string_view file) const;

private:
  bool fail(size_t offset, std::string message) {
    if (message_.empty()) {
      offset_ = offset;
      message_ = std::move(message);
    }
    return false;
  }
  bool expected(std::string_view what) {
    return fail(token_.offset, token_.kind == Token::Kind::End
                                   ? fmt::format("expected {} before the end of the text", what)
                                   : fmt::format("expected {}, found '{}'", what, token_.text));
  }
  void advance() { token_ = lexer_.next(); }
  bool accept(char symbol) {
    const bool found = token_.is(symbol);
    if (found)
      advance();
    return found;
  }
  bool symbol(char symbol) { return accept(symbol) || expected(fmt::format("'{}'", symbol)); }
  bool word(std::string_view word) {
    if (token_.kind != Token::Kind::Name || token_.text != word)
      return expected(fmt::format("'{}'", word));
    advance();
    return true;
  }
  bool number(int64_t &out) {
    if (token_.kind != Token::Kind::Number)
      return expected("a number");
    out = token_.number;
    advance();
    return true;
  }
  /// `item` once, and again after each comma.
  template <class Item> bool list(Item item) {
    do
      if (!item())
        return false;
    while (accept(','));
    return true;
  }

  bool value(ValueId &out);
  bool use(std::vector<ValueId> &out);
  bool define(size_t offset, ValueId id, Type type);
  bool type(Type &out);
  bool typed_value(ValueId &out);
  bool argument();
  bool argument_fact(Argument &argument);
  bool wave_split(WaveSplit &split);
  bool option(CompileOptions &options);
  bool attribute(Attributes &attributes);
  bool attribute_value(Attribute &out);
  bool op(Block &block, unsigned depth);
  bool ops(Block &block, unsigned depth);
  bool regions(Op &op, unsigned depth);

  Lexer lexer_;
  Token token_;
  Function function_;
  std::vector<bool> defined_;
  std::vector<size_t> first_use_; ///< offset + 1 of a value's first use, by id
  std::string message_;
  size_t offset_ = 0;
};

Error Parser::error(std::string_view file) const {
  const std::string_view before = lexer_.text().substr(0, offset_);
  const auto line = static_cast<unsigned>(std::count(before.begin(), before.end(), '\n') + 1);
  const size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
  return user_error(fmt::format("line {}, column {}: {}", line, offset_ - line_start + 1, message_),
                    "docs/tile-ir.md describes the text form", {std::string(file), line});
}

bool Parser::value(ValueId &out) {
  if (token_.kind != Token::Kind::Value)
    return expected("a value such as %0");
  if (token_.number > max_value_id)
    return fail(token_.offset, fmt::format("a value's number is at most {}", max_value_id));
  out = static_cast<ValueId>(token_.number);
  advance();
  return true;
}

bool Parser::use(std::vector<ValueId> &out) {
  const size_t offset = token_.offset;
  ValueId id = 0;
  if (!value(id))
    return false;
  if (id >= first_use_.size())
    first_use_.resize(std::max<size_t>(id + 1, first_use_.size() * 2));
  if (first_use_[id] == 0)
    first_use_[id] = offset + 1;
  out.push_back(id);
  return true;
}

bool Parser::define(size_t offset, ValueId id, Type type) {
  if (id >= function_.value_types.size()) {
    if (id >= function_.value_types.capacity())
      function_.value_types.reserve(std::max<size_t>(id + 1, 2 * function_.value_types.capacity()));
    function_.value_types.resize(id + 1);
    defined_.resize(id + 1);
  }
  if (defined_[id])
    return fail(offset, fmt::format("%{} is defined a second time", id));
  defined_[id] = true;
  function_.value_types[id] = std::move(type);
  return true;
}

bool Parser::type(Type &out) {
  out = {};
  out.pointer = token_.kind == Token::Kind::Name && token_.text == "ptr";
  if (out.pointer) {
    advance();
    if (!symbol('<'))
      return false;
  }
  const std::optional<Element> element =
      token_.kind == Token::Kind::Name ? element_named(token_.text) : std::nullopt;
  if (!element)
    return expected("a type such as f32[16, 64]");
  out.element = *element;
  advance();
  if (out.pointer && !symbol('>'))
    return false;
  if (!accept('['))
    return true;
  return list([&] { return number(out.shape.emplace_back()); }) && symbol(']');
}

bool Parser::typed_value(ValueId &out) {
  const size_t offset = token_.offset;
  Type value_type;
  return value(out) && symbol(':') && type(value_type) && define(offset, out, std::move(value_type));
}

bool Parser::argument_fact(Argument &argument) {
  const Token name = token_;
  advance();
  if (name.text == "read_only") {
    argument.read_only = true;
    return true;
  }
  int64_t amount = 0;
  if (name.text != "divisibility" && name.text != "constant" && name.text != "pointer_range") {
    token_ = name;
    return expected("read_only, divisibility, constant or pointer_range");
  }
  if (!symbol('=') || !number(amount))
    return false;
  if (name.text == "constant")
    argument.constant = amount;
  else if (name.text == "pointer_range")
    argument.pointer_range = amount;
  else
    argument.divisibility = amount;
  return true;
}

bool Parser::argument() {
  Argument &argument = function_.arguments.emplace_back();
  if (!typed_value(argument.value))
    return false;
  return !accept('{') || (list([&] { return argument_fact(argument); }) && symbol('}'));
}

bool Parser::wave_split(WaveSplit &split) {
  if (!symbol('='))
    return false;
  const auto name = std::find(wave_split_names.begin(), wave_split_names.end(), token_.text);
  if (token_.kind != Token::Kind::Name || name == wave_split_names.end())
    return expected("auto, n, k or mn");
  split = static_cast<WaveSplit>(name - wave_split_names.begin());
  advance();
  return true;
}

bool Parser::option(CompileOptions &options) {
  if (token_.kind == Token::Kind::Name && token_.text == "wave_split") {
    advance();
    return wave_split(options.wave_split);
  }
  int *target = token_.text == "waves"          ? &options.waves
                : token_.text == "mfma"         ? &options.mfma
                : token_.text == "waves_per_eu" ? &options.waves_per_eu
                                                : nullptr;
  if (target == nullptr)
    return expected("waves, mfma, waves_per_eu or wave_split");
  advance();
  const size_t offset = token_.offset;
  int64_t amount = 0;
  if (!symbol('=') || !number(amount))
    return false;
  *target = static_cast<int>(amount);
  return *target == amount || fail(offset, "an option is a 32-bit integer");
}

bool Parser::attribute_value(Attribute &out) {
  if (token_.kind == Token::Kind::String) {
    out = std::move(token_.string);
    advance();
    return true;
  }
  if (accept('[')) {
    std::vector<int64_t> numbers;
    if (!accept(']') && !(list([&] { return number(numbers.emplace_back()); }) && symbol(']')))
      return false;
    out = std::move(numbers);
    return true;
  }
  if (token_.kind != Token::Kind::Number)
    return expected("a number, a string or a list of numbers");
  out = token_.number;
  advance();
  return true;
}

bool Parser::attribute(Attributes &attributes) {
  if (token_.kind != Token::Kind::Name)
    return expected("the name of an attribute");
  const size_t offset = token_.offset;
  std::string name(token_.text);
  advance();
  Attribute attribute;
  if (!symbol('=') || !attribute_value(attribute))
    return false;
  return attributes.emplace(name, std::move(attribute)).second ||
         fail(offset, fmt::format("attribute {} is repeated", name));
}

bool Parser::regions(Op &op, unsigned depth) {
  while (token_.kind == Token::Kind::Name && token_.text == block_keyword(op.opcode, op.blocks.size())) {
    if (depth >= max_nesting)
      return fail(token_.offset, fmt::format("regions are nested more than {} deep", max_nesting));
    advance();
    Block &block = op.blocks.emplace_back();
    if (accept('(') && !(list([&] { return typed_value(block.arguments.emplace_back()); }) && symbol(')')))
      return false;
    if (!symbol('{') || !ops(block, depth + 1) || !symbol('}'))
      return false;
  }
  return true;
}

bool Parser::op(Block &block, unsigned depth) {
  Op op;
  const size_t offset = token_.offset;
  if (token_.kind == Token::Kind::Value &&
      !(list([&] { return value(op.results.emplace_back()); }) && symbol('=')))
    return false;
  const std::optional<Opcode> opcode =
      token_.kind == Token::Kind::Name ? opcode_named(token_.text) : std::nullopt;
  if (!opcode)
    return expected("the name of an operation");
  op.opcode = *opcode;
  advance();
  if (token_.kind == Token::Kind::Value && !list([&] { return use(op.operands); }))
    return false;
  if (accept('{') && !(list([&] { return attribute(op.attributes); }) && symbol('}')))
    return false;
  if (!op.results.empty()) {
    if (!symbol(':'))
      return false;
    for (size_t i = 0; i < op.results.size(); ++i) {
      Type result_type;
      if ((i != 0 && !symbol(',')) || !type(result_type) ||
          !define(offset, op.results[i], std::move(result_type)))
        return false;
    }
  }
  if (!regions(op, depth))
    return false;
  block.ops.push_back(std::move(op));
  return true;
}

bool Parser::ops(Block &block, unsigned depth) {
  while (token_.kind == Token::Kind::Value || token_.kind == Token::Kind::Name)
    if (!op(block, depth))
      return false;
  return true;
}

bool Parser::kernel() {
  if (!word("kernel") || !symbol('@'))
    return false;
  if (token_.kind == Token::Kind::String)
    function_.name = token_.string;
  else if (token_.kind == Token::Kind::Name)
    function_.name = token_.text;
  else
    return expected("the kernel's name");
  advance();
  if (!symbol('(') || (!token_.is(')') && !list([&] { return argument(); })) || !symbol(')'))
    return false;
  if (!word("options") || !symbol('{') || !list([&] { return option(function_.options); }) || !symbol('}'))
    return false;
  if (!symbol('{') || !ops(function_.body, 0) || !symbol('}'))
    return false;
  if (token_.kind != Token::Kind::End)
    return expected("the end of the text");
  for (ValueId id = 0; id < first_use_.size(); ++id)
    if (first_use_[id] != 0 && (id >= defined_.size() || !defined_[id]))
      return fail(first_use_[id] - 1, fmt::format("%{} is defined nowhere", id));
  return true;
}

} // namespace

Result<Function> parse(std::string_view text, std::string_view file) {
  Parser parser(text);
  if (!parser.kernel())
    return parser.error(file);
  return parser.take();
}

} // namespace nereid::ir
