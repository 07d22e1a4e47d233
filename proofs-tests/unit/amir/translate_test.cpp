// The translation, statement by statement (abstract-machine.md 3; decisions.md E7, E8, N).
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;

namespace {

// Lines of the text that contain `part`, blanks at both ends removed.
std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.find(part) != std::string::npos) out.push_back(line.substr(line.find_first_not_of(' ')));
    begin = end + 1;
  }
  return out;
}

using Lines = std::vector<std::string>;

// A kernel of one task with the given block size; `body` is indented by twelve blanks.
std::string kernel(const std::string& parameters, int block, const std::string& body) {
  return fmt::format(
      "def f({}):\n    with CudaDeviceFunction(blockDim={}):\n        for task in cuda_tasks(0, 1):\n{}",
      parameters, block, body);
}

}  // namespace

TEST_CASE("A kernel is enclosed in two fences of the host, and each task ends in IncTask") {
  const std::string text = amir_text(kernel("x: f32[32] @ CudaGmemLinear", 32,
                                            "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                                            "                x[t] = 1.0\n"));
  const std::string device = "{strm, rmem, ram, cp80, g2s, s2g, wgA, wgD, wgS}";
  CHECK(lines_with(text, "Fence") ==
        Lines{"Fence(transitive, {cpu, strm, rmem, ram, cp80, g2s, s2g, wgA, wgD, wgS}, " + device + ", " +
                  device + ") @all",
              "Fence(transitive, " + device + ", " + device + ", " + device + ") @all"});
  CHECK(lines_with(text, "IncTask").size() == 1);
  CHECK(text.find("for t in loop(0, 32):") != std::string::npos);
}

TEST_CASE("A plain write overwrites at TEMP, an update needs FULL; both are non-convergent") {
  const std::string body =
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                x[t] = 1.0\n"
      "                x[t] += 2.0\n";
  const std::string text = amir_text(kernel("x: f32[32] @ CudaGmemLinear", 32, body));
  CHECK(lines_with(text, "CheckMutates") ==
        Lines{"CheckMutates(non-cvg, temporally ordered, x[t], {ram}) @(t..+1 of 32)",
              "CheckMutates(non-cvg, fully ordered, x[t], {ram}) @(t..+1 of 32)"});
  CHECK(lines_with(text, "CheckReads").size() == 2);
  CHECK(lines_with(text, "RecordMutate").front() ==
        "RecordMutate(non-cvg, fully ordered, x[t], ram, atomic {}, pending {}) @(t..+1 of 32)");
}

TEST_CASE("Reads of the right side come first, from left to right, each once") {
  const std::string body =
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                x[t] = y[t] + x[31 - t] + y[t]\n"
      "                y[t] = 0.0\n";
  const std::string text =
      amir_text(kernel("x: f32[32] @ CudaGmemLinear, y: f32[32] @ CudaGmemLinear", 32, body));
  const Lines records = lines_with(text, "Record");
  REQUIRE(records.size() == 4);
  CHECK(records[0].starts_with("RecordRead(non-cvg, fully ordered, y[t]"));
  CHECK(records[1].starts_with("RecordRead(non-cvg, fully ordered, x[31 - t]"));
  CHECK(records[2].starts_with("RecordMutate(non-cvg, fully ordered, x[t]"));
}

TEST_CASE("Global memory that nobody writes needs no checks; shared memory does") {
  const std::string body =
      "            s: f32[32] @ CudaSmemLinear\n"
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                x[t] = y[t] + s[t]\n"
      "            Fence(cuda_in_order, cuda_in_order)\n";
  const std::string text =
      amir_text(kernel("x: f32[32] @ CudaGmemLinear, y: f32[32] @ CudaGmemLinear", 32, body));
  CHECK(lines_with(text, "y[t]").empty());
  CHECK(lines_with(text, "RecordRead").size() == 1);
}

TEST_CASE("Accesses through windows become accesses to the tensor") {
  const std::string body =
      "            w = x[8:40, 3]\n"
      "            v = w[4:20]\n"
      "            for t in cuda_threads(0, 16, unit=cuda_thread):\n"
      "                v[t] = 1.0\n";
  const std::string text = amir_text(kernel("x: f32[64, 4] @ CudaGmemLinear", 32, body));
  CHECK(lines_with(text, "RecordMutate").front().find("x[12 + t, 3]") != std::string::npos);
}

TEST_CASE("A shared buffer is freed with both checks, by the whole CTA, at TEMP") {
  const std::string body =
      "            s: f32[32] @ CudaSmemLinear\n"
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                s[t] = 1.0\n"
      "            Fence(cuda_in_order, cuda_in_order)\n";
  const std::string text = amir_text(kernel("", 32, body));
  CHECK(lines_with(text, "s[0:32]") ==
        Lines{"CheckMutates(non-cvg, temporally ordered, s[0:32], {ram}) @(0..+32 of 32)",
              "CheckReads(non-cvg, temporally ordered, s[0:32], {ram}) @(0..+32 of 32)"});
  CHECK(lines_with(text, "Free(").size() == 1);
}

TEST_CASE("A TMA copy attaches both sides to the trailing barrier and then uses the barrier") {
  const std::string text = amir_text(
      "def f(A: f32[32, 32] @ CudaGmemLinear):\n"
      "    A_tm = A[:, :] @ Sm90_tensorMap(0, 32, 32)\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            full: barrier @ CudaMbarrier\n"
      "            s: f32[32, 32] @ CudaSmemLinear\n"
      "            Sm90_copy_tensor_to_smem_linear_2f32(s[:, :], A_tm[0:32, 0:32], size0=32, size1=32) >> "
      "full\n"
      "            Arrive(cuda_temporal, 1) >> full\n"
      "            Await(full, cuda_in_order, ~0)\n"
      "            Fence(cuda_in_order, cuda_in_order)\n");
  CHECK(lines_with(text, "g2s, atomic") ==
        Lines{"RecordMutate(non-cvg, unordered, s[0:32, 0:32] clipped, g2s, atomic {}, pending {full}) "
              "@(0..+32 of 32)",
              "RecordRead(cvg, fully ordered, full, g2s, atomic {}, pending {full}) @(0..+32 of 32)"});
  CHECK(lines_with(text, "InitWrite") == Lines{"InitWrite(s[0:32, 0:32] clipped) @(0..+32 of 32)"});
}

TEST_CASE("An atomic reduction demands ATOM of mutates and TEMP of reads") {
  const std::string text = amir_text(
      "def f(C: f32[16, 8] @ CudaGmemLinear):\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 2):\n"
      "            D: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)\n"
      "            Sm80_mma_zero_d_tf32(D[:, :])\n"
      "            Sm80_mma_atomic_reduce_d_row_major_tf32(C[:, :], D[:, :])\n");
  CHECK(lines_with(text, "C[0:16, 0:8]") ==
        Lines{"CheckMutates(non-cvg, atomic only, C[0:16, 0:8] clipped, {ram}) @(0..+32 of 32)",
              "CheckReads(non-cvg, temporally ordered, C[0:16, 0:8] clipped, {ram}) @(0..+32 of 32)",
              "RecordMutate(non-cvg, fully ordered, C[0:16, 0:8] clipped, ram, atomic {ram}, pending {}) "
              "@(0..+32 of 32)"});
}

TEST_CASE("A shuffle touches each shard by its owner, but initialises exactly what it writes") {
  const std::string body =
      "            v: f32[32] @ CudaRmem\n"
      "            o: f32[32] @ CudaRmem\n"
      "            for l in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                v[l] = 1.0\n"
      "            cuda_warp_broadcast_sync_1f32(o[:], v[:], 10, size0=32)\n";
  const std::string text = amir_text(kernel("", 32, body));
  CHECK(lines_with(text, "InitRead") == Lines{"InitRead(v[10] clipped) @(0..+32 of 32)"});
  CHECK(lines_with(text, "InitWrite(o") == Lines{"InitWrite(o[0:32] clipped) @(0..+32 of 32)"});
  CHECK(
      lines_with(
          text,
          "RecordRead(cvg, fully ordered, v[shard] clipped, rmem, atomic {}, pending {}) @(shard..+1 of 32)")
          .size() == 1);
}

TEST_CASE("Guards of a behaviour cut its windows exactly") {
  const std::string text = amir_text(
      "def f(m: size, C: f32[64, 64] @ CudaGmemLinear):\n"
      "    with CudaDeviceFunction(blockDim=128):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            D: f32[64, 64] @ Sm90_RmemMatrixD(64, 64)\n"
      "            Sm90_zero_scale_d_f32(D[:, :], M=64, N=64)\n"
      "            Sm90_mma_store_d_row_major_tf32(m, 40, C[:, :], D[:, :], M=64, N=64)\n");
  CHECK(lines_with(text, "if m < 64:").size() == 1);
  CHECK(lines_with(text, "InitRead(D") == Lines{"InitRead(D[0:m, 0:40] clipped) @(0..+128 of 128)",
                                                "InitRead(D[0:64, 0:40] clipped) @(0..+128 of 128)"});
}
