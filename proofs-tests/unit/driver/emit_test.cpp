// exocheck emit: what it writes, and when it refuses.
#include <catch2/catch.hpp>
#include <filesystem>

#include "command_line.hpp"

using namespace exocheck::driver::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string kernel(const std::string& name) { return std::string(EXOCHECK_SOURCE_DIR) + "/kernels/" + name; }

}  // namespace

TEST_CASE("emit writes the code and the headers of a checked file") {
  const Folder folder("emit");
  const Answer answer =
      call({"emit", kernel("basic/vec_add.exo"), "-o", folder.path("out/deep"), "--size", "n=300"});
  CHECK(answer.err == "");
  CHECK(answer.code == 0);
  CHECK_THAT(answer.out, Contains("vec_add.cu"));
  CHECK_THAT(folder.read("out/deep/vec_add.cu"), Contains("vec_add, checked at n=300."));
  for (const char* name : {"vec_add.h", "xrt.h", "xrt_ring.h", "xrt_types.h", "xrt_device.h",
                           "xrt_emulator.h", "xrt_emu_tma.h"}) {
    CHECK(!folder.read(std::string("out/deep/") + name).empty());
  }
  CHECK(!fs::exists(folder.path("out/deep/xrt_wgmma.h")));
}

TEST_CASE("emit refuses what is not checked, unless asked, and then says so in the output") {
  const Folder folder("emit");
  const std::string broken = kernel("paper/inter_thread_broken.exo");
  const Answer refused = call({"emit", broken, "-o", folder.path("out")});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("sync.raw") && Contains("nothing is emitted"));
  CHECK(!fs::exists(folder.path("out")));
  const Answer forced = call({"emit", broken, "-o", folder.path("out"), "--unverified"});
  CHECK(forced.code == 0);
  CHECK_THAT(folder.read("out/inter_thread_broken.cu"), Contains("NOT VERIFIED: the verdict is defect."));
  CHECK_THAT(folder.read("out/inter_thread_broken.h"), Contains("NOT VERIFIED"));
}

TEST_CASE("emit answers bad input with exit codes") {
  const Folder folder("emit");
  CHECK(call({"emit", folder.path("absent.exo"), "-o", folder.path("out")}).code == 2);
  CHECK(call({"emit", kernel("basic/vec_add.exo")}).code == 2);
  CHECK(call({"emit", kernel("basic/vec_add.exo"), "-o", folder.path("out"), "--size", "m=3"}).code == 2);
  const std::string syntax = folder.file("syntax.exo", "def p(:\n");
  CHECK(call({"emit", syntax, "-o", folder.path("out"), "--unverified"}).code == 2);
  const std::string defective = folder.file(
      "defective.exo", "def p(x: f32[8, 8] @ CudaGmemLinear):\n    m = x[:, :] @ Sm90_tensorMap(48, 8, 8)\n");
  const Answer not_loaded = call({"emit", defective, "-o", folder.path("out"), "--unverified"});
  CHECK(not_loaded.code == 1);
  CHECK_THAT(not_loaded.err, Contains("E-M04"));
  const std::string host = folder.file("host.exo", "def p(x: f32 @ DRAM):\n    x = 1.0\n");
  const Answer nothing = call({"emit", host, "-o", folder.path("out")});
  CHECK(nothing.code == 3);
  CHECK_THAT(nothing.err, Contains("no CudaDeviceFunction"));
  const std::string own = folder.file("own.exo",
                                      "@instr(tl=cuda_in_order_instr, unit=cuda_thread, cuda=\"op({x});\")\n"
                                      "def op(x: index):\n"
                                      "    pass\n"
                                      "def p():\n"
                                      "    with CudaDeviceFunction(blockDim=32):\n"
                                      "        for task in cuda_tasks(0, 1):\n"
                                      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                                      "                op(t)\n");
  const Answer unsupported = call({"emit", own, "-o", folder.path("out")});
  CHECK(unsupported.code == 3);
  CHECK_THAT(unsupported.err, Contains("codegen.unsupported") && Contains("user-defined instruction op"));
  // Something in the way of the folder.
  CHECK(call({"emit", kernel("basic/vec_add.exo"), "-o", syntax}).code == 2);
}
