// Reads a launch file: every key is checked, and the first error names its key.

#include "sim/launch_file/launch_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include "sim/launch_file/json.h"

namespace nereid::sim {
namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// Bytes of a buffer.
constexpr uint64_t max_buffer = uint64_t{1} << 40;
constexpr uint64_t max_word = std::numeric_limits<uint32_t>::max();

/// Reads values and keeps the first error; after one, what is read no longer matters.
class Reader {
public:
  explicit Reader(std::string directory) : directory_(std::move(directory)) {}

  LaunchFile file;
  std::optional<Error> error;

  void fail(const std::string &key, const std::string &message) {
    if (!error)
      error = user_error(fmt::format("{}: {}", key, message), "docs/simulator.md describes launch files");
  }

  void launch(const Value &value) {
    const Object *object = value.getAsObject();
    if (!object)
      return fail("launch file", "is not a JSON object");
    known_keys(*object, "",
               {"code_object", "kernel", "grid", "block", "dynamic_lds", "kernarg_size", "buffers", "args",
                "values", "outputs", "checks", "timing", "caches", "order"});
    for (const char *key : {"code_object", "grid", "block"})
      if (!object->get(key))
        fail(key, "is missing");
    if (error)
      return;
    file.code_object = path(*object->get("code_object"), "code_object");
    if (const Value *kernel = object->get("kernel")) {
      file.kernel = text(*kernel, "kernel");
      if (file.kernel.empty())
        fail("kernel", "is empty");
    }
    file.grid = extents(*object->get("grid"), "grid");
    file.block = extents(*object->get("block"), "block");
    limits();
    if (const Value *size = object->get("dynamic_lds"))
      file.dynamic_lds = static_cast<uint32_t>(number(*size, "dynamic_lds", max_lds));
    if (const Value *size = object->get("kernarg_size"))
      file.kernarg_size = static_cast<uint32_t>(number(*size, "kernarg_size", max_kernarg_size));
    buffers(object->get("buffers"));
    arguments(object->get("args"), object->get("values"));
    outputs(object->get("outputs"));
    checks(object->get("checks"));
    timing(object->get("timing"), object->get("caches"));
    if (const Value *order = object->get("order")) {
      const std::string word = text(*order, "order");
      if (word != "id" && word != "any")
        fail("order", "is neither \"id\" nor \"any\"");
      file.any_order = word == "any";
    }
  }

private:
  void timing(const Value *timing, const Value *caches) {
    if (timing) {
      if (const auto flag = timing->getAsBoolean())
        file.timing = *flag ? Timing::On : Timing::Off;
      else if (timing->getAsString() == llvm::StringRef("only"))
        file.timing = Timing::Only;
      else
        fail("timing", "is not true, false or \"only\"");
    }
    if (file.timing == Timing::Only) {
      if (!file.outputs.empty())
        fail("outputs", "are not computed where \"timing\" is \"only\"; leave them out, or say true");
      // Only what the simulator looks at in any case: some workgroups run, and their values mean nothing.
      file.checks.clear();
    }
    if (!caches)
      return;
    const std::optional<CacheState> known = cache_state_named(text(*caches, "caches"));
    if (!known)
      return fail("caches", fmt::format("is none of \"{}\"", fmt::join(cache_state_names, "\", \"")));
    file.caches = *known;
    if (file.timing == Timing::Off)
      fail("caches", "says what a timed launch finds; \"timing\" is off");
  }

  void known_keys(const Object &object, const std::string &where, std::vector<std::string_view> names) {
    std::vector<std::string> unknown;
    for (const auto &[key, value] : object)
      if (std::find(names.begin(), names.end(), std::string_view(key.str())) == names.end())
        unknown.push_back(llvm::StringRef(key).str());
    if (!unknown.empty())
      fail(where + *std::min_element(unknown.begin(), unknown.end()),
           fmt::format("unknown key; there are {}", fmt::join(names, ", ")));
  }

  std::string text(const Value &value, const std::string &key) {
    const auto found = value.getAsString();
    if (!found)
      fail(key, "is not a string");
    return found ? found->str() : std::string();
  }

