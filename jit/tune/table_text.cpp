// The file format of tuning tables: JSON lines with a checksum (docs/tuning.md).
#include <cmath>

#include <fmt/format.h>

#include "base/json_nesting.h"
#include "jit/tune/kernel_tunings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid {
namespace {

constexpr llvm::StringRef format_name = "nereid tuning table 2";
/// Without caches and identity; read, and written as the newer one.
constexpr llvm::StringRef older_format_name = "nereid tuning table 1";
constexpr llvm::StringRef remedy = "Restore the file from a copy, or delete it and tune again";

struct TextField {
  llvm::StringRef name;
  std::string TuningRecord::*member;
  bool wanted; ///< an empty one is written too
};
constexpr TextField text_fields[] = {{"key", &TuningRecord::key, true},
                                     {"config", &TuningRecord::config, true},
                                     {"unit", &TuningRecord::unit, false},
                                     {"ranking", &TuningRecord::ranking, false},
                                     {"caches", &TuningRecord::caches, false},
                                     {"identity", &TuningRecord::identity, false},
                                     {"rejected", &TuningRecord::rejected, false},
                                     {"code", &TuningRecord::code, false}};

struct NumberField {
  llvm::StringRef name;
  unsigned TuningRecord::*member;
};
constexpr NumberField number_fields[] = {{"launches", &TuningRecord::launches},
                                         {"occupancy", &TuningRecord::occupancy},
                                         {"vgpr", &TuningRecord::vgpr},
                                         {"lds", &TuningRecord::lds}};

constexpr llvm::StringRef figure_name = "figure";
constexpr llvm::StringRef best_name = "best";

std::string utf8(const std::string &bytes) {
  return llvm::json::isUTF8(bytes) ? bytes : llvm::json::fixUTF8(bytes);
}

/// One object on a line of its own.
template <class Write> std::string line(const Write &write) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] { write(json); });
  stream << "\n";
  return text;
}

std::string line_of(const TuningRecord &record, bool best) {
  return line([&](llvm::json::OStream &json) {
    for (const TextField &field : text_fields) {
      if (field.wanted || !(record.*field.member).empty())
        json.attribute(field.name, utf8(record.*field.member));
      if (field.name == "config" && best)
        json.attribute(best_name, true);
      if (field.name == "config" && record.figure) {
        json.attributeBegin(figure_name);
        json.rawValue(fmt::format("{}", *record.figure));
        json.attributeEnd();
      }
    }
    for (const NumberField &field : number_fields)
      if (record.*field.member)
        json.attribute(field.name, record.*field.member);
  });
}

std::string checksum(llvm::StringRef text) {
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

Error damaged(const std::string &name, const std::string &what) {
  return environment_error(fmt::format("the tuning table {} is damaged: {}", name, what), remedy.str());
}

/// Sets the fields of a record; false where one is missing, of the wrong kind or unknown.
bool read_record(const llvm::json::Object &object, TuningRecord &record) {
  size_t known = object.get(best_name) ? 1 : 0;
  for (const TextField &field : text_fields) {
    const llvm::json::Value *value = object.get(field.name);
    if (!value && field.wanted)
      return false;
    if (!value)
      continue;
    const std::optional<llvm::StringRef> text = value->getAsString();
    if (!text)
      return false;
    record.*field.member = text->str();
    ++known;
  }
  for (const NumberField &field : number_fields) {
    const llvm::json::Value *value = object.get(field.name);
    if (!value)
      continue;
    const std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < 0 || *number > int64_t{UINT32_MAX})
      return false;
    record.*field.member = static_cast<unsigned>(*number);
    ++known;
  }
  if (const llvm::json::Value *value = object.get(figure_name)) {
    record.figure = value->getAsNumber();
    if (!record.figure || !std::isfinite(*record.figure) || *record.figure <= 0)
      return false;
    ++known;
  }
  return known == object.size() && record.figure.has_value() == record.rejected.empty();
}

/// The object of a line; null when it is none.
Result<llvm::json::Value> parse_line(llvm::StringRef line, const std::string &name, size_t number) {
  if (!check_json_nesting(line))
    return damaged(name, fmt::format("line {} is no JSON object", number));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
  if (value && value->getAsObject())
    return std::move(*value);
  llvm::consumeError(value.takeError());
  return damaged(name, fmt::format("line {} is no JSON object", number));
}

/// What stands before the checksum. Error: there is none, or it is that of another text.
Result<llvm::StringRef> checked_body(llvm::StringRef text, const std::string &name) {
  if (!text.ends_with("\n"))
    return damaged(name, "its last line is not complete");
  const size_t last = text.drop_back().rfind('\n') + 1; // npos + 1 is 0
  const llvm::StringRef body = text.take_front(last);
  const std::string wanted =
      line([&](llvm::json::OStream &json) { json.attribute("sha256", checksum(body)); });
  if (text.drop_front(last) != wanted)
    return damaged(name, "its checksum is missing or that of another content");
  return body;
}

} // namespace

std::string KernelTunings::text() const {
  std::string text = line([&](llvm::json::OStream &json) {
    json.attribute("format", format_name);
    json.attribute("kernel", utf8(kernel_));
    json.attribute("device", utf8(device_));
  });
  for (const auto &[key, configs] : records_) {
    const TuningRecord *best = winner(key);
    for (const TuningRecord &record : configs)
      text += line_of(record, &record == best);
  }
  const std::string sum = checksum(text);
  return text + line([&](llvm::json::OStream &json) { json.attribute("sha256", sum); });
}

Result<KernelTunings> KernelTunings::parse(std::string_view text, const std::string &name) {
  llvm::StringRef rest(text.data(), text.size());
  const llvm::StringRef head = rest.take_until([](char c) { return c == '\n'; });
  NEREID_TRY(const llvm::json::Value header, parse_line(head, name, 1));
  const llvm::json::Object &names = *header.getAsObject();
  if (const llvm::StringRef format = names.getString("format").value_or("");
      format != format_name && format != older_format_name)
    return environment_error(
        fmt::format("{} is no tuning table that this version reads: its format is '{}', not '{}'", name,
                    format.str(), format_name.str()),
        remedy.str());
  NEREID_TRY(rest, checked_body(rest, name));
  const std::optional<llvm::StringRef> kernel = names.getString("kernel"), device = names.getString("device");
  if (!kernel || !device)
    return damaged(name, "it names no kernel or no device");
  KernelTunings tunings(kernel->str(), device->str());
  rest = rest.drop_front(head.size() + 1);
  for (size_t number = 2; !rest.empty(); ++number) {
    const auto [record_line, others] = rest.split('\n');
    NEREID_TRY(const llvm::json::Value value, parse_line(record_line, name, number));
    TuningRecord record;
    if (!read_record(*value.getAsObject(), record))
      return damaged(name, fmt::format("line {} is no record", number));
    tunings.add(record);
    rest = others;
  }
  return tunings;
}

} // namespace nereid
