#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "frontend/meta.hpp"
#include "frontend/printer_text.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {

using semantics::ir::overloaded;

namespace {

std::string joined(const std::vector<MetaValue>& items) {
  std::string out;
  for (const MetaValue& v : items) {
    if (!out.empty()) out += ", ";
    out += meta_text(v);
  }
  return out;
}

}  // namespace

std::string meta_text(const MetaValue& value) {
  return std::visit(overloaded{
                        [](const MetaNone&) { return std::string("None"); },
                        [](bool b) { return std::string(b ? "True" : "False"); },
                        [](std::int64_t i) { return std::to_string(i); },
                        [](double d) { return real_text(d); },
                        [](const std::string& s) { return string_text(s); },
                        [](semantics::Precision p) { return std::string(semantics::name(p)); },
                        [](const semantics::CollUnit& u) { return unit_text(u); },
                        [](const semantics::MemoryType& m) { return m.text(); },
                        [](const semantics::MechanismType& m) { return m.text(); },
                        [](semantics::SyncTl t) { return std::string(semantics::name(t)); },
                        [](semantics::InstrTimeline t) { return std::string(semantics::name(t)); },
                        [](semantics::Qual q) { return std::string(semantics::qual_record(q).long_name); },
                        [](const semantics::SizeExpr& s) { return semantics::to_string(s); },
                        [](const MetaWarpConfig& w) {
                          return fmt::format("CudaWarpConfig({}, {}, setmaxnreg_dec={}, setmaxnreg_inc={})",
                                             meta_text(w.fields[0]), meta_text(w.fields[1]),
                                             meta_text(w.fields[2]), meta_text(w.fields[3]));
                        },
                        [](const MetaTuple& t) {
                          return fmt::format("({}{})", joined(t.items), t.items.size() == 1 ? "," : "");
                        },
                        [](const MetaList& l) { return fmt::format("[{}]", joined(l.items)); },
                        [](const MetaSet& s) { return fmt::format("{{{}}}", joined(s.items)); },
                        [](const MetaDict& d) {
                          std::string out;
                          for (const auto& [key, item] : d.items) {
                            out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, meta_text(item));
                          }
                          return fmt::format("{{{}}}", out);
                        },
                        [](const MetaWord& w) { return w.text; },
                    },
                    value.value);
}

std::string_view meta_kind(const MetaValue& value) {
  return std::visit(
      overloaded{
          [](const MetaNone&) { return std::string_view("None"); },
          [](bool) { return std::string_view("a boolean"); },
          [](std::int64_t) { return std::string_view("an integer"); },
          [](double) { return std::string_view("a real number"); },
          [](const std::string&) { return std::string_view("a string"); },
          [](semantics::Precision) { return std::string_view("a precision"); },
          [](const semantics::CollUnit&) { return std::string_view("a collective unit"); },
          [](const semantics::MemoryType&) { return std::string_view("a memory"); },
          [](const semantics::MechanismType&) { return std::string_view("a barrier mechanism"); },
          [](semantics::SyncTl) { return std::string_view("a sync timeline"); },
          [](semantics::InstrTimeline) { return std::string_view("an instruction timeline"); },
          [](semantics::Qual) { return std::string_view("a qualitative timeline"); },
          [](const semantics::SizeExpr&) { return std::string_view("a block or cluster size"); },
          [](const MetaWarpConfig&) { return std::string_view("a warp configuration"); },
          [](const MetaTuple&) { return std::string_view("a tuple"); },
          [](const MetaList&) { return std::string_view("a list"); },
          [](const MetaSet&) { return std::string_view("a set"); },
          [](const MetaDict&) { return std::string_view("a dictionary"); },
          [](const MetaWord&) { return std::string_view("a word"); },
      },
      value.value);
}

}  // namespace exocheck::frontend
