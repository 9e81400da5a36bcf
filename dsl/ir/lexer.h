#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::ir {

/// A word of the text form.
struct Token {
  enum class Kind : uint8_t { End, Name, Value, Number, String, Symbol, Bad };
  Kind kind = Kind::End;
  std::string_view text; ///< as it is in the source
  size_t offset = 0;
  int64_t number = 0; ///< of a Number; the id of a Value
  std::string string; ///< of a String, without escapes

  bool is(char symbol) const { return kind == Kind::Symbol && text.front() == symbol; }
};

/// Cuts the text form of the tile IR into words.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  std::string_view text() const { return text_; }

private:
  void skip_blank();
  Token number(Token token);
  Token string(Token token);

  std::string_view text_;
  size_t position_ = 0;
};

} // namespace nereid::ir
