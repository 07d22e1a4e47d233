#include "driver/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "amir/check_prepare.hpp"
#include "amir/check_sizes.hpp"
#include "driver/process.hpp"
#include "driver/sizes.hpp"
#include "driver/theory.hpp"
#include "driver/version.hpp"
#include "semantics/errors.hpp"

namespace exocheck::driver {
namespace {

namespace fs = std::filesystem;

constexpr double certificate_seconds = 60;  // of coqc
constexpr double machine_seconds = 600;
constexpr std::size_t sizes_of_a_proof = 2;

// What starts coqc, and its arguments.
std::vector<std::string> coqc(std::vector<std::string> arguments) {
  const char* value = std::getenv("COQC");
  std::vector<std::string> words = split_words(value == nullptr ? "" : value);
  if (words.empty()) words = {"coqc"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// Tells one version of the theory from another (FNV-1a).
std::string theory_digest() {
  std::uint64_t hash = 14695981039346656037ull;
  for (const TheoryFile& file : theory_files()) {
    for (const char c : file.text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return fmt::format("{:016x}", hash);
}

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "exocheck";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "exocheck";
  return fs::temp_directory_path() / "exocheck";
}

// Empty: compiled. Else a sentence.
std::string compile_theory(const fs::path& folder) {
  for (const TheoryFile& file : theory_files()) {
    std::ofstream(folder / file.name, std::ios::binary) << file.text;
    const Ended ended =
        run_process(coqc({"-q", "-Q", ".", "Exocheck", std::string(file.name)}), folder, "log", "log");
    if (ended.code != 0 || ended.signal != 0)
      return fmt::format("The theory cannot be compiled: {}: {}", file.name,
                         contents(folder / "log").substr(0, 1000));
  }
  return "";
}

bool wanted(const ProcedureResult& p) {
  return p.verdict == Verdict::checked || p.verdict == Verdict::proved || p.verdict == Verdict::defect;
}

amir::Certificate none(std::string reason) {
  amir::Certificate out;
  out.reason = std::move(reason);
  return out;
}

}  // namespace

std::vector<amir::Certificate> make_certificates(const LoadedFile& file, const ProcedureResult& result,
                                                 const std::string& mode, bool open_sizes,
                                                 double timeout_seconds) {
  if (!wanted(result)) return {none(fmt::format("the verdict is {}", name(result.verdict)))};
  const auto& procedures = file.load.program.procedures;
  const auto procedure = std::find_if(procedures.begin(), procedures.end(),
                                      [&](const auto& p) { return p.name == result.name; });
  if (procedure == procedures.end()) return {none("the verdict is of a static rule")};
  amir::CertificateOptions options;
  options.mode = mode_named(mode);
  options.open_sizes = open_sizes;
  options.limits.max_seconds = timeout_seconds;
  const amir::Preparation prepared = amir::prepare(*procedure, file.load.program, options.mode);
  if (prepared.cpu_only) return {none("nothing runs in parallel")};
  if (!prepared.prepared) return {none("the verdict is of a static rule")};

  std::vector<SizeSet> sizes = result.sizes;
  if (result.verdict == Verdict::defect) {
    if (sizes.empty()) return {none("the verdict is of a static rule")};
    sizes = {sizes.back()};
  }
  // A proof for all sizes is not the theory's business; its verdict is, at some sizes.
  if (sizes.empty()) {
    for (const amir::SizeChoice& choice : amir::plan_sizes(prepared.prepared->procedure, {}).choices) {
      if (choice.admissible && sizes.size() < sizes_of_a_proof) sizes.push_back(choice.values);
    }
    if (sizes.empty()) return {none("no sizes were found to run")};
  }
  std::vector<amir::Certificate> out;
  for (const SizeSet& set : sizes) {
    options.headline =
        fmt::format("Procedure {} of {}, {}, mode {}; exocheck {}.", result.name,
                    fs::path(file.source->path()).filename().string(), show(set), mode, version);
    amir::Certificate c = amir::make_certificate(*prepared.prepared, set, options);
    const bool known = std::any_of(out.begin(), out.end(), [&](const amir::Certificate& other) {
      return c.reason.empty() ? other.says == c.says : other.reason == c.reason;
    });
    if (!known) out.push_back(std::move(c));
  }
  return out;
}

std::variant<Kernel, std::string> Kernel::start() {
  const TemporaryFolder trial(fs::temp_directory_path(), "rocq");
  if (!trial.made()) return "No temporary folder can be made.";
  if (run_process(coqc({"--version"}), trial.path(), "log", "log").code == 127)
    return fmt::format("{} is not installed", coqc({}).front());
  Kernel kernel;
  if (const char* folder = std::getenv("EXOCHECK_ROCQ"); folder != nullptr && *folder != '\0') {
    kernel.theory_ = folder;
    return kernel;
  }
  std::error_code error;
  const fs::path cache = cache_folder();
  const fs::path folder = cache / ("rocq-" + theory_digest());
  kernel.theory_ = folder.string();
  if (fs::exists(folder, error)) return kernel;
  fs::create_directories(cache, error);
  const TemporaryFolder temporary(cache, "rocq");
  if (!temporary.made()) return fmt::format("No folder can be made in {}.", cache.string());
  if (std::string problem = compile_theory(temporary.path()); !problem.empty()) return problem;
  // Another process may have been faster; its theory is the same.
  fs::rename(temporary.path(), folder, error);
  if (error && !fs::exists(folder)) return fmt::format("{} cannot be made.", folder.string());
  return kernel;
}

Kernel::Answer Kernel::check(const std::string& text, double timeout_seconds) const {
  Answer answer;
  const TemporaryFolder folder(fs::temp_directory_path(), "rocq");
  if (!folder.made()) {
    answer.message = "No temporary folder can be made.";
    return answer;
  }
  std::ofstream(folder.path() / "certificate.v", std::ios::binary) << text;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> words{"timeout", fmt::format("{:.0f}", std::max(1.0, timeout_seconds))};
  for (std::string& w : coqc({"-q", "-Q", theory_, "Exocheck", "certificate.v"}))
    words.push_back(std::move(w));
  const Ended ended = run_process(words, folder.path(), "log", "log");
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.timed_out = ended.code == 124;
  // Every theorem of the file must rest on nothing.
  const std::string log = contents(folder.path() / "log");
  answer.accepted = ended.code == 0 && ended.signal == 0 &&
                    log.find("Closed under the global context") != std::string::npos &&
                    log.find("Axioms:") == std::string::npos;
  if (!answer.accepted) answer.message = answer.timed_out ? "the time was over" : log.substr(0, 1000);
  return answer;
}

namespace {

CertificateResult judge(const amir::Certificate& c, const std::variant<Kernel, std::string>& kernel) {
  using Status = CertificateResult::Status;
  CertificateResult out;
  out.says = c.says;
  out.every_size = c.claim == amir::Claim::accepted_all_trips;
  out.reason = c.reason;
  if (!c.reason.empty()) return out;
  if (const auto* missing = std::get_if<std::string>(&kernel)) {
    out.status = Status::not_run;
    out.reason = *missing;
    return out;
  }
  const Kernel::Answer answer = std::get<Kernel>(kernel).check(c.text, certificate_seconds);
  out.status = answer.accepted ? Status::checked : answer.timed_out ? Status::not_run : Status::refused;
  out.seconds = answer.seconds;
  out.reason = answer.message;
  return out;
}

}  // namespace

void certify(FileResult& result, const LoadedFile& file, const std::string& mode,
             const std::variant<Kernel, std::string>& kernel) {
  using Status = CertificateResult::Status;
  for (ProcedureResult& procedure : result.procedures) {
    if (!wanted(procedure)) continue;
    bool fixed_sizes = false;
    for (const amir::Certificate& c : make_certificates(file, procedure, mode, true, machine_seconds)) {
      CertificateResult r = judge(c, kernel);
      // The numbers of an open loop are guesses; the claim about the sizes that were run needs none.
      if (r.status == Status::refused && r.every_size) {
        fixed_sizes = true;
      } else {
        procedure.certificates.push_back(std::move(r));
      }
    }
    if (fixed_sizes) {
      procedure.certificates.clear();
      for (const amir::Certificate& c : make_certificates(file, procedure, mode, false, machine_seconds))
        procedure.certificates.push_back(judge(c, kernel));
    }
    // A verdict that the kernel contradicts must not pass for one.
    for (const CertificateResult& r : procedure.certificates) {
      if (r.status != Status::refused) continue;
      result.internal_error +=
          fmt::format("{}{}: the certificate of the verdict was refused: {}",
                      result.internal_error.empty() ? "" : "; ", procedure.name, r.reason);
    }
  }
}

}  // namespace exocheck::driver
