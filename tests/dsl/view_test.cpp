// Views while a kernel is traced: their forms, where their operations are said to be, what they refuse.
#include <algorithm>
#include <tuple>

#include "tests/dsl/forms_support.h"

namespace nereid::test {
namespace {

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

TEST(View, TakesEveryKindOfScalarAndPointer) {
  NEREID_EXPECT_FORMS(with_each_kind<i32>(in, {}, [&](const auto &size) {
                        const View2D writable(in.p, {size, size});
                        const View2D promised(in.p, {in.n, in.n}, {.even_columns = true});
                        const View2D<const f32> readable = writable;
                        const View2D strided(in.bytes, {size, 1}, size);
                        static_assert(std::same_as<decltype(strided), const View2D<const u8>>);
                        with_each_kind<i32>(in, {}, [&](const auto &at) {
                          expect_tile_of<f32>(writable.load({at, at}, {4, 4}));
                          expect_tile_of<f32>(readable.load({at, 0}, {4, 4}, Cache::Stream));
                          expect_tile_of<f32>(readable.load({0, at}, {4, 4}, 1.0F, Cache::Global));
                          expect_tile_of<u8>(strided.load({at, at}, {4, 4}, in.n.template to<u8>()));
                          expect_tile_of<f32>(promised.load({at, at}, {4, 4}));
                          writable.store({at, at}, in.x({4, 4}));
                          writable.store({at, at}, Var(in.x({4, 4})), Cache::Stream);
                          expect_tile_of<f32>(
                              writable.atomic_add({at, at}, in.x({4, 4}), Order::Relaxed, Scope::Device));
                          expect_tile_of<f32>(writable.matrix(at).columns(at, size).load({at, at}, {4, 4}));
                        });
                        expect_tile_of<i32>(writable.rows() + writable.columns());
                      });)
}

TEST(View, TakesMicroscaledTilesOfEveryFormat) {
  NEREID_EXPECT_FORMS(for (const Format format : {e2m1, e2m3, e3m2, e4m3, e5m2}) {
    const MxView2D a(in.bytes, in.bytes, {in.n, in.n * 32}, {.format = format});
    const MxTile x = a.load({in.n, 64}, {16, 128});
    const MxTile y = quantize(in.b({32, 128}), format);
    expect_tile_of<f32>(dot_scaled(x, y.transposed()));
    expect_tile_of<f32>(dot_scaled(in.b({16, 128}), x.transposed()));
    expect_tile_of<f32>(dot_scaled(x, in.b({128, 16})));
    const auto [codes, scales] = a.matrix(in.n).load({0, 0}, {16, 128});
    expect_tile_of<u8>(codes);
    EXPECT_EQ(scales.shape(), Shape({16, 4}));
    EXPECT_EQ(codes.size(1), 128 * static_cast<int64_t>(ir::facts(format).bits) / 8);
  })
}

TEST(View, MasksNothingThatIsKnownToBeInside) {
  const std::string known = body_of([](const Inputs &in) {
    View2D(in.p, {8, 16}).store({4, 0}, View2D(in.p, {8, 16}).load({0, 0}, {4, 16}));
  });
  EXPECT_EQ(count(known, " lt "), 0) << known;
  const std::string promised = body_of([](const Inputs &in) {
    const View2D v(in.p, {in.n, in.n}, {.even_rows = true});
    v.store({in.n, in.n}, in.x({4, 16}));
  });
  EXPECT_EQ(count(promised, " lt "), 1) << promised;
  const std::string unknown =
      body_of([](const Inputs &in) { View2D(in.p, {in.n, 16}).store({in.n, 8}, in.x({4, 16})); });
  EXPECT_EQ(count(unknown, " lt "), 2) << unknown;
}

TEST(View, ComputesWhereARowBeginsIn64Bits) {
  const std::string text = body_of([](const Inputs &in) {
    const View2D v(in.p, {in.n, in.n});
    v.store({in.n, 0}, in.x({4, 4}));
  });
  EXPECT_NE(text.find("mul"), std::string::npos);
  EXPECT_NE(text.find(": i64"), std::string::npos) << text;
}

TEST(View, OperationsAreAtTheLineOfTheCall) {
  const Result<ir::Function> function = trace_body([](const Inputs &in) {
    const MxView2D a(in.bytes, in.bytes, {in.n, in.n},
                     {.codes = MxOrder::Shuffled, .scales = MxOrder::Shuffled});
    const View2D out(in.p, {in.n, in.n});
    const MxTile x = a.load({0, 0}, {32, 256});
    out.store({0, 0}, dot_scaled(x, x.transposed()));
  });
  ASSERT_TRUE(function) << function.error().text();
  for (const SourceLine &line : function->locations)
    EXPECT_TRUE(line.line == 0 || line.file.ends_with("view_test.cpp")) << line.text();
}

TEST(View, TwoStoresInOneExpressionAreTwoEffects) {
  EXPECT_REFUSED("two operations with effects in one C++ expression", "two statements",
                 const View2D v(in.p, {8, 8});
                 std::ignore = v.atomic_add({0, 0}, v.atomic_add({0, 0}, in.x({4, 4}))));
}

TEST(ViewErrors, Dimensions) {
  EXPECT_REFUSED("view: the number of rows is -1", "from 0 to 1048576", View2D(in.p, {-1, 4}));
  EXPECT_REFUSED("view: the number of rows is 1048577", "from 0 to 1048576", View2D(in.p, {1048577, 4}));
  EXPECT_REFUSED("view: the number of columns is -4", "from 0 to 2097152", View2D(in.p, {in.n, -4}));
  EXPECT_REFUSED("view: the row stride is 3, a row has 4 columns", "first elements of two rows",
                 View2D(in.p, {4, 4}, 3));
  EXPECT_REFUSED("view: the row stride is -8", "from 0 to 2097152", View2D(in.p, {in.n, in.n}, -8));
  EXPECT_REFUSED("view: the number of rows is a tile of shape [4]", "Give an Int",
                 View2D(in.p, {in.i({4}), 4}));
  EXPECT_REFUSED("view: the number of columns is -1", "from 0", View2D(in.p, {4, 4}).columns(0, -1));
}

TEST(ViewErrors, Tiles) {
  EXPECT_REFUSED("view: a tile of 0 rows and 4 columns", "at least 1",
                 View2D(in.p, {4, 4}).load({0, 0}, {0, 4}));
  EXPECT_REFUSED("view: a tile of 4 rows and -4 columns", "at least 1",
                 View2D(in.p, {4, 4}).load({0, 0}, {4, -4}));
  EXPECT_REFUSED("view: the row is -1", "inside the matrix", View2D(in.p, {4, 4}).load({-1, 0}, {4, 4}));
  EXPECT_REFUSED("view: the column is a tile of shape [8]", "Give an Int",
                 View2D(in.p, {4, 4}).load({0, in.i({8})}, {4, 4}));
  EXPECT_REFUSED("view: a tile of shape [16] is stored", "reshape",
                 View2D(in.p, {4, 4}).store({0, 0}, in.x({16})));
  EXPECT_REFUSED("view: a tile has rows 4 to 7 of 6, against the promise of even_rows", "Leave even_rows out",
                 View2D(in.p, {6, 4}, {.even_rows = true}).load({4, 0}, {4, 4}));
  EXPECT_REFUSED("view: a tile has columns 0 to 7 of 6, against the promise of even_columns", "even_columns",
                 View2D(in.p, {6, 6}, {.even_columns = true}).store({0, 0}, in.x({2, 8})));
}

TEST(ViewErrors, MicroscaledMatrices) {
  EXPECT_REFUSED("view: bf16 is not a microscaling format", "e2m1",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.format = Format::BF16}));
  EXPECT_REFUSED("view: shuffled codes of e4m3", "e2m1",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.format = e4m3, .codes = MxOrder::Shuffled}));
  EXPECT_REFUSED("view: the k is 48", "multiple of 32", MxView2D(in.bytes, in.bytes, {in.n, 48}));
  EXPECT_REFUSED("view: the k of a tile is 16", "multiple of 32",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}).load({0, 0}, {16, 16}));
  EXPECT_REFUSED("view: the first k is 8", "multiple of 32",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}).load({0, 8}, {16, 32}));
  EXPECT_REFUSED(
      "view: the number of rows of a tile of shuffled codes is 8", "multiple of 16",
      MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.codes = MxOrder::Shuffled}).load({0, 0}, {8, 32}));
  EXPECT_REFUSED(
      "view: the first row of shuffled codes is 8", "multiple of 16",
      MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.codes = MxOrder::Shuffled}).load({8, 0}, {16, 32}));
  EXPECT_REFUSED("not a microscaling format", "e2m1",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.format = Format::F16}));
}

