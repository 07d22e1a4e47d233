// `exocheck check --expected PATH...`: every file is a test case (cli.md "Expected results inside a file").
#pragma once

#include "driver/check_arguments.hpp"
#include "driver/command.hpp"

namespace exocheck::driver {

// Runs each file as its `# run:` lines say, in this process, and prints one line per difference, then
// `N of M cases as expected` and `checked N of M procedures`. 0 if all match and there is at least one case,
// 1 on a difference, 2 for what cannot be read, 3 without any case, 4 after an internal error.
int run_cases(const CheckArguments& arguments, const Console& console);

}  // namespace exocheck::driver
