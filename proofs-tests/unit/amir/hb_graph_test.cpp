// The graph of a counterexample as data, and its drawing.
#include "amir/graphviz.hpp"
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using amir::EdgeKind;
using amir::EventKind;
using amir::HbGraph;

namespace {

// The writer's fence reaches the store's thread in time only.
const std::string program = R"(
def store(C: f32[32, 32] @ CudaGmemLinear):
    C_tm = C[:, :] @ Sm90_tensorMap(0, 32, 32)
    with CudaDeviceFunction(blockDim=128):
        for task in cuda_tasks(0, 1):
            st: f32[32, 32] @ CudaSmemLinear
            for t in cuda_threads(0, 128, unit=cuda_thread):
                for j in seq(0, 8):
                    st[t % 32, (t / 32) * 8 + j] = 1.0
            Fence(cuda_in_order, cuda_in_order)
            with CudaWarps(0, 1):
                Sm90_copy_tensor_to_gmem_linear_2f32(C_tm[0:32, 0:32], st[:, :], size0=32, size1=32)
                cg: barrier @ CudaCommitGroup
                Arrive(tma_to_gmem_async, 1) >> cg
                Await(cg, cuda_in_order, 0)
            Fence(cuda_in_order, cuda_in_order)
)";

HbGraph graph_of(const std::string& text) {
  auto result = check_text(text);
  REQUIRE(result.counterexample);
  return std::move(result.counterexample->graph);
}

int count(const HbGraph& graph, EdgeKind kind) {
  return static_cast<int>(
      std::count_if(graph.edges.begin(), graph.edges.end(), [&](const auto& e) { return e.kind == kind; }));
}

}  // namespace

TEST_CASE("The graph shows both accesses, the fence in between and why it does not help") {
  const HbGraph g = graph_of(program);
  REQUIRE(g.events.size() == 3);
  CHECK(g.events.front().kind == EventKind::first_access);
  CHECK(g.events.front().line == 9);
  CHECK(g.events[1].kind == EventKind::fence);
  CHECK(g.events[1].line == 10);
  CHECK(g.events.back().kind == EventKind::second_access);
  CHECK(g.events.back().line == 12);
  CHECK(count(g, EdgeKind::hazard) == 1);
  CHECK(count(g, EdgeKind::published) == 1);
  CHECK(count(g, EdgeKind::near_miss) == 1);
  for (const auto& e : g.edges) {
    CHECK(e.from < e.to);
    if (e.kind == EdgeKind::near_miss) CHECK(e.label.find("in time only") != std::string::npos);
    if (e.kind == EdgeKind::hazard) CHECK((e.from == 0 && e.to == 2));
  }
  CHECK(g.title.find("st[") != std::string::npos);
}

TEST_CASE("Every event lies in a lane named after its threads") {
  const HbGraph g = graph_of(program);
  REQUIRE(g.lanes.size() == 3);
  CHECK(g.lanes[g.events[1].lane].title == "all 128 threads of task 0");
  CHECK(g.lanes[g.events[2].lane].title == "warp 0 of cta 0, task 0");
}

TEST_CASE("DOT and SVG are complete and the same every time") {
  const HbGraph g = graph_of(program);
  const std::string dot = amir::write_dot(g);
  CHECK(dot.starts_with("digraph"));
  CHECK(dot.find("cluster_0") != std::string::npos);
  CHECK(dot.find("ordered in time, but its") != std::string::npos);
  CHECK(dot == amir::write_dot(g));
  const std::string svg = amir::write_svg(g);
  CHECK(svg.find("<svg") != std::string::npos);
  CHECK(svg.find("</svg>") != std::string::npos);
  CHECK(svg.find("SECOND ACCESS") != std::string::npos);
  CHECK(svg == amir::write_svg(g));
}

TEST_CASE("Markup characters of the program do not break the drawing") {
  HbGraph g = graph_of(program);
  g.events[1].statement = "if a < b & c > \"d\": \x01";
  g.events[1].where = "<b>";
  g.lanes[0].title = "a \"quoted\" <lane> \\ & more";
  CHECK(amir::write_svg(g).find("</svg>") != std::string::npos);
  CHECK(amir::write_dot(g).find("&lt;") != std::string::npos);
}
