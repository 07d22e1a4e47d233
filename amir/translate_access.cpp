#include "amir/translate_access.hpp"

namespace exocheck::amir {

namespace am = semantics::amir;

namespace {

// Level required of earlier mutates (abstract-machine.md 4.5); earlier reads always need TEMP (decisions.md
// N1).
am::Level level_of(AccessClass kind) {
  switch (kind) {
    case AccessClass::read:
    case AccessClass::read_write:
      return am::Level::full;
    case AccessClass::write_only:
      return am::Level::temporal;
    case AccessClass::atomic:
      return am::Level::atomic;
  }
  return am::Level::full;
}

}  // namespace

void emit_access(const Builder& builder, am::Body& body, const Site& site, const AccessSpec& access) {
  const bool mutate = access.kind != AccessClass::read;
  const bool overwrites = access.kind == AccessClass::write_only;
  const am::Purpose purpose = mutate ? am::Purpose::write : am::Purpose::read;
  builder.add(body, site, access.role,
              am::Check{false, access.convergent, level_of(access.kind), access.target, access.quals.extended,
                        purpose, overwrites});
  if (mutate) {
    builder.add(body, site, access.role,
                am::Check{true, access.convergent, am::Level::temporal, access.target, access.quals.extended,
                          purpose, overwrites});
  }
  builder.add(body, site, access.role,
              am::Record{mutate, access.convergent, access.in_order, access.target, access.quals.initial,
                         access.atomic, access.pending});
}

void emit_barrier_use(const Builder& builder, am::Body& body, const Site& site, const am::Target& barrier,
                      semantics::Qual qual, const std::vector<am::Target>& pending) {
  emit_access(builder, body, site,
              {barrier, AccessClass::read, {qual, {qual}}, true, true, {}, pending, "barrier use"});
}

}  // namespace exocheck::amir
