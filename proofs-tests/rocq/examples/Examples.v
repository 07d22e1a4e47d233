(* The worked examples of the specification (6.1 - 6.6) and the known holes (H1 - H3, S1), as kernel-checked verdicts. *)
From Coq Require Import NArith ZArith List Bool.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Timelines RingProgram Param.
Import ListNotations.
Open Scope N_scope.

Ltac ok := match goal with |- accepts ?m ?st ?s =>
  let r := eval vm_compute in (interp m st s 0 [] xst0) in match r with XOK ?x => apply (cert_ok m st s x); vm_compute; reflexivity end end.
Ltac bad := apply cert_err; vm_compute; reflexivity.

Definition box (n lo len : Z) : tmap := TCub [dim n (CK lo) len].
Definition READs lab f cvg a q Zs := READ lab f cvg false a q (single q) Zs.
Definition x : acx := pt 20 [] [].
Definition INS lab f := MUT lab f false false ft x ram (single ram) 0 [].         (* synchronous write of x *)
Definition RDS lab f := READs lab f false x ram [].

(* 6.1 *)
Definition e61 (fence : bool) := seqs [
  MUT 1 (box 2 0 1) false false ft (pt vS [2%Z] [CK 0]) ram (single ram) 0 []; MUT 1 (box 2 1 1) false false ft (pt vS [2%Z] [CK 1]) ram (single ram) 0 [];
  if fence then FENCE 2 (box 2 0 2) cuda_in_order cuda_in_order else Skip;
  READs 3 (box 2 0 1) false (pt vS [2%Z] [CK 1]) ram []; READs 3 (box 2 1 1) false (pt vS [2%Z] [CK 0]) ram []].
Example e61_raw : rejects default_mode 64 (e61 false) (3, KMut, Some (vS, [1%Z])). Proof. bad. Qed.
Example e61_ok : accepts default_mode 64 (e61 true). Proof. ok. Qed.

(* 6.2 *)
Definition w := box 128 0 128.
Definition e62 (wait : bool) := seqs [
  FENCE 1 w wgmma_fence_1 wgmma_fence_2;
  MUT 2 w true false ft (bar vD) wg0 (single wg0) 0 [];
  READ 3 w false true (bar vA) wgS (single wgS) []; MUT 3 w true false ff (bar vD) wgD (qs [wgD; wg0]) 0 [];
  if wait then seqs [ARRIVE false 4 w wgmma_async (bar cg) [bar cg]; AWAIT false 5 w (bar cg) cuda_in_order 0] else Skip;
  READs 6 w true (bar vD) rmem []].
Example e62_raw : rejects default_mode 128 (e62 false) (6, KMut, Some (vD, [])). Proof. bad. Qed.
Example e62_ok : accepts default_mode 128 (e62 true). Proof. ok. Qed.

(* 6.3: cluster of two CTAs *)
Definition yc := 7. Definition cs := 21.
Definition cta1 : tmap := TCub [dim 2 (CV yc) 1; all_of 128].
Definition clus : tmap := TCub [all_of 2; all_of 128].
Definition at_c v := pt v [2%Z] [CV yc].
Definition each s := For yc (CK 0) (CK 2) s.
Definition e63 (late : bool) := let wait := each (AWAIT false 5 cta1 (at_c cg) cuda_in_order 0) in seqs [
  each (READs 1 cta1 false (at_c vA) ram []);
  each (seqs [READ 2 cta1 false true (at_c vA) wgS (single wgS) []; MUT 2 cta1 true false ff (at_c vD) wgD (qs [wgD; wg0]) 0 []]);
  each (ARRIVE false 3 cta1 wgmma_async (at_c cg) [at_c cg]);
  if late then Skip else wait;
  ARRIVE false 4 clus cuda_in_order (bar cs) [bar cs];
  if late then wait else Skip;
  each (READs 6 cta1 true (at_c vD) rmem []);
  AWAIT false 7 clus (bar cs) cuda_in_order 0;
  MUT 8 clus false true ft (whole vA [2%Z]) g2s (single g2s) 0 []].
Example e63_war : rejects default_mode 256 (e63 true) (8, KRead, Some (vA, [0%Z])). Proof. bad. Qed.
Example e63_ok : accepts default_mode 256 (e63 false). Proof. ok. Qed.
Example e63_war_paper : rejects paper_exact 256 (e63 true) (8, KRead, Some (vA, [0%Z])). Proof. bad. Qed.

