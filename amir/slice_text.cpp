#include "amir/slice_text.hpp"

#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::overloaded;

void put(Key& out, const Linear& a) {
  out.push_back(static_cast<std::int64_t>(a.terms.size()));
  for (const auto& [id, factor] : a.terms) out.insert(out.end(), {static_cast<std::int64_t>(id), factor});
  out.push_back(a.constant);
}

namespace {

void write(const std::vector<Item>& items, const Slice& slice, Key& out) {
  const auto num = [](auto v) { return static_cast<std::int64_t>(v); };
  for (const Item& item : items) {
    out.push_back(num(item.kind));
    if (item.kind == Item::Kind::loop) {
      out.push_back(num(item.block->iterator));
      put(out, item.block->lo);
      put(out, item.block->hi);
    }
    if (item.kind == Item::Kind::branch) out.push_back(num(item.block->condition));
    if (item.kind != Item::Kind::leaf) {
      write(item.block->body, slice, out);
      out.push_back(-1);
      write(item.block->otherwise, slice, out);
      out.push_back(-2);
      continue;
    }
    const SliceLeaf& leaf = slice.leaves[item.leaf];
    out.push_back(num(leaf.node->node.index()));
    out.push_back(num(leaf.hit));
    out.push_back(num(leaf.threads.ranges().size()));
    for (const ThreadRange& r : leaf.threads.ranges()) out.insert(out.end(), {r.lo, r.hi});
    for (const BarrierPart& part : leaf.barriers) {
      if (part.elements) {
        out.push_back(num(part.elements->size()));
        for (const std::int64_t flat : *part.elements) out.push_back(num(*slice.find(part.var, flat)));
      } else {
        out.insert(out.end(), {-3, num(index(part.var))});
        for (const auto& i : part.index) put(out, i ? *i : Linear{{}, -1});
      }
    }
    std::visit(
        overloaded{
            [&](const prog::Check& s) {
              out.insert(out.end(),
                         {s.reads, s.convergent, num(s.level), s.quals.bits(), num(s.purpose), s.overwrites});
            },
            [&](const prog::Record& s) {
              out.insert(out.end(), {s.mutate, s.convergent, s.in_order, num(s.qual), s.atomic.bits()});
            },
            [&](const prog::Fence& s) {
              out.insert(out.end(), {s.transitive, s.first.bits(), s.full.bits(), s.temporal.bits()});
            },
            [&](const prog::Arrive& s) {
              out.insert(out.end(), {s.transitive, s.first.bits()});
            },
            [&](const prog::Await& s) {
              out.insert(out.end(), {s.full.bits(), s.temporal.bits(), s.n});
            },
            [&](const prog::Loop&) {},
            [&](const prog::Branch&) {},
            [&](const prog::IncTask&) {},
            [&](const prog::InitRead&) {},
            [&](const prog::InitWrite&) {},
            // Of barriers: which elements are meant.
            [&](const auto& s) {
              out.push_back(slice.var == s.var ? 1 : 0);
              for (std::uint32_t i = 0; i < slice.barriers.size(); ++i) {
                if (slice.barriers[i].var == s.var) out.push_back(num(i));
              }
            },
        },
        leaf.node->node);
  }
}

}  // namespace

Key text_of(const Unit& unit, const Slice& slice) {
  const auto variable = [&](VarId v) -> const prog::Variable& { return unit.program->variables[index(v)]; };
  Key text;
  text.push_back(slice.var ? 1 : 0);
  if (slice.var) text.push_back(variable(*slice.var).registers);
  for (const SliceBarrier& b : slice.barriers) {
    text.insert(text.end(), {b.group, variable(b.var).lowered == semantics::LoweredBarrier::cluster_sync});
  }
  write(slice.items, slice, text);
  return text;
}

}  // namespace exocheck::amir::slices
