(* Thread sets.  A set of threads is a list of toggle points over N: a thread is a member iff an odd number of
   toggle points are <= it.  [lo;hi] is the interval [lo,hi), [0] is the infinite set of all threads, and
   concatenation is symmetric difference.  No sortedness invariant: every boolean question about such sets is
   piecewise constant, so it is decided exactly by looking at 0 and at the toggle points. *)
From Coq Require Import NArith List Bool Lia.
Import ListNotations.
Open Scope N_scope.

Definition tid := N.
Definition tset := list N.

Fixpoint mem (x : tid) (s : tset) : bool :=
  match s with [] => false | t :: s' => xorb (t <=? x) (mem x s') end.

Definition tall : tset := [0].
Definition itv (lo hi : N) : tset := if lo <? hi then [lo; hi] else [].

(* Every thread is in the infinite set. *)
Lemma mem_all x : mem x tall = true.
Proof. simpl. now rewrite (proj2 (N.leb_le 0 x) (N.le_0_l x)). Qed.

(* Concatenation is symmetric difference. *)
Lemma mem_app x a b : mem x (a ++ b) = xorb (mem x a) (mem x b).
Proof. induction a; simpl; [now destruct (mem x b)|]. rewrite IHa. now rewrite xorb_assoc. Qed.

(* An interval has the members it says. *)
Lemma mem_itv x lo hi : mem x (itv lo hi) = (lo <=? x) && (x <? hi).
Proof.
  unfold itv. destruct (N.ltb_spec lo hi); simpl;
  destruct (N.leb_spec lo x); simpl; destruct (N.ltb_spec x hi); simpl; auto; try lia;
  destruct (N.leb_spec hi x); simpl; auto; lia.
Qed.

(* ---- piecewise constant boolean functions ---- *)
Definition pc (pts : list N) (f : N -> bool) := forall x, ~ In (N.succ x) pts -> f (N.succ x) = f x.

(* Membership can change only at toggle points ... *)
Lemma pc_mem s pts : incl s pts -> pc pts (fun x => mem x s).
Proof.
  intros Hi x Hx. induction s as [|t s IH]; simpl; auto.
  rewrite IH by (intros y Hy; apply Hi; now right).
  f_equal. assert (t <> N.succ x) by (intros ->; apply Hx, Hi; now left).
  destruct (N.leb_spec t (N.succ x)), (N.leb_spec t x); auto; lia.
Qed.
(* ... and so can whatever is built from such functions. *)
Lemma pc_and pts f g : pc pts f -> pc pts g -> pc pts (fun x => f x && g x).
Proof. intros F G x H. now rewrite (F x H), (G x H). Qed.
Lemma pc_or pts f g : pc pts f -> pc pts g -> pc pts (fun x => f x || g x).
Proof. intros F G x H. now rewrite (F x H), (G x H). Qed.
Lemma pc_not pts f : pc pts f -> pc pts (fun x => negb (f x)).
Proof. intros F x H. now rewrite (F x H). Qed.
Lemma pc_eqb pts f g : pc pts f -> pc pts g -> pc pts (fun x => eqb (f x) (g x)).
Proof. intros F G x H. now rewrite (F x H), (G x H). Qed.
Lemma pc_const pts b : pc pts (fun _ => b).
Proof. intros x H; reflexivity. Qed.
(* More points do no harm. *)
Lemma pc_incl pts pts' f : incl pts pts' -> pc pts f -> pc pts' f.
Proof. intros I F x H. apply F. intros C. now apply H, I. Qed.
(* Disjunction over a list. *)
Lemma pc_existsb A pts (l : list A) (f : A -> N -> bool) :
  (forall a, In a l -> pc pts (f a)) -> pc pts (fun x => existsb (fun a => f a x) l).
Proof.
  intros F x H. induction l as [|a l IH]; simpl; auto.
  rewrite IH by (intros; apply F; now right). now rewrite (F a (or_introl eq_refl) x H).
Qed.

(* && and || evaluate both sides under vm_compute; the lazy forms below are convertible with them *)
Section Lazy.
  Context {A : Type} (f : A -> bool).
  Fixpoint anyb (l : list A) : bool := match l with [] => false | a :: l' => if f a then true else anyb l' end.
  Fixpoint allb (l : list A) : bool := match l with [] => true | a :: l' => if f a then allb l' else false end.
