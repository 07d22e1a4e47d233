#include "analysis/launch_registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Diagnostic;
using semantics::make_diagnostic;

constexpr std::int64_t register_file = 65536;     // 32-bit registers per SM
constexpr std::int64_t maximum_per_thread = 248;  // 255, in steps of 8
constexpr std::int64_t warp_threads = 32;

std::optional<std::int64_t> request(const LaunchFacts::WarpGroup& g) {
  return g.setmaxnreg_dec ? g.setmaxnreg_dec : g.setmaxnreg_inc;
}

bool legal_count(std::int64_t value) { return value >= 24 && value <= 256 && value % 8 == 0; }

class Registers {
 public:
  Registers(PassContext& context, const ir::Stmt& stmt, const ir::LaunchConfig& config,
            const LaunchFacts& facts)
      : context_(context), stmt_(stmt), config_(config), facts_(facts) {}

  std::optional<Diagnostic> run() {
    const auto& groups = facts_.warp_groups;
    if (std::none_of(groups.begin(), groups.end(), [](const auto& g) { return request(g).has_value(); })) {
      return std::nullopt;
    }
    if (auto error = values()) return error;
    if (auto error = uniformity()) return error;
    if (context_.mode == Mode::paper_exact) return std::nullopt;
    return budget();
  }

 private:
  Diagnostic at(const char* code, std::size_t group, std::string message) const {
    const semantics::Span span = config_.warps ? (*config_.warps)[group].span : stmt_.span;
    return make_diagnostic(code, context_.procedure.location(span.begin < span.end ? span : stmt_.span),
                           std::move(message));
  }

  std::optional<Diagnostic> values() const {
    const auto& groups = facts_.warp_groups;
    std::vector<std::int64_t> lowered;
    for (const auto& g : groups) {
      if (g.setmaxnreg_dec) lowered.push_back(*g.setmaxnreg_dec);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto value = request(groups[i]);
      if (value && !legal_count(*value)) {
        return at(
            "E-W11", i,
            fmt::format("warp group `{}` asks for {} registers; setmaxnreg takes multiples of 8 in [24, 256]",
                        groups[i].name, *value));
      }
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto& raised = groups[i].setmaxnreg_inc;
      if (raised && std::find(lowered.begin(), lowered.end(), *raised) != lowered.end()) {
        return at(
            "E-W12", i,
            fmt::format(
                "{} registers are asked for both with setmaxnreg_dec and with setmaxnreg_inc; a count is "
                "reached from one side only",
                *raised));
      }
    }
    return std::nullopt;
  }

  // setmaxnreg is executed by whole warpgroups. A group without a request differs from one with a request
  // (K9).
  std::optional<Diagnostic> uniformity() const {
    const auto& groups = facts_.warp_groups;
    const std::int64_t block_dim = facts_.geometry.block_dim;
    if (block_dim % 128 != 0) {
      const auto first =
          std::find_if(groups.begin(), groups.end(), [](const auto& g) { return request(g).has_value(); });
      return at(
          "E-W09", static_cast<std::size_t>(first - groups.begin()),
          fmt::format("setmaxnreg needs a blockDim that is a multiple of 128, but blockDim={}", block_dim));
    }
    for (std::size_t i = 1; i < groups.size(); ++i) {
      if (request(groups[i]) == request(groups[i - 1]) || groups[i].first_warp % 4 == 0) continue;
      return at(
          "E-W10", i,
          fmt::format(
              "the setmaxnreg value changes at warp {} between `{}` and `{}`; it must be uniform in every "
              "warpgroup of 128 threads, so a change is possible only at a multiple of 4 warps",
              groups[i].first_warp, groups[i - 1].name, groups[i].name));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> budget() const {
    const std::int64_t at_launch = launch_registers(facts_.geometry.block_dim, facts_.blocks_per_sm);
    std::int64_t total = 0;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < facts_.warp_groups.size(); ++i) {
      const auto& g = facts_.warp_groups[i];
      const std::int64_t per_thread = request(g).value_or(at_launch);
      total += g.count * warp_threads * per_thread;
      if (g.setmaxnreg_inc && *g.setmaxnreg_inc >= request(facts_.warp_groups[largest]).value_or(0))
        largest = i;
    }
    const std::int64_t available = at_launch * facts_.geometry.block_dim;
    if (total > available) {
      return at(
          "E-W13", largest,
          fmt::format(
              "the warps of a CTA ask for {} registers in all, but only {} are there ({} threads with {} "
              "registers each at launch); the warps that raise their count would wait for ever",
              total, available, facts_.geometry.block_dim, at_launch));
    }
    for (std::size_t i = 0; i < facts_.warp_groups.size(); ++i) {
      const auto& g = facts_.warp_groups[i];
      if (g.setmaxnreg_dec && *g.setmaxnreg_dec > at_launch) {
        context_.diagnostics.push_back(
            at("W-W13", i,
               fmt::format("warp group `{}` lowers its count to {} registers, but a thread has only {} at "
                           "launch",
                           g.name, *g.setmaxnreg_dec, at_launch)));
      }
      if (g.setmaxnreg_inc && *g.setmaxnreg_inc < at_launch) {
        context_.diagnostics.push_back(
            at("W-W13", i,
               fmt::format("warp group `{}` raises its count to {} registers, but a thread has {} at launch "
                           "already",
                           g.name, *g.setmaxnreg_inc, at_launch)));
      }
    }
    return std::nullopt;
  }

  PassContext& context_;
  const ir::Stmt& stmt_;
  const ir::LaunchConfig& config_;
  const LaunchFacts& facts_;
};

}  // namespace

std::int64_t launch_registers(std::int64_t block_dim, std::int64_t blocks_per_sm) {
  const std::int64_t share = register_file / block_dim / blocks_per_sm;
  return std::min(share / 8 * 8, maximum_per_thread);
}

std::optional<Diagnostic> check_registers(PassContext& context, const ir::Stmt& stmt,
                                          const ir::LaunchConfig& config, const LaunchFacts& facts) {
  return Registers(context, stmt, config, facts).run();
}

}  // namespace exocheck::analysis
