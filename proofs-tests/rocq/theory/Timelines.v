(* The timelines of the language, written down by hand from its description.  generated/RuleCheck.v proves by computation
   that the tables of the C++ checker (generated/Tables.v) are these. *)
From Coq Require Import NArith List.
From Exocheck Require Import Tset Base.
Import ListNotations.
Open Scope N_scope.

(* Qualitative timelines: the mechanism by which an element is touched.  The number is the bit in a mask. *)
Definition cpu : qtl := 0.      (* plain CPU code *)
Definition strm : qtl := 1.     (* operand of a call queued on the CUDA stream *)
Definition rmem : qtl := 2.     (* register, synchronous device code *)
Definition ram : qtl := 3.      (* shared or global memory, synchronous device code *)
Definition mbar : qtl := 4.     (* use of an mbarrier object; dialect R only *)
Definition cp80 : qtl := 5.     (* cp.async *)
Definition g2s : qtl := 6.      (* TMA into shared memory *)
Definition s2g : qtl := 7.      (* TMA into global memory *)
Definition wgA : qtl := 8.      (* wgmma: register operand A *)
Definition wgD : qtl := 9.      (* wgmma: accumulator D *)
Definition wgS : qtl := 10.     (* wgmma: operand in shared memory *)
Definition wg0 : qtl := 11.     (* wgmma: the pseudo write that sets scale-d to zero *)
Definition async : qtl := 12.   (* dialect R only *)
Definition qs (l : list qtl) : mask := msk l.

(* Device timelines; those that a temporal ordering reaches; those of the async proxy. *)
Definition DEV : mask := qs [strm; rmem; ram; cp80; g2s; s2g; wgA; wgD; wgS].
Definition TMP : mask := N.lor DEV (qs [wg0]).
Definition APX : mask := qs [g2s; s2g; wgS].

(* A timeline named in Fence, Arrive or Await: is it transitive, what does it order fully, what does it order at least in
   time. *)
Record synctl := { s_tr : bool; s_full : mask; s_temp : mask }.
Definition mk tr f t := {| s_tr := tr; s_full := f; s_temp := t |}.
Definition empty_sync_tl := mk false 0 0.
Definition cpu_in_order := mk true (qs [cpu]) (qs [cpu]).
Definition cuda_stream_sync := mk true DEV DEV.
Definition cuda_in_order := mk true (qs [rmem; ram]) TMP.
Definition cuda_temporal := mk false 0 TMP.
Definition Sm80_cp_async := mk false (qs [cp80]) (qs [cp80]).
Definition Sm80_generic := mk false (qs [rmem; ram; cp80]) TMP.
Definition tma_to_smem_async := mk false (qs [g2s]) (qs [g2s]).
Definition tma_to_gmem_async := mk false (qs [s2g]) (qs [s2g]).
Definition wgmma_async_smem := mk false (qs [wgS]) (qs [wgS]).
Definition wgmma_fence_1 := mk false (qs [rmem; wgA; wgD]) (qs [rmem; wgA; wgD]).
Definition wgmma_fence_2 := mk false (qs [wgA; wgD]) (qs [wgA; wgD]).
Definition wgmma_async := mk false (qs [wgA; wgD; wgS]) (qs [wgA; wgD; wgS]).
Definition cuda_async_proxy := mk false APX APX.
Definition cuda_async_proxy_wgmma := mk false (N.lor APX (qs [wgA; wgD])) (N.lor APX (qs [wgA; wgD])).
Definition cuda_generic_and_async_proxy := mk false (N.lor (qs [rmem; ram; cp80]) APX) TMP.

Definition all_synctl := [empty_sync_tl; cpu_in_order; cuda_stream_sync; cuda_in_order; cuda_temporal; Sm80_cp_async;
  Sm80_generic; tma_to_smem_async; tma_to_gmem_async; wgmma_async_smem; wgmma_fence_1; wgmma_fence_2; wgmma_async;
  cuda_async_proxy; cuda_async_proxy_wgmma; cuda_generic_and_async_proxy].

(* What is ordered fully is ordered in time: the hypothesis of default_accepts_less. *)
Theorem full_in_temp : forallb (fun t => N.eqb (N.ldiff (s_full t) (s_temp t)) 0) all_synctl = true.
Proof. vm_compute. reflexivity. Qed.
(* The two names that Base needs are the ones of the table. *)
Goal q_g2s = g2s /\ q_wg0 = wg0. Proof. split; reflexivity. Qed.
