// Runs a kernel once under a tracer and turns what it throws into an error.
#include "dsl/trace.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "dsl/ir/canonical.h"
#include "dsl/ir/element_set.h"
#include "dsl/ir/induction.h"
#include "dsl/ir/limits.h"
#include "dsl/ir/load_order.h"
#include "dsl/ir/verifier.h"
#include "dsl/tracer.h"

namespace nereid::detail {

namespace {
/// A reserved config key and what it may be.
struct Reserved {
  std::string_view name;
  bool (*valid)(int64_t);
  std::string_view allowed;
  void (*set)(Tracer &, int);
};
} // namespace

static constexpr Reserved reserved[] = {
    {"waves",
     [](int64_t v) { return v >= 1 && v <= ir::max_waves && std::has_single_bit(static_cast<uint64_t>(v)); },
     "1, 2, 4, 8 or 16", [](Tracer &tracer, int v) { tracer.builder().options().waves = v; }},
    {"mfma", [](int64_t v) { return v == 16 || v == 32; }, "16 or 32",
     [](Tracer &tracer, int v) { tracer.builder().options().mfma = v; }},
    {"waves_per_eu", [](int64_t v) { return v >= 0 && v <= 8; }, "0 to 8",
     [](Tracer &tracer, int v) { tracer.builder().options().waves_per_eu = v; }},
    {"wave_split", [](int64_t v) { return v >= 0 && v <= 3; }, "auto, n, k or mn (0 to 3)",
     [](Tracer &tracer, int v) { tracer.builder().options().wave_split = static_cast<ir::WaveSplit>(v); }},
    {"fast_math", [](int64_t v) { return v == 0 || v == 1; }, "0 or 1",
     [](Tracer &, int) {}}, // once the operations are there
    {"stages", [](int64_t v) { return v >= 1 && v <= ir::max_stages; }, "1 to 16",
     [](Tracer &tracer, int v) { tracer.default_stages = v; }},
};

static void check_name(const std::string &name) {
  bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  if (!plain)
    throw TraceError(user_error(fmt::format("'{}' is not a kernel name", name),
                                "Use letters, digits and _, not starting with a digit"));
}

static void apply_reserved(Tracer &tracer, const std::string &kernel,
                           const std::vector<ConfigValue> &config) {
  for (const ConfigValue &field : config)
    for (const Reserved &key : reserved) {
      if (field.name != key.name)
        continue;
      const bool is_float = field.type->kind == ConfigType::Kind::Float;
      if (is_float || !key.valid(field.value))
        throw TraceError(user_error(fmt::format("kernel '{}': config key {} is {}", kernel, key.name,
                                                is_float ? "a float" : field.text()),
                                    fmt::format("It must be {}", key.allowed)));
      key.set(tracer, static_cast<int>(field.value));
    }
}

static bool wants_fast_math(const std::vector<ConfigValue> &config) {
  return std::any_of(config.begin(), config.end(),
                     [](const ConfigValue &field) { return field.name == "fast_math" && field.value == 1; });
}

static void use_fast_forms(const ir::Function &function, ir::Block &block) {
  for (ir::Op &op : block.ops) {
    const bool is_fast =
        ir::has_fast_form(op.opcode) && ir::contains(ir::ElementSet::Float, function.type(op.result()));
    if (is_fast)
      op.attributes["fast"] = int64_t{1};
    for (ir::Block &inner : op.blocks)
      use_fast_forms(function, inner);
  }
}

static void check_facts(size_t index, const ParameterType &parameter, const ArgumentFacts &facts) {
  const ir::Type &type = parameter.type;
  bool integer = !type.pointer && ir::is_integer(type.element) && type.element != ir::Element::I1;
  std::string what = fmt::format("the facts of argument {} ({})", index, type.text());
  if (facts.divisibility < 1 || (facts.divisibility != 1 && !integer && !type.pointer))
    throw TraceError(user_error(fmt::format("{} say divisibility {}", what, facts.divisibility),
                                "Integers and pointers have a divisibility of at least 1"));
  if (facts.pointer_range != 0 && (facts.pointer_range != 32 || !type.pointer))
    throw TraceError(user_error(fmt::format("{} say pointer range {}", what, facts.pointer_range),
                                "A pointer has 32 or 0, what is no pointer has 0"));
  if (!facts.constant)
    return;
  if (!integer)
    throw TraceError(
        user_error(fmt::format("{} say that it is a constant", what), "Only integers can be constant"));
  if (*facts.constant % facts.divisibility != 0)
    throw TraceError(
        user_error(fmt::format("{} say {} and divisibility {}", what, *facts.constant, facts.divisibility),
                   "The constant must be a multiple of the divisibility"));
  const int64_t constant = *facts.constant;
  const bool fits = type.element == ir::Element::I32   ? std::in_range<i32>(constant)
                    : type.element == ir::Element::U32 ? std::in_range<u32>(constant)
                                                       : ir::is_signed(type.element) || constant >= 0;
  if (!fits)
    throw TraceError(user_error(fmt::format("{} say {}", what, constant),
                                fmt::format("The constant must fit {}", ir::facts(type.element).name)));
}

static std::vector<ir::ValueId> make_arguments(ir::Builder &builder,
                                               const std::vector<ParameterType> &parameters,
                                               const std::vector<ArgumentFacts> &facts) {
  if (facts.size() > parameters.size())
    throw TraceError(user_error(
        fmt::format("facts for {} arguments are given, the kernel has {}", facts.size(), parameters.size()),
        "Give at most one ArgumentFacts for each parameter"));
  std::vector<ir::ValueId> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ArgumentFacts known = i < facts.size() ? facts[i] : ArgumentFacts{};
    check_facts(i, parameters[i], known);
    values.push_back(builder.argument(parameters[i].type, known.name, parameters[i].read_only,
                                      known.divisibility, known.constant, known.pointer_range));
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (i < facts.size() && facts[i].constant)
      values[i] = builder.argument_constant(parameters[i].type.element, *facts[i].constant);
  return values;
}

static Error left_by(const Tracer &tracer, const std::string &name, const std::string &what) {
  SourceLine where;
  try {
    tracer.check_deferred();
  } catch (const TraceError &error) {
    where = error.error().where;
  }
  return user_error(fmt::format("kernel {} threw an exception while it was traced{}: {}", name,
                                where.known() ? ", out of a loop or branch" : "", what),
                    "A kernel must run to its end while it is traced", where);
}

Result<ir::Function> trace(std::string name, const std::vector<ParameterType> &parameters,
                           const std::vector<ArgumentFacts> &facts, const std::vector<ConfigValue> &config,
                           const std::function<void(const std::vector<ir::ValueId> &)> &body) {
  const FloatEnvironment environment; // of constants
  Tracer tracer(name);
  ir::Function function;
  try {
    check_name(name);
    apply_reserved(tracer, name, config);
    body(make_arguments(tracer.builder(), parameters, facts));
    tracer.check_deferred();
    function = tracer.builder().finish();
  } catch (const TraceError &error) {
    return error.error();
  } catch (const std::exception &error) {
    return left_by(tracer, name, error.what());
  } catch (...) {
    return left_by(tracer, name, "of a type unknown to Nereid");
  }
  if (wants_fast_math(config))
    use_fast_forms(function, function.body);
  ir::order_loads(function, tracer.load_expressions());
  NEREID_CHECK(ir::verify(function));
  ir::rewrite_inductions(function);
  return ir::canonicalize(function);
}

} // namespace nereid::detail
