#pragma once

#include <vector>

#include "sim/state/instruction.h"

namespace nereid::sim {

// The families of operations: each lists the rows of its file.
std::vector<Operation> scalar_alu_operations();
std::vector<Operation> scalar_control_operations();
std::vector<Operation> scalar_memory_operations();
std::vector<Operation> vector_integer_operations();
std::vector<Operation> vector_media_operations();
std::vector<Operation> vector_float_operations();
std::vector<Operation> vector_half_operations();
std::vector<Operation> vector_packed_operations();
std::vector<Operation> vector_double_operations();
std::vector<Operation> vector_convert_operations();
std::vector<Operation> vector_scaled_convert_operations();
std::vector<Operation> vector_compare_operations();
std::vector<Operation> cross_lane_operations();
std::vector<Operation> matrix_operations();
std::vector<Operation> sparse_matrix_operations();
std::vector<Operation> lds_operations();
std::vector<Operation> global_memory_operations();
std::vector<Operation> buffer_memory_operations();
std::vector<Operation> typed_buffer_operations();

inline constexpr std::vector<Operation> (*operation_families[])() = {
    scalar_alu_operations,
    scalar_control_operations,
    scalar_memory_operations,
    vector_integer_operations,
    vector_media_operations,
    vector_float_operations,
    vector_half_operations,
    vector_packed_operations,
    vector_double_operations,
    vector_convert_operations,
    vector_scaled_convert_operations,
    vector_compare_operations,
    cross_lane_operations,
    matrix_operations,
    sparse_matrix_operations,
    lds_operations,
    global_memory_operations,
    buffer_memory_operations,
    typed_buffer_operations,
};

} // namespace nereid::sim
