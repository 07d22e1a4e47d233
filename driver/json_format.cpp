#include "driver/json_format.hpp"

#include <nlohmann/json.hpp>

#include "driver/version.hpp"

namespace exocheck::driver {
namespace {

using Json = nlohmann::ordered_json;
using semantics::AccessDetail;
using semantics::Location;
using semantics::Related;
using semantics::Role;
using semantics::Severity;

Json to_json(const Location& location) {
  if (!location.known()) return nullptr;
  const auto begin = location.begin();
  const auto end = location.end();
  Json json{
      {"line", begin.line}, {"column", begin.column}, {"end_line", end.line}, {"end_column", end.column}};
  return json;
}

std::string_view word(Role role) {
  switch (role) {
    case Role::first_access:
      return "first-access";
    case Role::sync:
      return "sync";
    case Role::near_miss:
      return "near-miss";
    case Role::declaration:
      return "declaration";
    case Role::context:
      return "context";
  }
  return "context";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const std::optional<AccessDetail>& access) {
  if (!access) return nullptr;
  Json iterators = Json::object();
  for (const auto& [name, value] : access->iterators) iterators[name] = value;
  return Json{{"statement", access->statement},
              {"mode", access->mode},
              {"iterators", iterators},
              {"task", access->task ? Json(*access->task) : Json(nullptr)},
              {"collective", text_or_null(access->collective)},
              {"timeline", text_or_null(access->timeline)},
              {"extended", access->extended},
              {"required", text_or_null(access->required)},
              {"held", text_or_null(access->held)},
              {"missing_thread", text_or_null(access->missing_thread)}};
}

Json to_json(const Diagnostic& finding) {
  Json related = Json::array();
  for (const Related& r : finding.related) {
    Json entry{{"role", word(r.role)}, {"message", r.message}, {"location", to_json(r.location)}};
    // Only where it differs from the file of the finding: an instruction of the library.
    if (r.location.known() && r.location.source != finding.location.source) {
      entry["path"] = r.location.source->path();
    }
    related.push_back(std::move(entry));
  }
  return Json{{"rule", finding.rule->name},
              {"code", finding.rule->code},
              {"severity", name(finding.severity)},
              {"message", finding.message},
              {"location", to_json(finding.location)},
              {"variable", text_or_null(finding.variable)},
              {"index", finding.index},
              {"memory", text_or_null(finding.memory)},
              {"access", to_json(finding.access)},
              {"first_access", to_json(finding.first_access)},
              {"related", related},
              {"suggestion", finding.suggestion ? Json(*finding.suggestion) : Json(nullptr)}};
}

Json to_json(const Diagnostics& findings) {
  Json list = Json::array();
  for (const Diagnostic& finding : findings) list.push_back(to_json(finding));
  return list;
}

Json to_json(const std::vector<Suppressed>& suppressed) {
  Json list = Json::array();
  for (const Suppressed& s : suppressed) {
    Json entry = to_json(s.finding);
    entry["suppressed"] = s.reason;
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const SizeSet& sizes) {
  Json json = Json::object();
  for (const auto& [name, value] : sizes) json[name] = value;
  return json;
}

Json to_json(const std::optional<amir::ProofSummary>& proof) {
  if (!proof) return nullptr;
  return Json{{"element_classes", proof->element_classes},
              {"slices", proof->slices},
              {"steps", proof->steps},
              {"iterations", proof->iterations},
              {"memory_queries", proof->memory_queries}};
}

Json to_json(const std::vector<CertificateResult>& certificates, bool with_times) {
  Json list = Json::array();
  for (const CertificateResult& c : certificates) {
    const bool timed = with_times && c.status == CertificateResult::Status::checked;
    list.push_back(Json{{"status", name(c.status)},
                        {"says", text_or_null(c.says)},
                        {"every_size", c.every_size},
                        {"reason", text_or_null(c.reason)},
                        {"seconds", timed ? Json(c.seconds) : Json(nullptr)}});
  }
  return list;
}

Json to_json(const ProcedureResult& procedure, bool with_times) {
  Json sizes = Json::array();
  for (const SizeSet& set : procedure.sizes) sizes.push_back(to_json(set));
  const CheckStats& s = procedure.stats;
  return Json{{"name", procedure.name},
              {"verdict", name(procedure.verdict)},
              {"reason", text_or_null(procedure.reason)},
              {"not_proved", text_or_null(procedure.not_proved)},
              {"proof", to_json(procedure.proof)},
              {"all_sizes", procedure.all_sizes},
              {"sizes", sizes},
              {"sizes_chosen", procedure.sizes_chosen},
              {"behaviours_left_out", procedure.behaviours_left_out},
              {"findings", to_json(procedure.findings)},
              {"suppressed", to_json(procedure.suppressed)},
              {"certificates", to_json(procedure.certificates, with_times)},
              {"stats",
               {{"seconds", with_times ? Json(s.seconds) : Json(nullptr)},
                {"statements", s.statements},
                {"records_peak", s.records_peak},
                {"obligations", s.obligations},
                {"obligations_solver", s.obligations_solver},
                {"solver_seconds", with_times ? Json(s.solver_seconds) : Json(nullptr)}}}};
}

Json to_json(const FileResult& file, bool with_times) {
  Json procedures = Json::array();
  for (const ProcedureResult& p : file.procedures) procedures.push_back(to_json(p, with_times));
  return Json{{"path", file.path},
              {"failure", text_or_null(file.failure)},
              {"internal_error", text_or_null(file.internal_error)},
              {"findings", to_json(file.findings)},
              {"suppressed", to_json(file.suppressed)},
              {"rejected", file.rejected},
              {"procedures", procedures}};
}

}  // namespace

namespace {

Json to_json(const ProofStats& stats, bool with_times) {
  Json slowest = nullptr;
  if (with_times && stats.slowest) {
    const ProofStats::Slowest& s = *stats.slowest;
    slowest = Json{{"path", s.path},
                   {"procedure", s.procedure},
                   {"code", s.query.code},
                   {"location", to_json(s.query.location)},
                   {"seconds", s.query.seconds}};
  }
  return Json{{"obligations", stats.obligations},
              {"obligations_solver", stats.solver},
              {"size_queries", stats.size_queries},
              {"size_queries_solver", stats.size_queries_solver},
              {"solver_seconds", with_times ? Json(stats.solver_seconds) : Json(nullptr)},
              {"slowest_query", slowest}};
}

}  // namespace

std::string format_json(const RunResult& result, const JsonOptions& options) {
  Json files = Json::array();
  for (const FileResult& file : result.files) files.push_back(to_json(file, options.stats));
  const Json json{{"schema", "exocheck-result/1"},
                  {"version", version},
                  {"mode", result.mode},
                  {"exit_code", options.exit_code},
                  {"procedures_checked", result.procedures_checked()},
                  {"procedures_total", result.procedures_total()},
                  {"suppressed_total", result.suppressed_total()},
                  {"stats", to_json(proof_stats(result), options.stats)},
                  {"files", files}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace exocheck::driver
