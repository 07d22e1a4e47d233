// The run-time library that travels with emitted code (codegen/runtime), embedded in the binary.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace exocheck::codegen {

// File name and contents.
std::span<const std::pair<std::string_view, std::string_view>> runtime_files();

// xrt_wgmma.h: one specialisation of xrt_wgmma_tf32 per accumulator width (a multiple of 8, 8 to 256).
std::string wgmma_header(const std::set<int>& widths);

}  // namespace exocheck::codegen