  std::string path(const Value &value, const std::string &key) {
    const std::string name = text(value, key);
    if (name.empty() || name.find('\0') != std::string::npos) {
      fail(key, "is not a path");
      return {};
    }
    llvm::SmallString<128> result;
    if (!llvm::sys::path::is_absolute(name))
      result = directory_;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

  uint64_t number(const Value &value, const std::string &key, uint64_t max) {
    const auto found = value.getAsUINT64();
    if (!found || *found > max) {
      fail(key, fmt::format("is not an integer from 0 to {}", max));
      return 0;
    }
    return *found;
  }

  std::array<uint32_t, 3> extents(const Value &value, const std::string &key) {
    const Array *array = value.getAsArray();
    std::array<uint32_t, 3> result{1, 1, 1};
    if (!array || array->size() != 3) {
      fail(key, "is not [x, y, z]");
      return result;
    }
    for (size_t axis = 0; axis < 3; ++axis) {
      const std::string element = fmt::format("{}[{}]", key, axis);
      result[axis] = static_cast<uint32_t>(number((*array)[axis], element, max_word));
      if (result[axis] == 0)
        fail(element, "is 0; every extent is at least 1");
    }
    return result;
  }

  void limits() {
    if (error)
      return;
    uint64_t items = 1, groups = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      items = std::min<uint64_t>(items * file.block[axis], max_word);
      if (items > max_work_items)
        return fail("block", fmt::format("{}x{}x{} work-items are more than {}", file.block[0], file.block[1],
                                         file.block[2], max_work_items));
      if (uint64_t{file.grid[axis]} * file.block[axis] > max_word ||
          groups > std::numeric_limits<uint64_t>::max() / file.grid[axis])
        return fail("grid", "more than 2^32 - 1 work-items along one axis, or 2^64 workgroups");
      groups *= file.grid[axis];
    }
  }

  void buffers(const Value *value) {
    if (!value)
      return;
    const Object *object = value->getAsObject();
    if (!object)
      return fail("buffers", "is not an object");
    for (const auto &[name, entry] : *object)
      file.buffers.push_back(buffer(llvm::StringRef(name).str(), entry));
    // Addresses must not depend on the order of a hash table.
    std::sort(file.buffers.begin(), file.buffers.end(),
              [](const BufferEntry &a, const BufferEntry &b) { return a.name < b.name; });
  }

  BufferEntry buffer(const std::string &name, const Value &value) {
    const std::string key = "buffers." + name;
    BufferEntry result;
    result.name = name;
    const Object *object = value.getAsObject();
    if (name.empty() || !object) {
      fail(key, name.empty() ? "has no name" : "is not an object");
      return result;
    }
    known_keys(*object, key + ".", {"file", "size", "fill"});
    const Value *from = object->get("file"), *size = object->get("size"), *fill = object->get("fill");
    if ((from != nullptr) == (size != nullptr) || (from && fill))
      fail(key, "has neither \"file\" alone nor \"size\" with perhaps \"fill\"");
    if (error)
      return result;
    if (from)
      result.file = path(*from, key + ".file");
    if (size)
      result.size = number(*size, key + ".size", max_buffer);
    if (fill)
      result.fill = static_cast<std::byte>(number(*fill, key + ".fill", 255));
    return result;
  }

  void arguments(const Value *args, const Value *values) {
    if (args && values)
      return fail("args", "cannot be together with \"values\"");
    const Value *list = args ? args : values;
    if (!list)
      return;
    const std::string name = args ? "args" : "values";
    const Array *array = list->getAsArray();
    if (!array)
      return fail(name, "is not an array");
    for (size_t i = 0; i < array->size(); ++i)
      file.arguments.push_back(argument((*array)[i], fmt::format("{}[{}]", name, i), args != nullptr));
  }

  ArgumentEntry argument(const Value &value, const std::string &key, bool placed) {
    ArgumentEntry result;
    result.key = key;
    const Object *object = value.getAsObject();
    if (!object) {
      fail(key, "is not an object");
      return result;
    }
    std::vector<std::string_view> names = {"buffer", "at", "i32", "u32", "i64", "u64", "f32", "f64"};
    if (placed)
      names.insert(names.begin(), "offset");
    known_keys(*object, key + ".", names);
    const bool has_at = object->get("at") != nullptr;
    if (object->size() != 1 + size_t{placed} + size_t{has_at} || (placed && !object->get("offset")) ||
        (has_at && !object->get("buffer")))
      fail(key, placed ? "has not \"offset\" and one value" : "has not exactly one value");
    if (error)
      return result;
    if (placed)
      result.offset = static_cast<uint32_t>(number(*object->get("offset"), key + ".offset", max_word));
    if (const Value *buffer = object->get("buffer"))
      pointer(result, *buffer, object->get("at"));
    for (const char *type : {"i32", "u32", "i64", "u64", "f32", "f64"})
      if (const Value *number = object->get(type))
        scalar(result, *number, type);
    return result;
  }