TEST(ViewErrors, RowsByNumber) {
  EXPECT_REFUSED("view: the numbers of rows are a tile of shape []", "[n] or [n, 1]",
                 View2D(in.p, {in.n, in.n}).gather(in.n, 0, 4));
  EXPECT_REFUSED("view: the numbers of rows are a tile of shape [4, 8]", "[n] or [n, 1]",
                 View2D(in.p, {in.n, in.n}).gather(in.i({4, 8}), 0, 4));
  EXPECT_REFUSED("view: 0 columns of each row", "At least 1",
                 View2D(in.p, {in.n, in.n}).gather(in.i({4}), 0, 0));
  EXPECT_REFUSED("view: the column is -1", "inside the matrix",
                 View2D(in.p, {in.n, in.n}).gather(in.i({4}), -1, 4));
  EXPECT_REFUSED("view: a tile has columns 4 to 7 of 6, against the promise of even_columns", "even_columns",
                 View2D(in.p, {in.n, 6}, {.even_columns = true}).gather(in.i({4}), 4, 4));
  EXPECT_REFUSED("view: a tile of shape [16] is stored", "reshape",
                 View2D(in.p, {in.n, in.n}).scatter(in.i({16}), 0, in.x({16})));
  EXPECT_REFUSED(
      "view: rows by number of a shuffled matrix", "row-major",
      MxView2D(in.bytes, in.bytes, {in.n, in.n}, {.scales = MxOrder::Shuffled}).gather(in.i({4}), 0, 32));
  EXPECT_REFUSED("view: the k of a tile is 16", "multiple of 32",
                 MxView2D(in.bytes, in.bytes, {in.n, in.n}).gather(in.i({4}), 0, 16));
}

void store_to(const NoConfig &, Ptr<u8> codes, Int n) {
  MxView2D(codes, codes, {n, n}, {.codes = MxOrder::Shuffled})
      .store({0, 0}, quantize(zeros<f32>({16, 32}), e2m1));
}
void store_other(const NoConfig &, Ptr<u8> codes, Int n) {
  MxView2D(codes, codes, {n, n}).store({0, 0}, quantize(zeros<f32>({16, 32}), e4m3));
}

TEST(ViewErrors, StoresOfMicroscaledTiles) {
  const Result<ir::Function> shuffled = trace("test", store_to, NoConfig{});
  ASSERT_FALSE(shuffled);
  EXPECT_EQ(shuffled.error().owner, Owner::User);
  EXPECT_NE(shuffled.error().message.find("a tile of e2m1 is stored to shuffled codes of e2m1"),
            std::string::npos)
      << shuffled.error().message;
  const Result<ir::Function> other = trace("test", store_other, NoConfig{});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("a tile of e4m3 is stored to codes of e2m1"), std::string::npos);
  EXPECT_TRUE(other.error().where.file.ends_with("view_test.cpp"));
}

} // namespace
} // namespace nereid::test
