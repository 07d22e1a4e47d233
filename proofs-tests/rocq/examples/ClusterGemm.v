(* A 2-CTA cluster with TMA multicast of B, per-CTA A, one consumer warpgroup and one producer warp per CTA, 4-stage ring:
   proved for every trip count. *)
From Coq Require Import NArith ZArith List Bool.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast Param Linear SeqPar EndToEnd Disc Collapse AllK Timelines RingProgram.
Import ListNotations.
Open Scope N_scope.

Definition vB := 30. Definition ym := 31. Definition vC := 32.
Section G.
  Variables (R LAG : Z).      (* ring depth; lag of the empty barrier *)
  (* threads of the cluster: 2 x 160; consumers 0..127, producer warp 128..159 of each CTA *)
  Definition oneCTA lo len : tmap := TCub [dim 2 (CV ym) 1; dim 160 (CK lo) len]%Z.
  Definition bothCTA lo len : tmap := TCub [all_of 2; dim 160 (CK lo) len]%Z.
  Definition consG := oneCTA 0 128. Definition prodG := oneCTA 128 32. Definition prods := bothCTA 128 32. Definition clu := bothCTA 0 160.
  Definition each s := For ym (CK 0) (CK 2) s.
  Definition slot v := {| av := v; aext := [CK R; CK 2]; awin := [Pt (CMod (CV yk) (CK R)); Pt (CV ym)]; aclip := false |}.
  Definition slots v := {| av := v; aext := [CK R; CK 2]; awin := [Pt (CMod (CV yk) (CK R)); Rg (CK 0) (CK 1)]; aclip := false |}.
  Definition m1 v := pt v [2%Z] [CV ym].
  Definition mall v := whole v [2%Z].
  Definition gbody : stmt := seqs [
    each (AWAIT true 10 prodG (m1 war) cuda_temporal (-1 - LAG));
    each (seqs [MUT 11 prodG false true ft (slot vA) g2s (single g2s) 0 [m1 raw]; READ 11 prodG true false (m1 raw) g2s (single g2s) [m1 raw]]);
    MUT 12 prods false true ft (slots vB) g2s (single g2s) 0 [mall raw]; READ 12 prods true false (mall raw) g2s (single g2s) [mall raw];
    each (ARRIVE true 13 prodG cuda_temporal (m1 raw) [m1 raw]);
    each (seqs [
      AWAIT true 20 consG (m1 raw) cuda_generic_and_async_proxy (-1);
      FENCE 21 consG wgmma_fence_1 wgmma_fence_2;
      READ 22 consG false true (slot vA) wgS (single wgS) []; READ 22 consG false true (slot vB) wgS (single wgS) [];
      MUT 22 consG true false ff (m1 vD) wgD (qs [wgD; wg0]) 0 [];
      ARRIVE false 23 consG wgmma_async (m1 cg) [m1 cg];
      If (BLe (CK 1) (CV yk)) (AWAIT false 24 consG (m1 cg) cuda_in_order 1)]);
    each (ARRIVE true 25 consG cuda_in_order (m1 war) [mall war])].
  Definition gpro := seqs [
    Leaf 1 clu (LAlloc (whole vA [R; 2%Z])); Leaf 1 clu (LAlloc (whole vB [R; 2%Z])); Leaf 2 clu (LAlloc (mall raw)); Leaf 3 clu (LAlloc (mall war));
    Leaf 4 clu (LAlloc (mall cg)); Leaf 5 clu (LAlloc (mall vD));
    FENCE 6 clu cuda_in_order cuda_generic_and_async_proxy;
    each (MUT 7 consG true false ft (m1 vD) wg0 (single wg0) 0 [])].
  Definition freeG a lab := seqs [Leaf lab clu (LChk true false ft a (single ram)); Leaf lab clu (LChk false false ft a (single ram))].
  Definition gepi := seqs [
    each (seqs [AWAIT false 30 consG (m1 cg) cuda_in_order 0;
                READ 31 consG true false (m1 vD) rmem (single rmem) []; MUT 31 consG false false ft (m1 vC) ram (single ram) 0 []]);
    FENCE 32 clu cuda_in_order cuda_in_order;
    Leaf 33 clu (LBar (mall cg)); freeG (whole vA [R; 2%Z]) 34; freeG (whole vB [R; 2%Z]) 35;
    Leaf 36 clu (LBar (mall raw)); freeG (mall raw) 36; Leaf 37 clu (LBar (mall war)); freeG (mall war) 37].
End G.
Definition lagsG (r : Z) : list (N * Z) := [(raw, -1)%Z; (war, - r)%Z; (cg, 1)%Z].
Theorem gemm_all_K : forall K, (1 <= K)%Z ->
  accepts default_mode 1024 (prog (gpro 4) yk (gbody 4 3) (gepi 4) K) /\
  seq_par_equivalent default_mode (fst (unroll 1024 (prog (gpro 4) yk (gbody 4 3) (gepi 4) K) 0 [])).
Proof. apply (sequential_for_all_K 1024 _ _ _ _ [] (lagsG 4) 1 8 4). vm_cast_no_check (eq_refl true). Qed.