  void pointer(ArgumentEntry &argument, const Value &name, const Value *at) {
    argument.buffer = text(name, argument.key + ".buffer");
    if (error)
      return;
    if (!file.buffer(argument.buffer))
      return fail(argument.key + ".buffer", fmt::format("there is no buffer '{}'", argument.buffer));
    if (at)
      argument.at = number(*at, argument.key + ".at", max_buffer);
  }

  void scalar(ArgumentEntry &argument, const Value &value, const std::string &type) {
    const std::string key = argument.key + "." + type;
    argument.size = type.ends_with("32") ? 4 : 8;
    argument.integer = type[0] != 'f';
    auto put = [&](auto number) { std::memcpy(argument.bytes.data(), &number, sizeof number); };
    if (type[0] == 'u')
      return put(number(value, key, argument.size == 4 ? max_word : ~uint64_t{0}));
    if (type[0] == 'i') {
      const auto found = value.getAsInteger();
      if (!found || (argument.size == 4 && *found != static_cast<int32_t>(*found)))
        return fail(key, fmt::format("is not a signed integer of {} bits", 8 * argument.size));
      return put(*found);
    }
    const auto found = value.getAsNumber();
    if (!found)
      return fail(key, "is not a number");
    if (argument.size == 8)
      return put(*found);
    if (std::isinf(static_cast<float>(*found)))
      return fail(key, "is beyond the range of f32");
    put(static_cast<float>(*found));
  }

  void outputs(const Value *value) {
    if (!value)
      return;
    const Object *object = value->getAsObject();
    if (!object)
      return fail("outputs", "is not an object");
    for (const auto &[name, entry] : *object) {
      const std::string buffer = llvm::StringRef(name).str();
      if (!file.buffer(buffer))
        return fail("outputs." + buffer, "there is no buffer of that name");
      file.outputs.emplace_back(buffer, path(entry, "outputs." + buffer));
    }
    std::sort(file.outputs.begin(), file.outputs.end());
  }

  void checks(const Value *value) {
    const auto word = value ? value->getAsString() : std::optional<llvm::StringRef>("all");
    const Array *array = value ? value->getAsArray() : nullptr;
    if (word && *word == "none")
      return;
    if (word && *word == "all") {
      file.checks = Checks::all().kinds();
      return;
    }
    if (!array)
      return fail("checks", "is neither \"all\" nor \"none\" nor an array of kinds");
    for (size_t i = 0; i < array->size(); ++i) {
      const std::string key = fmt::format("checks[{}]", i), name = text((*array)[i], key);
      if (!Checks().enable(name))
        return fail(key, fmt::format("there is no kind '{}'", name));
      if (std::find(file.checks.begin(), file.checks.end(), name) == file.checks.end())
        file.checks.push_back(name);
    }
  }

  std::string directory_;
};

} // namespace

const BufferEntry *LaunchFile::buffer(std::string_view name) const & {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const BufferEntry &entry) { return entry.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

Result<LaunchFile> parse_launch_file(std::string_view text, const std::string &directory) {
  auto value = parse_json(text);
  if (!value)
    return user_error("launch file: " + value.error().message);
  Reader reader(directory);
  reader.launch(*value);
  if (reader.error)
    return *reader.error;
  return std::move(reader.file);
}

Result<LaunchFile> read_launch_file(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return user_error(fmt::format("launch file: cannot read {}: {}", path, buffer.getError().message()));
  const llvm::StringRef text = (*buffer)->getBuffer();
  auto file = parse_launch_file({text.data(), text.size()}, llvm::sys::path::parent_path(path).str());
  if (!file) {
    Error error = file.error();
    error.message = path + ": " + error.message;
    return error;
  }
  file->path = path;
  return file;
}

} // namespace nereid::sim
