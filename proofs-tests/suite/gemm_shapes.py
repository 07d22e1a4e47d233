"""Hopper GEMMs for clusters of every shape and rings of several depths, as text: kernels of 64-row tiles small enough to emulate many."""

# Rows and columns of CTAs; stages of the ring, and by how many of them the producer runs ahead.
SHAPES = [(1, 1), (1, 2), (2, 1), (1, 4), (2, 2), (4, 1), (2, 4), (4, 2)]
RINGS = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3), (4, 4)]
# At least one of each shape and one of each ring.
SOME = [((1, 4), (2, 1)), ((4, 1), (3, 2)), ((2, 2), (1, 1)), ((4, 2), (4, 4)), ((2, 4), (2, 2))]


def gemm(shape, ring):
    """C = A * B^T; the consumer keeps a wgmma group in flight where the ring has a stage to spare. Name, text, small sizes."""
    p, q = shape
    stages, lag = ring
    columns = max(16, 8 * p)
    name = f"gemm_{p}x{q}_ring_{stages}_lag_{lag}"
    rows = f"for m in cuda_threads(0, {p}, unit={q} * cuda_cta_in_cluster):"
    cells = f"for n in cuda_threads(0, {q}, unit=cuda_cta_in_cluster):"
    text = f"""\
def {name}(M: size, N: size, K: size, A: f32[M, K] @ CudaGmemLinear, B: f32[N, K] @ CudaGmemLinear, C: f32[M, N] @ CudaGmemLinear):
    A_tm = A[:, :] @ Sm90_tensorMap(128, {64 // q}, 32)
    B_tm = B[:, :] @ Sm90_tensorMap(128, {columns // p}, 32)
    with CudaDeviceFunction(clusterDim={p * q}, warp_config=[CudaWarpConfig("producer", 1), CudaWarpConfig("unused", 3), CudaWarpConfig("consumer", 4)]):
        for mt in cuda_tasks(0, (M + {64 * p - 1}) / {64 * p}):
            for nt in cuda_tasks(0, (N + {columns * q - 1}) / {columns * q}):
                raw: barrier[{p}, {q}] @ CudaMbarrier
                war: barrier(raw)[{p}, {q}] @ CudaMbarrier
                cg: barrier[{p}, {q}] @ CudaCommitGroup
                D: f32[{p}, {q}, 64, {columns}] @ Sm90_RmemMatrixD(64, {columns})
                A_s: f32[{p}, {q}, {stages}, 64, 32] @ Sm90_SmemSwizzled(128)
                B_s: f32[{p}, {q}, {stages}, {columns}, 32] @ Sm90_SmemSwizzled(128)
                with CudaWarps(name="consumer"):
                    {rows}
                        {cells}
                            Sm90_zero_scale_d_f32(D[m, n, :, :], M=64, N={columns})
                for k in seq(0, (K + 31) / 32):
                    with CudaWarps(name="producer"):
                        {rows}
                            {cells}
                                Await(war[m, n], cuda_temporal, ~{lag})
                        {rows}
                            Sm90_multicast_copy_tensor_to_smem_swizzled_2f32(A_s[m, :, k % {stages}, :, :], A_tm[{64 * p} * mt + 64 * m:{64 * p} * mt + 64 * m + 64, 32 * k:32 * k + 32], ncta={q}, cta_stride=1, size0=64, size1=32, smem_box=({64 // q}, 32)) >> raw[m, :]
                        for n in cuda_threads(0, {q}, unit={p} * cuda_cta_in_cluster_strided({q})):
                            Sm90_multicast_copy_tensor_to_smem_swizzled_2f32(B_s[:, n, k % {stages}, :, :], B_tm[{columns * q} * nt + {columns} * n:{columns * q} * nt + {columns} * n + {columns}, 32 * k:32 * k + 32], ncta={p}, cta_stride={q}, size0={columns}, size1=32, smem_box=({columns // p}, 32)) >> raw[:, n]
                        {rows}
                            {cells}
                                Arrive(cuda_temporal, 1) >> raw[m, :] >> raw[:, n]
                    with CudaWarps(name="consumer"):
                        {rows}
                            {cells}
                                Await(raw[m, n], cuda_generic_and_async_proxy, ~0)
                                Fence(wgmma_fence_1, wgmma_fence_2)
                                for kk in seq(0, 4):
                                    Sm90_mma_async_tf32(D[m, n, :, :], A_s[m, n, k % {stages}, :, 8 * kk:8 * kk + 8], B_s[m, n, k % {stages}, :, 8 * kk:8 * kk + 8], M=64, N={columns})
                                Arrive(wgmma_async, 1) >> cg[m, n]
                                Await(cg[m, n], cuda_in_order, {max(stages - lag, 0)})
                                Arrive(cuda_in_order, 1) >> war[m, :] >> war[:, n]
                with CudaWarps(name="consumer"):
                    {rows}
                        {cells}
                            Await(cg[m, n], cuda_in_order, 0)
                            Sm90_mma_store_d_row_major_tf32(M - ({64 * p} * mt + 64 * m), N - ({columns * q} * nt + {columns} * n), C[{64 * p} * mt + 64 * m:{64 * p} * mt + 64 * m + 64, {columns * q} * nt + {columns} * n:{columns * q} * nt + {columns} * n + {columns}], D[m, n, :, :], M=64, N={columns})
                Fence(cuda_in_order, cuda_in_order)
"""
    # Two tasks, more iterations than stages, and no size a multiple of a tile.
    return name, text, f"M={64 * p + 8},N={columns * q - 4},K={32 * stages + 48}"
