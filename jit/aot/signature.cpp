// From a compiled kernel to the parameters of a launcher in C and to what they have to be.
#include "jit/aot/signature.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "jit/compile/print_plan.h"

namespace nereid::aot {
namespace {

/// Words that name nothing in C11 or C++20, and names that launchers have of their own.
const std::set<std::string> &reserved_words() {
  static const std::set<std::string> words = {
      "alignas",   "alignof",     "and",     "asm",     "auto",      "bool",      "break",     "case",
      "catch",     "char",        "class",   "concept", "const",     "consteval", "constexpr", "continue",
      "decltype",  "default",     "delete",  "do",      "double",    "else",      "enum",      "explicit",
      "export",    "extern",      "false",   "float",   "for",       "friend",    "goto",      "if",
      "inline",    "int",         "long",    "mutable", "namespace", "new",       "noexcept",  "not",
      "nullptr",   "operator",    "or",      "private", "protected", "public",    "register",  "requires",
      "restrict",  "return",      "short",   "signed",  "sizeof",    "static",    "struct",    "switch",
      "template",  "this",        "throw",   "true",    "try",       "typedef",   "typename",  "union",
      "unsigned",  "using",       "virtual", "void",    "volatile",  "wchar_t",   "while",     "xor",
      "arguments", "code_object", "error",   "grid_x",  "grid_y",    "grid_z",    "kernel",    "stream"};
  return words;
}

Error wrong(const std::string &name, const std::string &what, const std::string &remedy = {}) {
  return user_error(fmt::format("export of kernel '{}': {}", name, what), remedy);
}

/// What the programs of a dimension are called where the export does not say it.
bool is_own_grid(const std::string &name) { return name == "grid_x" || name == "grid_y" || name == "grid_z"; }

/// A parameter's name: the argument's own where that can be one, else its number.
std::string parameter_name(const std::string &argument, size_t index) {
  if (is_identifier(argument))
    return argument;
  return reserved_words().count(argument) ? argument + "_" : fmt::format("argument_{}", index);
}

Result<std::vector<Parameter>> parameters_of(const ir::Function &function, const std::string &name) {
  std::vector<Parameter> parameters;
  std::set<std::string> seen;
  uint32_t end = 0;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ir::Argument &argument = function.arguments[i];
    const std::string given = i < function.argument_names.size() ? function.argument_names[i] : "";
    Parameter parameter{parameter_name(given, i), function.type(argument.value), argument.read_only};
    parameter.size = parameter.pointer() ? 8 : ir::byte_size(parameter.type.element);
    parameter.offset = (end + parameter.size - 1) / parameter.size * parameter.size;
    end = parameter.offset + parameter.size;
    if (!seen.insert(parameter.name).second)
      return wrong(name, fmt::format("two arguments are called '{}'", parameter.name));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// One condition more; those of the same kind on the same argument become one.
void add(std::vector<Condition> &conditions, const Condition &more) {
  const auto same = std::find_if(conditions.begin(), conditions.end(), [&](const Condition &known) {
    return known.argument == more.argument && known.kind == more.kind;
  });
  if (more.kind == Condition::Kind::MultipleOf && more.value == 1)
    return;
  // Two constants that differ are both asked for.
  if (same == conditions.end() || (more.kind == Condition::Kind::Equals && same->value != more.value))
    return conditions.push_back(more);
  if (more.kind == Condition::Kind::MultipleOf)
    same->value = std::lcm(same->value, more.value);
  else if (more.kind == Condition::Kind::AtLeast)
    same->value = std::max(same->value, more.value);
  else if (more.kind == Condition::Kind::AtMost)
    same->value = std::min(same->value, more.value);
}

/// What an argument that is one number need not be asked beside.
void drop_implied(std::vector<Condition> &conditions) {
  std::set<std::string> constants;
  for (const Condition &condition : conditions)
    if (condition.kind == Condition::Kind::Equals)
      constants.insert(condition.argument);
  std::erase_if(conditions, [&](const Condition &condition) {
    return condition.kind != Condition::Kind::Equals && constants.count(condition.argument);
  });
}

Status check_conditions(const Export &kernel, const std::string &name,
                        const std::vector<Parameter> &parameters) {
  const auto has_number = [&](const std::string &argument, bool float_too) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter &parameter) {
      return parameter.name == argument && !parameter.pointer() &&
             (float_too || ir::is_integer(parameter.type.element));
    });
  };
  for (const Condition &condition : kernel.conditions) {
    if (!has_number(condition.argument, condition.kind == Condition::Kind::Equals))
      return wrong(name,
                   fmt::format("a condition on '{}', which is no such number argument", condition.argument));
    if (condition.kind == Condition::Kind::MultipleOf && condition.value < 1)
      return wrong(name, fmt::format("'{}' cannot be a multiple of {}", condition.argument, condition.value));
  }
  std::set<std::string> names;
  for (const Parameter &parameter : parameters)
    names.insert(parameter.name);
  for (const Programs &programs : kernel.programs) {
    if (programs.kind == Programs::Kind::Blocks && !has_number(programs.argument, /*float_too=*/false))
      return wrong(name, fmt::format("programs by '{}', which is no integer argument", programs.argument));
    if (programs.kind != Programs::Kind::Given && programs.value < 1)
      return wrong(name, fmt::format("a grid of {} programs or blocks of so many elements", programs.value));
    if (programs.kind != Programs::Kind::Given)
      continue;
    if (!is_identifier(programs.argument) && !is_own_grid(programs.argument))
      return wrong(name, fmt::format("programs called '{}', which is no identifier of C", programs.argument));
    if (!names.insert(programs.argument).second)
      return wrong(name, fmt::format("two parameters are called '{}'", programs.argument));
  }
  return {};
}

} // namespace