(* 6.6: proxy fence and free; thread 0 = a, thread 1 = b *)
Definition a := box 2 0 1. Definition b := box 2 1 1. Definition ab := box 2 0 2.
Definition e66 (t2 : synctl) (last : bool) := let s := pt vS [2%Z] in seqs [
  MUT 1 a false false ft (s [CK 0]) ram (single ram) 0 []; MUT 1 b false false ft (s [CK 1]) ram (single ram) 0 [];
  FENCE 2 ab cuda_in_order t2;
  READ 3 a false true (whole vS [2%Z]) s2g (single s2g) [];
  ARRIVE false 4 a tma_to_gmem_async (bar cg) [bar cg]; AWAIT false 5 a (bar cg) cuda_in_order 0;
  if last then FENCE 6 ab cuda_in_order cuda_in_order else Skip;
  Leaf 7 ab (LChk true false ft (whole vS [2%Z]) (single ram)); Leaf 8 ab (LChk false false ft (whole vS [2%Z]) (single ram))].
Example e66_raw : rejects default_mode 64 (e66 cuda_in_order true) (3, KMut, Some (vS, [0%Z])) \/ rejects default_mode 64 (e66 cuda_in_order true) (3, KMut, Some (vS, [1%Z])).
Proof. first [left; bad|right; bad]. Qed.
Example e66_free : rejects default_mode 64 (e66 tma_to_gmem_async false) (7, KMut, Some (vS, [0%Z])) \/ rejects default_mode 64 (e66 tma_to_gmem_async false) (7, KMut, Some (vS, [1%Z])).
Proof. first [left; bad|right; bad]. Qed.
Example e66_ok : accepts default_mode 64 (e66 tma_to_gmem_async true). Proof. ok. Qed.

(* H1 temporal laundering: accepted by the paper's rules, rejected by default *)
Definition thr4 k := box 4 k 1.
Definition h1 := seqs [
  MUT 1 (thr4 0) false true ft x g2s (single g2s) 0 [bar raw];
  ARRIVE false 2 (thr4 0) cuda_temporal (bar raw) [bar raw];
  AWAIT false 3 (thr4 1) (bar raw) cuda_temporal (-1);
  ARRIVE false 4 (thr4 1) cuda_in_order (bar war) [bar war];
  AWAIT false 5 (thr4 2) (bar war) cuda_in_order (-1);
  RDS 6 (thr4 2)].
Example h1_paper : accepts paper_exact 64 h1. Proof. ok. Qed.
Example h1_default : rejects default_mode 64 h1 (6, KMut, Some (20, [])). Proof. bad. Qed.
(* H2 unordered satisfies atomic *)
Definition h2 := seqs [
  MUT 1 (thr4 0) false true ft x s2g (single s2g) 0 [];
  MUT 2 (thr4 0) false true fa x s2g (single s2g) (single s2g) []].
Example h2_paper : accepts paper_exact 64 h2. Proof. ok. Qed.
Example h2_default : rejects default_mode 64 h2 (2, KMut, Some (20, [])). Proof. bad. Qed.
(* H3 atomics forget reads *)
Definition h3 := seqs [
  RDS 1 (thr4 0); FENCE 2 (box 4 0 2) cuda_in_order cuda_in_order;
  MUT 3 (thr4 1) false false fa x ram (single ram) (single ram) [];
  MUT 4 (thr4 2) false false fa x ram (single ram) (single ram) []].
Example h3_paper : accepts paper_exact 64 h3. Proof. ok. Qed.
Example h3_default : rejects default_mode 64 h3 (4, KRead, Some (20, [])). Proof. bad. Qed.
(* S1: pending arrivals must not survive a new allocation of the barrier *)
Definition s1 := seqs [
  Leaf 1 (box 4 0 4) (LAlloc (bar raw)); INS 2 (thr4 0);
  ARRIVE false 3 (thr4 0) cuda_in_order (bar raw) [bar raw]; AWAIT false 4 (thr4 1) (bar raw) cuda_in_order (-1);
  Leaf 5 (box 4 0 4) (LBar (bar raw)); Leaf 6 (box 4 0 4) (LAlloc (bar raw));
  ARRIVE false 7 (thr4 2) cuda_in_order (bar raw) [bar raw]; AWAIT false 8 (thr4 3) (bar raw) cuda_in_order (-1);
  RDS 9 (thr4 3)].
Example s1_default : rejects default_mode 64 s1 (9, KMut, Some (20, [])). Proof. bad. Qed.
(* H9: setting scale-d to zero must not forget an ordinary write of the accumulator *)
Definition h9 := seqs [
  MUT 1 w true false ft (bar vD) rmem (single rmem) 0 []; FENCE 2 w cuda_in_order cuda_in_order;
  MUT 3 w true false ft (bar vD) wg0 (single wg0) 0 []; MUT 4 w true false ff (bar vD) wgD (qs [wgD; wg0]) 0 []].
Example h9_paper : accepts paper_exact 128 h9. Proof. ok. Qed.
Example h9_default : rejects default_mode 128 h9 (4, KMut, Some (vD, [])). Proof. bad. Qed.
