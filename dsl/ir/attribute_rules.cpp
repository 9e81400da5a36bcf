// The attributes of every operation, a line each.
#include "dsl/ir/attribute_rules.h"

namespace nereid::ir {

static constexpr AttributeRule attributes[] = {
    {Opcode::Constant, "bits", AttributeKind::Integer, true},
    {Opcode::ProgramId, "axis", AttributeKind::Integer, true},
    {Opcode::NumPrograms, "axis", AttributeKind::Integer, true},
    {Opcode::Arange, "start", AttributeKind::Integer, true},
    {Opcode::ExpandDims, "axis", AttributeKind::Integer, true},
    {Opcode::Permute, "order", AttributeKind::Integers, true},
    {Opcode::InlineAsm, "asm", AttributeKind::String, true},
    {Opcode::InlineAsm, "constraints", AttributeKind::String, true},
    {Opcode::InlineAsm, "host", AttributeKind::Integer, false},
    {Opcode::CvtScaled, "format", AttributeKind::String, true},
    {Opcode::ReduceMax, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceMin, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceSum, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceAny, "axis", AttributeKind::Integer, true},
    {Opcode::ArgMax, "axis", AttributeKind::Integer, true},
    {Opcode::CumSum, "axis", AttributeKind::Integer, true},
    {Opcode::Reduce, "axis", AttributeKind::Integer, true},
    {Opcode::Scan, "axis", AttributeKind::Integer, true},
    {Opcode::Butterfly, "axis", AttributeKind::Integer, true},
    {Opcode::Butterfly, "distance", AttributeKind::Integer, true},
    {Opcode::Dot, "format_a", AttributeKind::String, false},
    {Opcode::Dot, "format_b", AttributeKind::String, false},
    {Opcode::DotScaled, "format_a", AttributeKind::String, true},
    {Opcode::DotScaled, "format_b", AttributeKind::String, true},
    {Opcode::Quantize, "format", AttributeKind::String, true},
    {Opcode::Quantize, "rule", AttributeKind::String, true},
    {Opcode::Load, "cache", AttributeKind::String, false},
    {Opcode::Store, "cache", AttributeKind::String, false},
    {Opcode::AtomicAdd, "order", AttributeKind::String, true},
    {Opcode::AtomicAdd, "scope", AttributeKind::String, true},
    {Opcode::AtomicMax, "order", AttributeKind::String, true},
    {Opcode::AtomicMax, "scope", AttributeKind::String, true},
    {Opcode::AtomicExchange, "order", AttributeKind::String, true},
    {Opcode::AtomicExchange, "scope", AttributeKind::String, true},
    {Opcode::AtomicCompareExchange, "order", AttributeKind::String, true},
    {Opcode::AtomicCompareExchange, "scope", AttributeKind::String, true},
    {Opcode::DeviceAssert, "message", AttributeKind::String, true},
    {Opcode::DevicePrint, "message", AttributeKind::String, true},
    {Opcode::For, "stages", AttributeKind::Integer, false},
};

std::span<const AttributeRule> attribute_rules() { return attributes; }

} // namespace nereid::ir
