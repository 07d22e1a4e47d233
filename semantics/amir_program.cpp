#include "semantics/amir_program.hpp"

#include "semantics/errors.hpp"

namespace exocheck::semantics::amir {

std::string_view name(Level level) {
  switch (level) {
    case Level::invisible:
      return "invisible";
    case Level::atomic:
      return "atomic only";
    case Level::unordered:
      return "unordered";
    case Level::temporal:
      return "temporally ordered";
    case Level::full:
      return "fully ordered";
  }
  throw InternalError("unknown level");
}

}  // namespace exocheck::semantics::amir
