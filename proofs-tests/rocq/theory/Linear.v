(* Linear extensions: if every pair of events that two orders arrange differently commutes, the two orders have the same effect. *)
From Coq Require Import List Permutation Arith Lia.
Import ListNotations.

Section Before.
  Context {A : Type}.
  Definition before (l : list A) (a b : A) : Prop := exists l1 l2 l3, l = l1 ++ a :: l2 ++ b :: l3.
  (* Facts about "a stands before b in the list". *)
  Lemma before_in l a b : before l a b -> In a l /\ In b l.
  Proof. intros (l1 & l2 & l3 & ->). split; apply in_or_app; right; [now left|right; apply in_or_app; right; now left]. Qed.
  Lemma before_head x l b : In b l -> before (x :: l) x b.
  Proof. intros H. apply in_split in H as (l1 & l2 & ->). exists [], l1, l2. reflexivity. Qed.
  Lemma before_cons x l a b : before l a b -> before (x :: l) a b.
  Proof. intros (l1 & l2 & l3 & ->). exists (x :: l1), l2, l3. reflexivity. Qed.
  Lemma before_app p s a b : In a p -> In b s -> before (p ++ s) a b.
  Proof.
    intros Ha Hb. apply in_split in Ha as (l1 & l2 & ->). apply in_split in Hb as (l3 & l4 & ->).
    exists l1, (l2 ++ l3), l4. rewrite <- app_assoc. simpl. now rewrite <- app_assoc.
  Qed.
  Lemma before_remove p x s a b : before (p ++ s) a b -> before (p ++ x :: s) a b.
  Proof.
    revert p. intros p (l1 & l2 & l3 & E). revert l1 E. induction p as [|y p IH]; intros l1 E; simpl in *.
    - exists (x :: l1), l2, l3. simpl. now rewrite E.
    - destruct l1 as [|z l1]; simpl in E; injection E; intros E' ->.
      + apply before_head. assert (In b (p ++ s)) by (rewrite E'; apply in_or_app; right; now left).
        apply in_or_app. apply in_app_or in H as [H|H]; auto. right. now right.
      + apply before_cons. eapply IH; eauto.
  Qed.
  Lemma before_asym l a b : NoDup l -> before l a b -> before l b a -> False.
  Proof.
    intros N (l1 & l2 & l3 & ->) (k1 & k2 & k3 & E).
    revert k1 E. induction l1 as [|x l1 IH]; intros k1 E; simpl in *.
    - inversion N; subst. destruct k1 as [|y k1]; simpl in E; injection E; intros.
      + subst. apply H1. apply in_or_app. right. now left.
      + subst. apply H1. rewrite H. apply in_or_app. right. right. apply in_or_app. right. now left.
    - inversion N; subst. destruct k1 as [|y k1]; simpl in E; injection E; intros.
      + subst. apply H1. apply in_or_app. right. right. apply in_or_app. right. now left.
      + eapply IH; eauto.
  Qed.
  Lemma before_split l1 x l2 a : NoDup (l1 ++ x :: l2) -> before (l1 ++ x :: l2) a x -> In a l1.
  Proof.
    intros N (k1 & k2 & k3 & E). revert k1 E N. induction l1 as [|y l1 IH]; intros k1 E N; simpl in *.
    - exfalso. inversion N; subst. destruct k1 as [|z k1]; simpl in E; injection E; intros; subst.
      + apply H1. apply in_or_app. right. now left.
      + apply H1. apply in_or_app. right. right. apply in_or_app. right. now left.
    - destruct k1 as [|z k1]; simpl in E; injection E; intros; subst; [now left|]. right. inversion N; subst. eapply IH; eauto.
  Qed.
  Lemma before_trans l a b c : NoDup l -> before l a b -> before l b c -> before l a c.
  Proof.
    intros N H (l1 & l2 & l3 & ->). assert (In a l1) by (eapply before_split; eauto).
    change (b :: l2 ++ c :: l3) with ((b :: l2) ++ c :: l3). apply before_app; auto.
    apply in_or_app. right. now left.
  Qed.
  Lemma before_total l a b : In a l -> In b l -> a <> b -> before l a b \/ before l b a.
  Proof.
    intros Ha Hb D. apply in_split in Ha as (l1 & l2 & ->). apply in_app_or in Hb as [Hb|[Hb|Hb]]; [|congruence|].
    - right. apply before_app; auto. now left.
    - left. apply in_split in Hb as (k1 & k2 & ->). exists l1, k1, k2. reflexivity.
  Qed.
End Before.

Section Lin.
  Context {A St : Type} (act : A -> St -> St) (eqv : St -> St -> Prop).
  Hypothesis eqv_refl : forall s, eqv s s.
  Hypothesis eqv_trans : forall a b c, eqv a b -> eqv b c -> eqv a c.
  Hypothesis act_eqv : forall x s s', eqv s s' -> eqv (act x s) (act x s').
  Definition run (l : list A) (s : St) : St := fold_left (fun s x => act x s) l s.
  Definition commute (a b : A) : Prop := forall s, eqv (act b (act a s)) (act a (act b s)).

  (* Equal states stay equal. *)
  Lemma run_eqv l : forall s s', eqv s s' -> eqv (run l s) (run l s').
  Proof. induction l as [|x l IH]; simpl; auto. Qed.
  (* Running two lists in a row. *)
  Lemma run_app l1 l2 s : run (l1 ++ l2) s = run l2 (run l1 s).
  Proof. apply fold_left_app. Qed.
  (* An event that commutes with a whole list can be moved behind it. *)
  Lemma run_move x p : (forall y, In y p -> commute x y) -> forall s, eqv (run p (act x s)) (act x (run p s)).
  Proof.
    induction p as [|y p IH]; intros H s; simpl; auto.
    eapply eqv_trans; [|apply IH; intros; apply H; now right].
    apply run_eqv. apply H. now left.
  Qed.

  (* Two orders of the same events have one effect if every pair that they arrange differently commutes. Induction: the first event of one order can be moved to the front of the other. *)
  Theorem linear_extensions l1 : forall l2, NoDup l1 -> Permutation l1 l2 ->
    (forall a b, before l1 a b -> before l2 b a -> commute a b) -> forall s, eqv (run l1 s) (run l2 s).
  Proof.
    induction l1 as [|x t IH]; intros l2 N P C s.
    - apply Permutation_nil in P. subst. apply eqv_refl.
    - assert (Hx : In x l2) by (eapply Permutation_in; [exact P|now left]).
      apply in_split in Hx as (p & q & ->). inversion N as [|? ? Nx Nt]; subst.
      apply Permutation_cons_app_inv in P.
      assert (Cx : forall y, In y p -> commute x y).
      { intros y Hy. apply C.
        - apply before_head. eapply Permutation_in; [apply Permutation_sym; exact P|]. apply in_or_app; now left.
        - apply before_app; auto. now left. }
      apply eqv_trans with (run (p ++ q) (act x s)).
      + simpl. apply IH; auto. intros a b H1 H2. apply C; [now apply before_cons|now apply before_remove].
      + rewrite !run_app. simpl. apply run_eqv. now apply run_move.
  Qed.
End Lin.
