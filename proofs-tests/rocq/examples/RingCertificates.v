(* Certificates, as an exporter would print them: the program, the claim, and one evaluation by the kernel. *)
From Coq Require Import NArith ZArith List Bool.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast Param Linear SeqPar EndToEnd Disc Collapse AllK Timelines RingProgram.
Import ListNotations.
Open Scope Z_scope.

(* checked, one size: 160 threads, 2-stage ring, 6 iterations *)
Definition ring6 := ring_prog 128 32 2 1 1 6.
Theorem ring6_checked : accepts default_mode 1024 ring6.
Proof. apply cert_checked. vm_compute. reflexivity. Qed.

(* defect: a wait that is one group too late *)
Definition ring6_bug := ring_prog 128 32 2 2 1 6.
Theorem ring6_bug_defect : rejects default_mode 1024 ring6_bug (11%N, KRead, Some (vA, [0])).
Proof. apply cert_err. vm_compute. reflexivity. Qed.

(* proved, all trip counts *)
Definition lags : list (N * Z) := [(raw, -1); (war, -2); (cg, 1)].
Definition ringK (K : Z) := prog (prologue 128 32 2) yk (body 128 32 2 1 1) (epilogue 128 32 2) K.
(* end to end, one size *)
Theorem ring6_sequential : accepts default_mode 1024 ring6 /\ seq_par_equivalent default_mode (fst (unroll 1024 ring6 0 [])).
Proof. apply (sequential_for_one 1024 []). vm_cast_no_check (eq_refl true). Qed.

(* end to end, all trip counts *)
Theorem ring_all_K : forall K, 1 <= K -> accepts default_mode 1024 (ringK K) /\ seq_par_equivalent default_mode (fst (unroll 1024 (ringK K) 0 [])).
Proof. apply (sequential_for_all_K 1024 _ _ _ _ [] lags 1 4 2). vm_cast_no_check (eq_refl true). Qed.
