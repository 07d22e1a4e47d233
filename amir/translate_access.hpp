// Checks and records of one access (abstract-machine.md 3.2, 3.3; decisions.md N1, N2).
#pragma once

#include <string>
#include <vector>

#include "amir/translate_builder.hpp"

namespace exocheck::amir {

enum class AccessClass { read, write_only, read_write, atomic };

struct AccessSpec {
  semantics::amir::Target target;
  AccessClass kind = AccessClass::read;
  semantics::AccessQual quals{};
  bool convergent = false;
  bool in_order = true;
  semantics::QualSet atomic;                     // kind == atomic
  std::vector<semantics::amir::Target> pending;  // trailing barrier elements
  std::string role;
};

// CheckMutates [CheckReads] Record, in this order.
void emit_access(const Builder& builder, semantics::amir::Body& body, const Site& site,
                 const AccessSpec& access);

// An Arrive, an Await or an instruction touches the mbarrier object itself: a convergent in-order read of it
// (abstract-machine.md 3.3, 3.4).
void emit_barrier_use(const Builder& builder, semantics::amir::Body& body, const Site& site,
                      const semantics::amir::Target& barrier, semantics::Qual qual,
                      const std::vector<semantics::amir::Target>& pending);

}  // namespace exocheck::amir
