// A stand-in for the products that are calibrated with.
#include "tests/calibrate/product_kernel.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>

#include "tests/sim/assembler.h"

namespace nereid::calibrate::test {
namespace {

/// An i128 is a slot of the argument block.
constexpr const char *body =
    R"((i128 %d, i128 %c, i128 %a, i128 %b, i128 %alpha, i128 %beta, i128 %d0, i128 %d1,
    i128 %c0, i128 %c1, i128 %a0, i128 %a1, i128 %b0, i128 %b1, i128 %m, i128 %n, i128 %k, i128 %sa, i128 %sb,
    i128 %sa0, i128 %sa1, i128 %sb0, i128 %sb1, i32 %split) #0 {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %a64 = trunc i128 %a to i64
  %from = inttoptr i64 %a64 to ptr addrspace(1)
  %d64 = trunc i128 %d to i64
  %to = inttoptr i64 %d64 to ptr addrspace(1)
  %k32 = trunc i128 %k to i32
  %bytes = lshr i32 %k32, 1
  br label %step
step:
  %at = phi i32 [ 0, %entry ], [ %next, %step ]
  %sum = phi i32 [ 0, %entry ], [ %more, %step ]
  %lane = and i32 %item, 31
  %word = shl i32 %lane, 2
  %offset = add i32 %at, %word
  %place = getelementptr i8, ptr addrspace(1) %from, i32 %offset
  %value = load i32, ptr addrspace(1) %place
  %more = xor i32 %sum, %value
  %next = add i32 %at, 128
  %again = icmp ult i32 %next, %bytes
  br i1 %again, label %step, label %end
end:
  %result = getelementptr i16, ptr addrspace(1) %to, i32 %lane
  %half = trunc i32 %more to i16
  store i16 %half, ptr addrspace(1) %result
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="256,256" }
)";

} // namespace

std::vector<std::byte> product_kernel(const Tile &tile) {
  return sim::test::compile_ir("define amdgpu_kernel void @_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_" +
                               tile.text() + "E" + body);
}

ObjectFolder::ObjectFolder(const std::vector<Tile> &tiles) {
  llvm::SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-objects", path));
  path_ = path.str().str();
  for (const Tile &tile : tiles)
    write(tile.text() + ".co", product_kernel(tile));
}

ObjectFolder::~ObjectFolder() { std::filesystem::remove_all(path_); }

std::string ObjectFolder::path(const std::string &name) const { return path_ + "/" + name; }

void ObjectFolder::write(const std::string &name, const std::vector<std::byte> &bytes) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good());
}

} // namespace nereid::calibrate::test
