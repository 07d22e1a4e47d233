(* The equivalence theorem needs the repairs: under the paper's own rules it is false.  Hole H2 is a program that
   paper_exact accepts and that has two legal orders of its accesses with different final memories. *)
From Coq Require Import NArith ZArith List Bool Lia Arith Permutation.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Linear SeqPar EndToEnd Timelines RingProgram Examples.
Import ListNotations.
Local Open Scope nat_scope.

Definition t2 : trace := Eval vm_compute in fst (unroll 64 h2 0%Z []).
Definition px : elem := (20%N, []).
Definition f2 (n : node) (o : node -> Z) (v : Z) : Z := if Nat.eqb (fst n) 2 then 1%Z else (v + 1)%Z.

Lemma kinds n : (kn (evs t2) n = WR -> fst n = 2) /\ (kn (evs t2) n = AT -> fst n = 5).
Proof. destruct n as [i p]. unfold kn. simpl. do 6 (destruct i as [|i]; [vm_compute; split; (discriminate || auto)|]). 
  unfold kindof, evs, t2. simpl. destruct i; simpl; split; discriminate. Qed.
Lemma seq2 : seqnodes (evs t2) (length t2) = [(2, px); (5, px)].
Proof. reflexivity. Qed.
Lemma not_must : ~ must paper_exact (evs t2) 2 5.
Proof.
  unfold must, visF. change (evs t2 5) with (ERec true false true [0%N; 1%N] [px] s2g (single s2g) []). intros H.
  set (r0 := NewRec paper_exact (fun x => x = 0%N) s2g true 0%N [] (ca (evs t2) 2)).
  assert (S : source paper_exact (evs t2) 2 r0) by (exists 0%N; split; reflexivity).
  specialize (H r0 S). simpl in H. destruct (H 0%N eq_refl) as (q & _ & [V|(u & str & L & _ & O)]).
  - destruct V as [(_ & _ & B)|(B & _)]; [discriminate B|]. pose proof (N.bits_0 q) as Z0. unfold bit in B. congruence.
  - unfold out_tl in O. do 5 (destruct u as [|u]; [exact O|]). lia.
Qed.
Lemma touched2 i p : touches (evs t2) (length t2) (i, p) -> p = px /\ (i = 2 \/ i = 5).
Proof.
  intros [L A]. simpl in *. do 6 (destruct i as [|i]; [unfold isAcc in A; cbn in A; try contradiction; destruct A as [<-|[]]; auto|]). lia.
Qed.
Theorem paper_exact_is_not_sequential : accepts paper_exact 64 h2 /\ ~ seq_par_equivalent paper_exact (fst (unroll 64 h2 0%Z [])).
Proof.
  split; [exact h2_paper|]. change (fst (unroll 64 h2 0%Z [])) with t2. intros H.
  specialize (H Z (fun _ => []) f2). cbv zeta in H.
  specialize (H (fun n d I => match I with end) (fun n o o' v _ => eq_refl)).
  assert (HW : forall n (o : node -> Z) v v', kn (evs t2) n = WR -> f2 n o v = f2 n o v').
  { intros n o v v' K. apply kinds in K. unfold f2. now rewrite K. }
  assert (HA : forall a b (o o' : node -> Z) v, kn (evs t2) a = AT -> kn (evs t2) b = AT -> snd a = snd b -> f2 b o' (f2 a o v) = f2 a o (f2 b o' v)).
  { intros a b o o' v A B _. apply kinds in A. apply kinds in B. unfold f2. rewrite A, B. reflexivity. }
  set (z := (fun _ => 0%Z, fun _ => 0%Z) : (elem * nat -> Z) * (node -> Z)).
  specialize (H HW HA [(5, px); (2, px)] z (act' (evs t2) Z f2 (2, px) 1%Z (act' (evs t2) Z f2 (5, px) 0%Z z))).
  rewrite seq2 in H.
  assert (Lin : linearisation paper_exact (evs t2) (length t2) (fun _ => []) [(2, px); (5, px)] [(5, px); (2, px)]).
  { split; [apply perm_swap|]. split; [|intros n d _ []].
    intros i j p L Ti Tj _ _ M. apply touched2 in Ti as [-> Hi]. apply touched2 in Tj as [_ Hj].
    assert (i = 2 /\ j = 5) as [-> ->] by lia. elim (not_must M). }
  specialize (H Lin).
  assert (R : prun paper_exact (evs t2) Z f2 [] z [(5, px); (2, px)] (act' (evs t2) Z f2 (2, px) 1%Z (act' (evs t2) Z f2 (5, px) 0%Z z))).
  { apply P_cons with (v := 0%Z); [left; reflexivity|]. apply P_cons with (v := 1%Z); [left; reflexivity|]. constructor. }
  destruct (H R) as [Hm _]. specialize (Hm (px, 0)). vm_compute in Hm. discriminate.
Qed.
