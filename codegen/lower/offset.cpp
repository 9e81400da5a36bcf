// Arithmetic of address offsets that keeps apart what differs between threads.
#include "codegen/lower/offset.h"

#include <functional>

namespace nereid::codegen {

template <class Operation> static int64_t wrapped(int64_t a, int64_t b, Operation operation) {
  return static_cast<int64_t>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

template <class Make> llvm::Value *OffsetMath::once(Cache &cache, Pair key, const Make &make) {
  auto [found, is_new] = cache.try_emplace(key, nullptr);
  if (is_new)
    found->second = make();
  return found->second;
}

llvm::Value *OffsetMath::wide(llvm::Value *value) {
  if (value->getType()->isIntegerTy(64))
    return value;
  return once(extensions_, {value, nullptr},
              [&] { return builder_.CreateZExt(value, builder_.getInt64Ty()); });
}

llvm::Value *OffsetMath::add(llvm::Value *a, llvm::Value *b) {
  if (!a || !b)
    return a ? a : b;
  return once(sums_, {a, b}, [&] { return builder_.CreateAdd(a, b); });
}

llvm::Value *OffsetMath::multiply(llvm::Value *a, llvm::Value *b) {
  if (!a || !b)
    return nullptr;
  return once(products_, {a, b}, [&] { return builder_.CreateMul(a, b); });
}

llvm::Value *OffsetMath::negate(llvm::Value *a) {
  if (!a)
    return nullptr;
  return once(negations_, {a, nullptr}, [&] { return builder_.CreateNeg(a); });
}

llvm::Value *OffsetMath::uniform(const Offset &x) {
  if (!x.uniform || x.constant == 0)
    return x.uniform ? x.uniform : builder_.getInt64(x.constant);
  return add(x.uniform, builder_.getInt64(x.constant));
}

llvm::Value *OffsetMath::whole(const Offset &x) {
  if (!x.varying)
    return uniform(x);
  llvm::Value *same = uniform(x);
  return add(wide(x.varying), same);
}

Offset OffsetMath::add(const Offset &x, const Offset &y) {
  Offset sum;
  sum.uniform = add(x.uniform, y.uniform);
  sum.range = x.range + y.range;
  sum.constant = wrapped(x.constant, y.constant, std::plus<>());
  const bool narrow =
      (!x.varying || x.limit) && (!y.varying || y.limit) && x.limit + y.limit < Offset::narrow_limit;
  if (narrow || !x.varying || !y.varying) {
    sum.varying = add(x.varying, y.varying);
    sum.limit = narrow ? x.limit + y.limit : 0;
  } else {
    llvm::Value *second = wide(y.varying);
    sum.varying = add(wide(x.varying), second);
  }
  return sum;
}

Offset OffsetMath::negate(const Offset &x) {
  return {x.varying ? negate(wide(x.varying)) : nullptr, 0, negate(x.uniform), -x.range,
          wrapped(0, x.constant, std::minus<>())};
}

Offset OffsetMath::multiply(const Offset &x, const Offset &y) {
  if (!y.varying)
    return scale(x, y);
  if (!x.varying)
    return scale(y, x);
  llvm::Value *second = whole(y);
  return {multiply(whole(x), second)};
}

/// `factor` has no varying part.
Offset OffsetMath::scale(const Offset &x, const Offset &factor) {
  const Interval range = factor.range + Interval{factor.constant, factor.constant};
  Offset product;
  if (!factor.uniform) {
    product.uniform = multiply(x.uniform, builder_.getInt64(factor.constant));
    product.range = x.range * range;
    product.constant = wrapped(x.constant, factor.constant, std::multiplies<>());
  } else if (x.uniform || x.constant != 0) {
    llvm::Value *second = uniform(factor);
    product.uniform = multiply(uniform(x), second);
    product.range = (x.range + Interval{x.constant, x.constant}) * range;
  }
  const auto room = static_cast<int64_t>(x.limit ? (Offset::narrow_limit - 1) / x.limit : 0);
  if (x.limit && range.low >= 0 && range.high > 0 && range.high <= room) {
    llvm::Value *narrow = once(truncations_, {uniform(factor), nullptr},
                               [&] { return builder_.CreateTrunc(uniform(factor), builder_.getInt32Ty()); });
    product.varying = multiply(x.varying, narrow);
    product.limit = x.limit * static_cast<uint64_t>(range.high);
  } else if (x.varying) {
    llvm::Value *second = uniform(factor);
    product.varying = multiply(wide(x.varying), second);
  }
  return product;
}

} // namespace nereid::codegen