End Lazy.
(* The lazy forms are the library functions, so old lemmas apply after one rewrite. *)
Lemma anyb_eq {A} (f : A -> bool) l : anyb f l = existsb f l. Proof. reflexivity. Qed.
Lemma allb_eq {A} (f : A -> bool) l : allb f l = forallb f l. Proof. reflexivity. Qed.
Lemma lazy_and (a b : bool) : (if a then b else false) = a && b. Proof. reflexivity. Qed.
Definition allp (pts : list N) (f : N -> bool) : bool := if f 0 then allb f pts else false.
Definition anyp (pts : list N) (f : N -> bool) : bool := if f 0 then true else anyb f pts.
Lemma lazy_or (a b : bool) : (if a then true else b) = a || b. Proof. reflexivity. Qed.
Lemma allp_eq pts f : allp pts f = f 0 && forallb f pts. Proof. reflexivity. Qed.
Lemma anyp_eq pts f : anyp pts f = f 0 || existsb f pts. Proof. reflexivity. Qed.

(* "For all threads" is decided at thread 0 and at the points where the function may change. *)
Lemma allp_spec pts f : pc pts f -> (allp pts f = true <-> forall x, f x = true).
Proof.
  intros F. rewrite allp_eq, andb_true_iff, forallb_forall. split.
  - intros [H0 H] x. induction x using N.peano_ind; auto.
    destruct (in_dec N.eq_dec (N.succ x) pts) as [i|n]; [now apply H|]. now rewrite F.
  - intros H; split; auto.
Qed.
(* The same for "for some thread". *)
Lemma anyp_spec pts f : pc pts f -> (anyp pts f = true <-> exists x, f x = true).
Proof.
  intros F. rewrite anyp_eq, orb_true_iff, existsb_exists. split.
  - intros [H|(x & _ & H)]; eauto.
  - intros (x & Hx). revert Hx. induction x using N.peano_ind; intros Hx; auto.
    destruct (in_dec N.eq_dec (N.succ x) pts) as [i|n]; [right; eauto|]. rewrite F in Hx; auto.
Qed.

(* Only the values count. *)
Lemma allp_ext pts f g : (forall x, f x = g x) -> allp pts f = allp pts g.
Proof. intros H. rewrite !allp_eq, H. f_equal. induction pts; simpl; auto. now rewrite H, IHpts. Qed.
(* Where "all" fails, some thread is a witness. *)
Lemma allp_false pts f : allp pts f = false -> anyp pts (fun x => negb (f x)) = true.
Proof.
  rewrite allp_eq, anyp_eq. destruct (f 0); simpl; auto. induction pts as [|x l IH]; simpl; [discriminate|].
  destruct (f x); simpl; auto.
Qed.

(* ---- a set from a piecewise constant function: keep the points where it changes ---- *)
Definition tog (pts : list N) (f : N -> bool) : tset :=
  (if f 0 then [0] else []) ++
  filter (fun t => (0 <? t) && xorb (f t) (f (N.pred t))) (nodup N.eq_dec pts).

Definition inb (x : N) (l : list N) := existsb (N.eqb x) l.
(* Boolean membership in a list. *)
Lemma inb_In x l : inb x l = true <-> In x l.
Proof. unfold inb. rewrite existsb_exists. split; [intros (y & H & E); apply N.eqb_eq in E; now subst|].
  intros; exists x; split; auto. apply N.eqb_refl. Qed.

(* From one thread to the next, membership flips exactly at a toggle point. *)
Lemma mem_succ s x : NoDup s -> mem (N.succ x) s = xorb (mem x s) (inb (N.succ x) s).
Proof.
  induction 1 as [|t s Ht Hs IH]; simpl; auto. rewrite IH.
  destruct (N.eqb_spec (N.succ x) t) as [E|E].
  - subst t. assert (inb (N.succ x) s = false) as ->.
    { apply not_true_is_false. now rewrite inb_In. }
    rewrite (proj2 (N.leb_le _ _) (N.le_refl _)), (proj2 (N.leb_gt _ _) (N.lt_succ_diag_r x)).
    simpl. now destruct (mem x s).
  - simpl. replace (t <=? N.succ x) with (t <=? x); [now rewrite xorb_assoc|].
    destruct (N.leb_spec t (N.succ x)), (N.leb_spec t x); auto; lia.
Qed.

