// `--dot` and `--svg`: the happens-before graph of the first counterexample, as a file.
#pragma once

#include <string>

#include "driver/command.hpp"
#include "driver/result.hpp"

namespace exocheck::driver {

// Writes the files that are named (an empty name: not wanted). Without a counterexample nothing is written
// and `err` says so. Returns the sentence that says what went wrong; empty: nothing did.
std::string write_graphs(const RunResult& result, const std::string& dot_file, const std::string& svg_file,
                         const Console& console);

}  // namespace exocheck::driver
