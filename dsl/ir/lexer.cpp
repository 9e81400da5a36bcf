// Cuts the text form of the tile IR into tokens.
#include "dsl/ir/lexer.h"

#include <charconv>

namespace nereid::ir {

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '/' && text_.substr(position_, 2) == "//")
      position_ = std::min(text_.find('\n', position_), text_.size());
    else if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++position_;
    else
      return;
  }
}

Token Lexer::number(Token token) {
  const bool negative = text_[position_] == '-';
  const size_t first = position_ + (negative ? 1 : 0);
  size_t last = first;
  while (last < text_.size() && is_name(text_[last]))
    ++last;
  token.text = text_.substr(position_, last - position_);
  position_ = last;
  const bool hex = text_.substr(first, 2) == "0x";
  uint64_t magnitude = 0;
  const char *begin = text_.data() + first + (hex ? 2 : 0);
  const char *end = text_.data() + last;
  const auto [stop, error] = std::from_chars(begin, end, magnitude, hex ? 16 : 10);
  const uint64_t limit = negative ? uint64_t{1} << 63 : hex ? UINT64_MAX : uint64_t{INT64_MAX};
  const bool good = error == std::errc() && stop == end && magnitude <= limit && !(hex && negative);
  token.kind = good ? Token::Kind::Number : Token::Kind::Bad;
  token.number = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return token;
}

static int hex_digit(char c) {
  if (is_digit(c))
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Token Lexer::string(Token token) {
  token.kind = Token::Kind::Bad;
  size_t at = position_ + 1;
  for (; at < text_.size() && text_[at] != '\n'; ++at) {
    const char c = text_[at];
    if (c == '"') {
      token.kind = Token::Kind::String;
      ++at;
      break;
    }
    if (c != '\\') {
      token.string += c;
      continue;
    }
    const char escaped = ++at < text_.size() ? text_[at] : '\0';
    if (escaped == 'x' && at + 2 < text_.size() && hex_digit(text_[at + 1]) >= 0 &&
        hex_digit(text_[at + 2]) >= 0) {
      token.string += static_cast<char>(hex_digit(text_[at + 1]) * 16 + hex_digit(text_[at + 2]));
      at += 2;
    } else if (escaped == 'n') {
      token.string += '\n';
    } else if (escaped == '"' || escaped == '\\') {
      token.string += escaped;
    } else {
      break;
    }
  }
  at = std::min(at, text_.size());
  token.text = text_.substr(position_, at - position_);
  position_ = at;
  return token;
}

Token Lexer::next() {
  skip_blank();
  Token token;
  token.offset = position_;
  if (position_ == text_.size())
    return token;
  const char c = text_[position_];
  if (c == '"')
    return string(std::move(token));
  if (is_digit(c) || (c == '-' && position_ + 1 < text_.size() && is_digit(text_[position_ + 1])))
    return number(std::move(token));
  if (is_name(c)) {
    size_t last = position_;
    while (last < text_.size() && is_name(text_[last]))
      ++last;
    token.kind = Token::Kind::Name;
    token.text = text_.substr(position_, last - position_);
    position_ = last;
    return token;
  }
  if (c == '%' && position_ + 1 < text_.size() && is_digit(text_[position_ + 1])) {
    ++position_;
    token = number(std::move(token));
    token.text = text_.substr(token.offset, position_ - token.offset);
    if (token.kind == Token::Kind::Number)
      token.kind = Token::Kind::Value;
    return token;
  }
  token.kind = Token::Kind::Symbol;
  token.text = text_.substr(position_++, 1);
  return token;
}

} // namespace nereid::ir