(* The set made from a piecewise constant function has the members the function says. *)
Lemma mem_tog pts f x : pc pts f -> mem x (tog pts f) = f x.
Proof.
  intros F. set (flt := filter (fun t => (0 <? t) && xorb (f t) (f (N.pred t))) (nodup N.eq_dec pts)).
  assert (ND : NoDup flt) by (apply NoDup_filter, NoDup_nodup).
  assert (H0 : mem 0 flt = false).
  { assert (forall t, In t flt -> 0 < t) as A.
    { intros t Ht. apply filter_In in Ht as [_ Ht]. apply andb_true_iff in Ht as [Ht _]. now apply N.ltb_lt. }
    clearbody flt. clear ND. induction flt; simpl; auto. rewrite IHflt by (intros; apply A; now right).
    rewrite (proj2 (N.leb_gt a 0)); auto. apply A. now left. }
  assert (K : mem x flt = xorb (f 0) (f x)).
  { induction x using N.peano_ind; [now rewrite H0, xorb_nilpotent|].
    rewrite mem_succ by assumption. rewrite IHx.
    assert (inb (N.succ x) flt = xorb (f x) (f (N.succ x))) as ->.
    { destruct (in_dec N.eq_dec (N.succ x) pts) as [i|n].
      - destruct (inb (N.succ x) flt) eqn:E.
        + apply inb_In, filter_In in E as [_ E]. rewrite N.pred_succ in E.
          apply andb_true_iff in E as [_ E]. now rewrite xorb_comm.
        + destruct (xorb (f x) (f (N.succ x))) eqn:G; auto.
          apply not_true_iff_false in E. elim E. apply inb_In, filter_In. split; [now apply nodup_In|].
          rewrite N.pred_succ, (proj2 (N.ltb_lt _ _) (N.lt_0_succ x)). now rewrite xorb_comm.
      - rewrite F by assumption. rewrite xorb_nilpotent. apply not_true_is_false. rewrite inb_In.
        intros C. apply filter_In in C as [C _]. apply nodup_In in C. contradiction. }
    destruct (f 0), (f x), (f (N.succ x)); reflexivity. }
  unfold tog. fold flt. rewrite mem_app, K.
  destruct (f 0) eqn:E0; simpl; [|now destruct (f x)].
  rewrite (proj2 (N.leb_le 0 x) (N.le_0_l x)). now destruct (f x).
Qed.

(* ---- the operations the machine needs ---- *)
Definition tmeet (a b : tset) : bool := anyp (a ++ b) (fun x => mem x a && mem x b).
Definition tinter (a b : tset) : tset := tog (a ++ b) (fun x => mem x a && mem x b).
Definition tdiff (a b : tset) : tset := tog (a ++ b) (fun x => mem x a && negb (mem x b)).
Definition tsub (a b : tset) : bool := allp (a ++ b) (fun x => negb (mem x a) || mem x b).
Definition teq (a b : tset) : bool := allp (a ++ b) (fun x => eqb (mem x a) (mem x b)).
Definition tempty (a : tset) : bool := negb (anyp a (fun x => mem x a)).

#[export] Hint Resolve pc_mem pc_and pc_or pc_not pc_eqb pc_const incl_appl incl_appr incl_refl : pc.

(* The five questions and operations that the machine needs, each with its meaning. *)
Lemma tmeet_spec a b : tmeet a b = true <-> exists x, mem x a = true /\ mem x b = true.
Proof. unfold tmeet. rewrite anyp_spec by auto with pc. now setoid_rewrite andb_true_iff. Qed.
Lemma tinter_spec a b x : mem x (tinter a b) = mem x a && mem x b.
Proof. unfold tinter. now rewrite mem_tog by auto with pc. Qed.
Lemma tdiff_spec a b x : mem x (tdiff a b) = mem x a && negb (mem x b).
Proof. unfold tdiff. now rewrite mem_tog by auto with pc. Qed.
Lemma tsub_spec a b : tsub a b = true <-> forall x, mem x a = true -> mem x b = true.
Proof. unfold tsub. rewrite allp_spec by auto with pc. split; intros H x; specialize (H x);
  destruct (mem x a), (mem x b); simpl in *; auto. Qed.
Lemma teq_spec a b : teq a b = true <-> forall x, mem x a = mem x b.
Proof. unfold teq. rewrite allp_spec by auto with pc. split; intros H x; specialize (H x).
  now apply eqb_prop. now apply eqb_true_iff. Qed.
Lemma tempty_spec a : tempty a = true <-> forall x, mem x a = false.
Proof.
  unfold tempty. rewrite negb_true_iff. split; intros H.
  - intros x. apply not_true_is_false. intros C. apply not_true_iff_false in H. elim H.
    apply anyp_spec; auto with pc. eauto.
  - apply not_true_is_false. rewrite anyp_spec by auto with pc. intros (x & C). rewrite H in C. discriminate.
Qed.
