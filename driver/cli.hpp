// The whole program as a function: command line in, exit code out.
#pragma once

#include <string>
#include <vector>

#include "driver/command.hpp"

namespace exocheck::driver {

// `arguments` without the program's name. Never throws: an exception that arrives here is exit code 4.
int run(const std::vector<std::string>& arguments, const Console& console);

}  // namespace exocheck::driver
