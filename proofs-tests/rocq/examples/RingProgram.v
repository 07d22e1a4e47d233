From Coq Require Import NArith ZArith List Bool.
From Exocheck Require Import Tset Base Amir Rules Interp Timelines.
Import ListNotations.
Open Scope N_scope.

(* abbreviations used by the exporter *)
Definition seqs (l : list stmt) : stmt := fold_right Seq Skip l.
Definition pt (v : N) (ext : list Z) (idx : list cx) : acx := {| av := v; aext := map CK ext; awin := map Pt idx; aclip := false |}.
Definition whole (v : N) (ext : list Z) : acx :=
  {| av := v; aext := map CK ext; awin := map (fun e => Rg (CK 0) (CK (e - 1))) ext; aclip := false |}.
Definition f_FULL := ff. Definition f_TEMP := ft. Definition f_ATOM := fa.
Definition READ lab f cvg ooo a q Q Zs := seqs [Leaf lab f (LChk true cvg ff a Q); Leaf lab f (LRec false cvg ooo a q 0 Zs)].
Definition MUT lab f cvg ooo need a q Q Qa Zs :=
  seqs [Leaf lab f (LChk true cvg need a Q); Leaf lab f (LChk false cvg ft a Q); Leaf lab f (LRec true cvg ooo a q Qa Zs)].
Definition FENCE lab f t1 t2 := Leaf lab f (LFence (s_tr t1) (s_full t1) (s_full t2) (s_temp t2)).
Definition BARUSE lab f a := READ lab f true false a ram (single ram) [].
Definition ARRIVE (mb : bool) lab f t1 h Es :=
  seqs [if mb then seqs (map (BARUSE lab f) Es) else Skip; Leaf lab f (LArrive (s_tr t1) (s_full t1) h Es)].
Definition AWAIT (mb : bool) lab f h t2 n :=
  seqs [if mb then BARUSE lab f h else Skip; Leaf lab f (LAwait h (s_full t2) (s_temp t2) n false)].

(* variables *)
Definition vA := 0. Definition vD := 1. Definition raw := 2. Definition war := 3. Definition cg := 4. Definition vS := 5.
Definition yk := 0.
Section Ring.
  Variables (NC NP : Z).       (* consumer threads 0..NC-1, producer threads NC..NC+NP-1 *)
  Variable ring : Z.
  Definition dom := (NC + NP)%Z.
  Definition cons : tmap := TCub [dim dom (CK 0) NC].
  Definition prod : tmap := TCub [dim dom (CK NC) NP].
  Definition cta : tmap := TCub [all_of dom].
  Definition A k := pt vA [ring] [CMod k (CK ring)].
  Definition D := pt vD [] [].
  Definition bar v := pt v [] [].
  Definition body (wait_from : Z) (lagw : Z) : stmt := seqs [
    (* producer *)
    AWAIT true 10 prod (bar war) cuda_temporal (-1 - lagw);
    MUT 11 prod false true ft (A (CV yk)) g2s (single g2s) 0 [bar raw];
    READ 11 prod true false (bar raw) g2s (single g2s) [bar raw];
    ARRIVE true 12 prod cuda_temporal (bar raw) [bar raw];
    (* consumer *)
    AWAIT true 20 cons (bar raw) cuda_generic_and_async_proxy (-1);
    FENCE 21 cons wgmma_fence_1 wgmma_fence_2;
    READ 22 cons false true (A (CV yk)) wgS (single wgS) [];
    MUT 22 cons true false ff D wgD (qs [wgD; wg0]) 0 [];
    ARRIVE false 23 cons wgmma_async (bar cg) [bar cg];
    If (BLe (CK wait_from) (CV yk)) (AWAIT false 24 cons (bar cg) cuda_in_order wait_from);
    ARRIVE true 25 cons cuda_in_order (bar war) [bar war]].
  Definition prologue := seqs [
    Leaf 1 cta (LAlloc (whole vA [ring])); Leaf 2 cta (LAlloc (bar raw)); Leaf 3 cta (LAlloc (bar war)); Leaf 4 cons (LAlloc (bar cg));
    Leaf 5 cons (LAlloc D);
    MUT 6 cons true false ft D wg0 (single wg0) 0 []].
  Definition free a lab := seqs [Leaf lab cta (LChk true false ft a (single ram)); Leaf lab cta (LChk false false ft a (single ram))].
  Definition epilogue := seqs [
    AWAIT false 30 cons (bar cg) cuda_in_order 0;
    READ 31 cons true false D rmem (single rmem) [];
    FENCE 32 cta cuda_in_order cuda_in_order;
    Leaf 33 cons (LBar (bar cg)); free (whole vA [ring]) 34;
    Leaf 35 cta (LBar (bar raw)); free (bar raw) 35; Leaf 36 cta (LBar (bar war)); free (bar war) 36].
  Definition ring_prog (wait_from lag : Z) (K : Z) : stmt :=
    seqs [prologue; For yk (CK 0) (CK K) (body wait_from lag); epilogue].
End Ring.

Definition go m s := interp m 1024 s 0 [] xst0.
Definition verdict (o : xout) := match o with XOK _ => None | XER e => Some e end.
