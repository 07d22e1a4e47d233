// The loop whose trip count a certificate leaves open (proofs-tests/rocq/theory/Param.v).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "amir/certificate_term.hpp"

namespace exocheck::amir::certificate {

// How far back the Awaits of a barrier variable look.
using Lags = std::vector<std::pair<std::uint32_t, std::int64_t>>;

struct OpenLoop {
  std::size_t position = 0;  // in Term::body
  std::uint32_t iterator = 0;
  Linear trips;  // as a function of Term::symbol
  Lags lags;
  std::int64_t first = 1;    // the claim holds from this trip count on
  std::int64_t settled = 1;  // from this iteration on, `period` iterations repeat
  std::int64_t period = 1;
};

// The only loop of the top level whose bound is the open size, if nothing else depends on it; else a sentence
// that says why no trip count can be left open. The numbers are guesses that the theory checks: a wrong one
// makes no wrong theorem, only a certificate that is refused.
std::variant<OpenLoop, std::string> find_open_loop(const Term& term);

}  // namespace exocheck::amir::certificate
