// A checked program as a document: its AMIR and its verdict.
#pragma once

#include <string>

#include "driver/engine.hpp"
#include "driver/result.hpp"

namespace exocheck::driver {

// `format`: latex, markdown or json (schema exocheck-program/1).
std::string program_document(const LoadedFile& file, const FileResult& checked, const std::string& mode,
                             const std::string& format);

}  // namespace exocheck::driver
