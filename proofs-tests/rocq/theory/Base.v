(* Timelines, flags, elements, semantic modes. *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset.
Import ListNotations.
Open Scope N_scope.

(* A timeline is a bit number; a set of timelines or of flags is a bit mask. *)
Definition qtl := N.
Definition mask := N.
Definition bit (m : mask) (q : N) : bool := N.testbit m q.
Definition single (q : N) : mask := N.shiftl 1 q.
Definition mmeet (a b : mask) : bool := negb (N.land a b =? 0).

(* A mask with one bit. *)
Lemma bit_single q x : bit (single q) x = (x =? q).
Proof.
  unfold bit, single. rewrite N.shiftl_1_l. destruct (N.eqb_spec x q) as [->|H].
  - apply N.pow2_bits_true.
  - apply N.pow2_bits_false. congruence.
Qed.
(* Intersection of masks. *)
Lemma bit_land a b q : bit (N.land a b) q = bit a q && bit b q.
Proof. apply N.land_spec. Qed.
(* Difference of masks. *)
Lemma bit_ldiff a b q : bit (N.ldiff a b) q = bit a q && negb (bit b q).
Proof. apply N.ldiff_spec. Qed.
(* Two masks meet if they share a bit. *)
Lemma mmeet_spec a b : mmeet a b = true <-> exists q, bit a q = true /\ bit b q = true.
Proof.
  unfold mmeet. rewrite negb_true_iff. split.
  - intros H. apply N.eqb_neq in H. exists (N.log2 (N.land a b)).
    rewrite <- andb_true_iff, <- bit_land. now apply N.bit_log2.
  - intros (q & A & B). apply N.eqb_neq. intros C.
    assert (bit (N.land a b) q = true) by now rewrite bit_land, A, B.
    rewrite C in H. unfold bit in H. now rewrite N.bits_0 in H.
Qed.

(* flags of one (thread, timeline) pair *)
Definition fa : N := 0.   (* atomic      *)
Definition ft : N := 1.   (* temporal    *)
Definition ff : N := 2.   (* full        *)
Definition fi : N := 3.   (* issue, weak *)
Definition fI : N := 4.   (* issue, strong *)
Definition flag := N.
Definition wfl (strong : bool) : flag := if strong then fI else fi.

(* Everything in which two modes of the checker differ. *)
Record mode := {
  m_in  : mask;     (* flags that an in-order access gives its issuing threads, on its own timeline *)
  m_ooo : mask;     (* the same, out of order *)
  m_sf  : mask;     (* strong augment, timelines of the full set *)
  m_st  : mask;     (* strong augment, timelines of the temporal set only *)
  m_wt  : mask;     (* weak augment, timelines of the temporal set *)
  m_keep : bool;    (* an atomic mutate keeps the read records of its elements *)
  m_zero : mask;    (* timelines whose mutates keep every record of their elements *)
  m_prog : bool;    (* an Await that could never be satisfied is an error *)
  m_shared : mask   (* timelines whose non-convergent accesses share one record *)
}.
Definition msk (l : list flag) : mask := fold_right (fun f m => N.lor (single f) m) 0 l.

(* Bit numbers of the two timelines that a mode names (theory/Timelines.v has all of them). *)
Definition q_g2s : qtl := 6.
Definition q_wg0 : qtl := 11.

(* The rules of the paper, word by word. *)
Definition paper_exact : mode := {|
  m_in := msk [fI; fa; ft; ff]; m_ooo := msk [fI; fa]; m_sf := msk [fI; fa; ft; ff]; m_st := msk [fI; fa; ft];
  m_wt := 0; m_keep := false; m_zero := 0; m_prog := false; m_shared := single q_g2s |}.
(* The repaired rules, which users get.  "Strong implies weak" is saturated in the table, so strong and weak augment may
   both be applied and every update is monotone. *)
Definition default_mode : mode := {|
  m_in := msk [fI; fi; fa; ft; ff]; m_ooo := msk [fI; fi]; m_sf := msk [fI; fi; fa; ft; ff]; m_st := msk [fi; ft];
  m_wt := msk [fi; ft]; m_keep := true; m_zero := single q_wg0; m_prog := true; m_shared := single q_g2s |}.

(* Does a mutate on timeline q with atomic timelines Qa keep the mutate (mut = true) or read records of its elements? *)
Definition keeps (m : mode) (mut : bool) (q : qtl) (Qa : mask) : bool :=
  ((if mut then true else m_keep m) && negb (Qa =? 0)) || bit (m_zero m) q.
(* A mutate that clears records is not atomic. *)
Lemma clearing_is_plain m mut q Qa : m_keep m = true -> keeps m mut q Qa = false -> Qa = 0.
Proof.
  intros K H. unfold keeps in H. apply orb_false_iff in H as [H _]. rewrite K in H. destruct mut; simpl in H;
    apply negb_false_iff, N.eqb_eq in H; exact H.
Qed.

(* elements: variable number and index vector *)
Definition elem := (N * list Z)%type.
Definition elem_eq_dec : forall a b : elem, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Fixpoint zs_eqb (a b : list Z) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y)%Z && zs_eqb a' b'
  | _, _ => false
  end.
Definition eeqb (a b : elem) : bool := (fst a =? fst b) && zs_eqb (snd a) (snd b).
(* Equality of index vectors is decided ... *)
Lemma zs_eqb_spec a b : zs_eqb a b = true <-> a = b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try (split; congruence).
  rewrite andb_true_iff, IH, Z.eqb_eq. split; [intros []; congruence|intros H; injection H; auto].
Qed.
(* ... and so is equality of elements. *)
Lemma eeqb_spec a b : eeqb a b = true <-> a = b.
Proof.
  destruct a as [v i], b as [w j]. unfold eeqb. simpl. rewrite andb_true_iff, zs_eqb_spec, N.eqb_eq.
  split; [intros []; congruence|intros H; injection H; auto].
Qed.
Lemma eeqb_refl a : eeqb a a = true. Proof. now apply eeqb_spec. Qed.
Lemma eeqb_neq a b : eeqb a b = false <-> a <> b.
Proof. rewrite <- eeqb_spec. now destruct (eeqb a b). Qed.
Definition inE (p : elem) (l : list elem) : bool := existsb (eeqb p) l.
(* Boolean membership of an element. *)
Lemma inE_In p l : inE p l = true <-> In p l.
Proof. unfold inE. rewrite existsb_exists. split; [intros (y & H & E); apply eeqb_spec in E; now subst|].
  intros; exists p; split; auto using eeqb_refl. Qed.
