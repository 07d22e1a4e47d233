// Certificates of verdicts, and Rocq's kernel on them (docs/semantics.md).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "amir/certificate.hpp"
#include "driver/engine.hpp"
#include "driver/result.hpp"

namespace exocheck::driver {

// The certificates of one result: of the sizes of a defect, else of every size set that was run, else (a
// proof for all sizes) of two chosen ones; equal ones once. One without text says why there is none.
std::vector<amir::Certificate> make_certificates(const LoadedFile& file, const ProcedureResult& result,
                                                 const std::string& mode, bool open_sizes,
                                                 double timeout_seconds);

// coqc and a compiled theory. The theory lies in $EXOCHECK_ROCQ, or is compiled once into the user's cache
// folder.
class Kernel {
 public:
  // A sentence if coqc is missing or the theory cannot be compiled.
  static std::variant<Kernel, std::string> start();

  struct Answer {
    bool accepted = false;
    bool timed_out = false;
    double seconds = 0;
    std::string message;  // of coqc, if it did not accept
  };
  // Compiles the text in a temporary folder of its own.
  Answer check(const std::string& text, double timeout_seconds) const;

 private:
  std::string theory_;
};

// Adds ProcedureResult::certificates to every checked, proved or defective procedure of the file.
void certify(FileResult& result, const LoadedFile& file, const std::string& mode,
             const std::variant<Kernel, std::string>& kernel);

}  // namespace exocheck::driver
