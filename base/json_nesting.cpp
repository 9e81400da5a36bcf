// What JSON opens and closes, without a parser.
#include "base/json_nesting.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace nereid {
namespace {

constexpr size_t max_depth = 64;

/// What the text opens and has not closed, without regard to whether it is JSON otherwise.
class Nesting {
public:
  explicit Nesting(std::string_view text) : text_(text) {}

  Status check() {
    for (size_t at = 0; at < text_.size();) {
      switch (text_[at]) {
      case '"':
        NEREID_CHECK(string(at));
        continue; // past the string already
      case '{':
      case '[':
        keys_.emplace_back();
        if (keys_.size() > max_depth)
          return user_error("is nested deeper than " + std::to_string(max_depth));
        break;
      case '}':
      case ']':
        if (!keys_.empty())
          keys_.pop_back();
        break;
      default:
        break;
      }
      ++at;
    }
    return {};
  }

private:
  /// Moves past the string that starts at `at`; a colon makes it a key.
  Status string(size_t &at) {
    const size_t begin = at + 1;
    for (++at; at < text_.size() && text_[at] != '"'; ++at)
      at += text_[at] == '\\';
    const size_t end = std::min(at, text_.size());
    at = std::min(at + 1, text_.size());
    const size_t next = text_.find_first_not_of(" \t\r\n", at);
    if (next == text_.npos || text_[next] != ':' || keys_.empty())
      return {};
    const std::string_view key = text_.substr(begin, end - begin);
    if (!keys_.back().insert(key).second)
      return user_error("has the key '" + std::string(key) + "' twice in one object");
    return {};
  }

  std::string_view text_;
  std::vector<std::set<std::string_view>> keys_; ///< of each object that is open; an array has none
};

} // namespace

Status check_json_nesting(std::string_view text) { return Nesting(text).check(); }

} // namespace nereid
