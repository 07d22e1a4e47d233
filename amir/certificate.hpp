// A verdict as a Rocq theorem about the checked program, with its proof: one evaluation by Rocq's kernel
// (docs/semantics.md). What a certificate says does not depend on the machine of this layer: the theory
// re-computes the verdict by its own, verified interpreter.
#pragma once

#include <optional>
#include <string>

#include "amir/check_prepare.hpp"
#include "amir/run.hpp"

namespace exocheck::amir {

enum class Claim {
  accepted,            // at these sizes, and sequential-parallel equivalent
  accepted_all_trips,  // for every trip count of one loop, and so for every value of one size
  rejected,            // at these sizes: the statement, the kind of error, the element
};

struct Certificate {
  // Why there is none: the verdict rests on something that the theory does not have, or it would be too
  // large. Empty: there is one.
  std::string reason;
  Claim claim = Claim::accepted;
  std::string theorem;  // its name
  std::string says;     // one sentence
  std::string text;     // the file
  // Estimated steps of the theory's interpreter.
  std::uint64_t cost = 0;
};

struct CertificateOptions {
  analysis::Mode mode = analysis::Mode::standard;
  bool open_sizes = true;  // leave a size open where that is possible
  std::uint64_t max_cost = 100'000'000;
  std::string headline;  // first line of the file's comment
  Limits limits;
};

// The certificate of one run at complete sizes (names of parameters to values). Runs the machine to know the
// verdict.
Certificate make_certificate(const Prepared& prepared, const semantics::ir::SizeSet& sizes,
                             const CertificateOptions& options);

}  // namespace exocheck::amir
