// The shorthand of collective.md 11 as program text: nest("W(2,6) > m:16*8T > seq s:2", "x[m, s] = 0.0") is a
// CudaWarps block around a cuda_threads loop around a seq loop around the statement. And what the collective
// pass says about it.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

#include "analysis/passes.hpp"
#include "frontend/frontend.hpp"
#include "proofs-tests/unit/analysis/programs.hpp"

namespace exocheck::test {

// "16TS(1,8)" -> "16 * cuda_threads_strided(1, 8)"
inline std::string unit_text(const std::string& shorthand) {
  static const std::regex form(R"(\(?(\d*)\s*([A-Za-z_0-9]+)(\([0-9, ]*\))?\)?)");
  static const std::vector<std::pair<std::string, std::string>> names{
      {"T", "cuda_thread"},
      {"WP", "cuda_warp"},
      {"WG", "cuda_warpgroup"},
      {"CTA", "cuda_cta_in_cluster"},
      {"CL", "cuda_cluster"},
      {"WC", "cuda_warp_in_cluster"},
      {"QP", "cuda_quadpair"},
      {"TS", "cuda_threads_strided"},
      {"CS", "cuda_cta_in_cluster_strided"},
      {"WCS", "cuda_warp_in_cluster_strided"}};
  std::smatch m;
  if (!std::regex_match(shorthand, m, form)) throw std::runtime_error("unit " + shorthand);
  std::string name = m[2];
  for (const auto& [shortened, full] : names) {
    if (name == shortened) {
      name = full;
      break;
    }
  }
  const std::string atom = name + m[3].str();
  return m[1].length() == 0 ? atom : m[1].str() + " * " + atom;
}

inline std::string header(const std::string& step) {
  std::smatch m;
  static const std::regex warps(R"(W\((.*)\))");
  static const std::regex seq(R"(seq (\w+):(\w+))");
  static const std::regex loop(R"((\w+):([^*]+)\*(.*))");
  if (std::regex_match(step, m, warps)) return "with CudaWarps(" + m[1].str() + "):\n";
  if (std::regex_match(step, m, seq)) return "for " + m[1].str() + " in seq(0, " + m[2].str() + "):\n";
  if (step.rfind("if ", 0) == 0) return step + ":\n";
  if (!std::regex_match(step, m, loop)) throw std::runtime_error("step " + step);
  return "for " + m[1].str() + " in cuda_threads(0, " + m[2].str() + ", unit=" + unit_text(m[3]) + "):\n";
}

// Statements inside the nest; `body` may have several lines.
inline std::string nest(const std::string& steps, const std::string& body) {
  std::string out;
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < steps.size()) {
    const std::size_t end = std::min(steps.find(" > ", at), steps.size());
    out += analysis::test::indented(header(steps.substr(at, end - at)), 4 * depth++);
    at = end + 3;
  }
  return out + analysis::test::indented(body, 4 * depth) + "\n";
}

struct Program {
  std::string launch;  // arguments of CudaDeviceFunction
  std::string body;    // of the device task
  std::string parameters = "g: f32[4096] @ CudaGmemLinear";
  std::string prelude = "";  // pragmas, units, instructions
  std::string text() const { return prelude + analysis::test::task(launch, parameters, body); }
};

inline std::string shape(int cluster_dim, int block_dim) {
  return "clusterDim=" + std::to_string(cluster_dim) + ", blockDim=" + std::to_string(block_dim);
}

// The frontend, then the collective pass and those it needs; the bounds would hide some of its findings.
class Checked {
 public:
  explicit Checked(const Program& p) : text_(p.text()), loaded_(analysis::test::load(text_)) {
    for (const auto& d : loaded_.all_findings()) add(d);
    for (const auto& procedure : loaded_.program.procedures) {
      analysis::PassContext context{procedure, loaded_.program, analysis::Mode::standard, result_.facts,
                                    result_.diagnostics};
      for (const auto pass : {analysis::check_launch, analysis::compute_lifetimes,
                              analysis::check_barrier_usage, analysis::check_collectives}) {
        if (!semantics::has_errors(result_.diagnostics)) pass(context);
      }
      for (const auto& d : result_.diagnostics) add(d);
    }
  }
  // Codes of all findings but W-X01, sorted, with repetition.
  std::vector<std::string> codes() const { return codes_; }
  const analysis::Distribution& distribution(const std::string& name) const {
    const auto& procedure = loaded_.program.procedures.at(0);
    for (std::size_t i = 0; i < procedure.symbols.size(); ++i) {
      const semantics::ir::SymId id{static_cast<std::uint32_t>(i)};
      if (procedure.symbols[i].name == name && result_.facts.distribution.contains(id)) {
        return result_.facts.distribution.at(id);
      }
    }
    throw std::runtime_error("no distribution of " + name);
  }
  std::string message() const { return messages_; }
  const std::string& text() const { return text_; }
  const semantics::Diagnostics& diagnostics() const { return result_.diagnostics; }
  const analysis::Facts& facts() const { return result_.facts; }
  const semantics::ir::Procedure& procedure() const { return loaded_.program.procedures.at(0); }

 private:
  void add(const semantics::Diagnostic& d) {
    messages_ += std::string(d.rule->code) + ": " + d.message + "\n";
    for (const auto& r : d.related) messages_ += "  note: " + r.message + "\n";
    if (d.rule->code == "W-X01") return;
    codes_.emplace_back(d.rule->code);
    std::sort(codes_.begin(), codes_.end());
  }
  std::string text_;
  frontend::LoadResult loaded_;
  analysis::AnalysisResult result_;
  std::vector<std::string> codes_;
  std::string messages_;
};

inline void check_codes(const Program& p, const std::vector<std::string>& expected) {
  const Checked c(p);
  INFO(c.text() << c.message());
  CHECK(c.codes() == expected);
}
// The message of the only finding mentions every one of `words`.
inline void check_error(const Program& p, const std::string& code,
                        const std::vector<std::string>& words = {}) {
  const Checked c(p);
  INFO(c.text() << c.message());
  CHECK(c.codes() == std::vector<std::string>{code});
  for (const std::string& word : words) {
    INFO(word);
    CHECK(c.message().find(word) != std::string::npos);
  }
}

using Numbers = std::vector<std::int64_t>;
inline void check_distribution(const Program& p, const std::string& name, const Numbers& pitches,
                               std::int64_t base, const Numbers& shard) {
  const Checked c(p);
  INFO(c.text() << c.message());
  REQUIRE(c.codes().empty());
  const auto& d = c.distribution(name);
  CHECK(d.distributed == static_cast<int>(pitches.size()));
  CHECK(d.pitches == pitches);
  CHECK(d.base == base);
  CHECK(d.shard_extents == shard);
}

}  // namespace exocheck::test