bool is_identifier(const std::string &name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || reserved_words().count(name))
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

std::string Parameter::c_type() const {
  const ir::ElementFacts &element = ir::facts(type.element);
  std::string text;
  if (element.kind == ir::ElementKind::Float && element.bits >= 32)
    text = element.bits == 32 ? "float " : "double ";
  else if (element.kind == ir::ElementKind::Signed)
    text = fmt::format("int{}_t ", element.bits);
  else // Truth values take a byte, narrow floats are given as their bits.
    text = fmt::format("uint{}_t ", 8 * ir::byte_size(type.element));
  if (pointer())
    text = (read_only ? "const " : "") + text + "*";
  return text;
}

Result<Signature> signature_of(const Export &kernel) {
  if (!kernel.kernel || !kernel.kernel->has_code())
    return user_error("export of a kernel without code", "Compile it: Kernel::compile");
  const ir::Function &function = kernel.kernel->function();
  const std::string name = kernel.name.empty() ? function.name : kernel.name;
  if (!is_identifier(name))
    return wrong(name, "its name is no identifier of C", "Give the export another name");
  if (function.name.find_first_of("\"\\\n") != std::string::npos)
    return wrong(name, fmt::format("its kernel is called '{}', which no string of C holds", function.name));
  if (kernel.summary.find("*/") != std::string::npos)
    return wrong(name, "its summary ends a comment of C");
  const std::vector<std::string> &names = function.argument_names;
  if (std::find(names.begin(), names.end(), jit::PrintPlan::argument_name) != names.end())
    return wrong(name, "its kernel has a device_print, which only a launch by Nereid writes out",
                 "Leave the device_print out of kernels that are exported");
  Signature signature{kernel, name, {}, {}, kernel.programs};
  NEREID_TRY(signature.parameters, parameters_of(function, name));
  NEREID_CHECK(check_conditions(kernel, name, signature.parameters));
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ir::Argument &argument = function.arguments[i];
    const std::string &parameter = signature.parameters[i].name;
    add(signature.conditions, {parameter, Condition::Kind::MultipleOf, argument.divisibility});
    if (argument.constant)
      add(signature.conditions, {parameter, Condition::Kind::Equals, *argument.constant});
  }
  for (const Condition &condition : kernel.conditions)
    add(signature.conditions, condition);
  drop_implied(signature.conditions);
  return signature;
}

} // namespace nereid::aot
