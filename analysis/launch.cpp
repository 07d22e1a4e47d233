// Launch parameters (language.md 8.2, decisions.md K8, K9).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "analysis/launch_registers.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Diagnostic;
using semantics::make_diagnostic;

// What the hardware of sm_90 can launch.
constexpr std::int64_t hardware_block_dim = 1024;
constexpr std::int64_t hardware_cluster_dim = 16;
// Ours: more threads per cluster than this are not analysed.
constexpr std::int64_t maximum_threads = std::int64_t{1} << 20;

bool power_of_two(std::int64_t value) {
  return value >= 1 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

bool identifier_characters(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

class LaunchCheck {
 public:
  LaunchCheck(PassContext& context, const ir::Stmt& stmt, const ir::LaunchConfig& config)
      : context_(context), stmt_(stmt), config_(config) {}

  // One error per device function at most (decisions.md C14).
  void run() {
    LaunchFacts facts;
    if (auto error = find_error(facts)) {
      context_.diagnostics.push_back(std::move(*error));
      return;
    }
    hardware_warnings(facts);
    context_.facts.launch[stmt_.id] = std::move(facts);
  }

 private:
  Diagnostic at(const char* code, std::string message) const {
    return at(code, stmt_.span, std::move(message));
  }
  Diagnostic at(const char* code, semantics::Span span, std::string message) const {
    const bool known = span.begin < span.end;
    return make_diagnostic(code, context_.procedure.location(known ? span : stmt_.span), std::move(message));
  }

  std::optional<Diagnostic> find_error(LaunchFacts& facts) const {
    if (!config_.cluster_dim_valid || !power_of_two(config_.cluster_dim)) {
      return at("E-W01",
                config_.cluster_dim_valid
                    ? fmt::format("clusterDim={} is not a power of two of at least 1", config_.cluster_dim)
                    : std::string("clusterDim must be an integer power of two of at least 1"));
    }
    const bool has_block = config_.block_dim.has_value() || config_.block_dim_real.has_value();
    if (has_block == config_.warps.has_value()) {
      return at("E-W03", has_block ? "blockDim and warp_config are both given; keep one of them"
                                   : "the device function needs either blockDim or warp_config");
    }
    if (config_.block_dim_real) {
      return at("E-W02",
                fmt::format("blockDim={} is not a positive multiple of 32", *config_.block_dim_real));
    }
    if (config_.block_dim && (*config_.block_dim <= 0 || *config_.block_dim % 32 != 0)) {
      return at("E-W02", fmt::format("blockDim={} is not a positive multiple of 32", *config_.block_dim));
    }
    if (!config_.blocks_per_sm_valid || config_.blocks_per_sm <= 0) {
      return at("E-W04",
                config_.blocks_per_sm_valid
                    ? fmt::format("blocks_per_sm={} is not a positive integer", config_.blocks_per_sm)
                    : std::string("blocks_per_sm must be a positive integer"));
    }
    if (config_.warps) {
      if (auto error = find_warp_error()) return error;
    }
    facts.blocks_per_sm = config_.blocks_per_sm;
    facts.geometry.cluster_dim = config_.cluster_dim;
    std::int64_t first = 0;
    if (config_.warps) {
      for (const ir::WarpConfig& w : *config_.warps) {
        if (w.count > maximum_threads) return too_many_threads();
        facts.warp_groups.push_back({w.name, first, w.count, w.setmaxnreg_dec, w.setmaxnreg_inc});
        first += w.count;
        if (first > maximum_threads) return too_many_threads();
      }
      facts.geometry.block_dim = 32 * first;
    } else {
      facts.geometry.block_dim = *config_.block_dim;
      facts.warp_groups.push_back({"", 0, *config_.block_dim / 32, std::nullopt, std::nullopt});
    }
    if (facts.geometry.block_dim > maximum_threads / facts.geometry.cluster_dim) return too_many_threads();
    return check_registers(context_, stmt_, config_, facts);
  }

  Diagnostic too_many_threads() const {
    return at("L-07",
              fmt::format("a cluster of this device function has more than {} threads, more than the checker "
                          "handles",
                          maximum_threads));
  }

  std::optional<Diagnostic> find_warp_error() const {
    if (config_.warps->empty()) return at("E-W02", "warp_config is empty, so that blockDim would be 0");
    std::set<std::string> names;
    for (const ir::WarpConfig& w : *config_.warps) {
      if (w.count <= 0) {
        return at("E-W05", w.span,
                  fmt::format("warp group `{}` has {} warps; it needs at least one", w.name, w.count));
      }
      if (w.setmaxnreg_dec && w.setmaxnreg_inc) {
        return at("E-W06", w.span,
                  fmt::format(
                      "warp group `{}` has both setmaxnreg_dec and setmaxnreg_inc; a group either lowers or "
                      "raises its register count",
                      w.name));
      }
      if (!identifier_characters(w.name)) {
        return at("E-W08", w.span,
                  fmt::format("the warp name `{}` may contain only letters, digits and underscores", w.name));
      }
      if (!names.insert(w.name).second) {
        return at("E-W07", w.span, fmt::format("the warp name `{}` is used twice", w.name));
      }
    }
    return std::nullopt;
  }

  void hardware_warnings(const LaunchFacts& facts) const {
    if (facts.geometry.block_dim > hardware_block_dim) {
      context_.diagnostics.push_back(at(
          "W-W02",
          fmt::format("blockDim={} is more than the {} threads that the hardware allows in a CTA; the check "
                      "goes on, but the kernel cannot be launched",
                      facts.geometry.block_dim, hardware_block_dim)));
    }
    if (facts.geometry.cluster_dim > hardware_cluster_dim) {
      context_.diagnostics.push_back(
          at("W-W02",
             fmt::format("clusterDim={} is more than the {} CTAs that the hardware allows in a cluster; the "
                         "check goes on, but the kernel cannot be launched",
                         facts.geometry.cluster_dim, hardware_cluster_dim)));
    }
  }

  PassContext& context_;
  const ir::Stmt& stmt_;
  const ir::LaunchConfig& config_;
};

}  // namespace

void check_launch(PassContext& context) {
  ir::for_each_stmt(context.procedure.body, [&context](const ir::Stmt& s) {
    if (const auto* f = std::get_if<ir::DeviceFunction>(&s.node)) LaunchCheck(context, s, f->config).run();
  });
}

}  // namespace exocheck::analysis
