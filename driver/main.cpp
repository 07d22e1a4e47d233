#include <unistd.h>

#include <iostream>

#include "driver/cli.hpp"

int main(int argc, char** argv) {
  const exocheck::driver::Console console{std::cout, std::cerr, isatty(STDOUT_FILENO) == 1,
                                          isatty(STDERR_FILENO) == 1};
  return exocheck::driver::run({argv + 1, argv + argc}, console);
}
