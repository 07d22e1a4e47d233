(* Defects of a program whose tiles are collapsed are defects of the program: the same statement, the same kind of error.
   (Which element of the tile is another matter: the theorem says that there is one.) *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast Param Collapse.
Import ListNotations.
Local Open Scope Z_scope.

Section Defects.
  Variable m : mode.
  Variable tbl : list (N * (nat * list Z)).

  (* The kind of error that an operation can cause. *)
  Definition kind_of_op (o : op) : ekind :=
    match o with EChk mut _ _ _ _ _ => if mut then KMut else KRead | EBar _ => KBar | EAwait _ _ _ _ _ _ => KProg | _ => KBad end.
  (* An error names its statement and is of its operation's kind. *)
  Lemma err_of_step s l o e : sstep m s (l, o) (ER e) -> fst e = (l, kind_of_op o).
  Proof. intros H. inversion H; subst; reflexivity. Qed.
  (* Related operations can cause the same kind of error. *)
  Lemma kind_rel o o' : ev_rel tbl o o' -> kind_of_op o = kind_of_op o'.
  Proof.
    intros E. destruct o, o'; simpl in E; try contradiction; try discriminate; try reflexivity;
      destruct E as [E1 E2]; try discriminate E1. now subst.
  Qed.

  (* Related traces: where the second fails, the first fails. *)
  Theorem rejects_rel t t' : Forall2 (fun a b => fst a = fst b /\ ev_rel tbl (snd a) (snd b)) t t' ->
    forall x s s', rep x s -> srel tbl s s' -> forall e', srun m s' t' (ER e') -> exists e, srun m s t (ER e) /\ fst e = fst e'.
  Proof.
    induction 1 as [|[l o] [l' o'] t t' [El E] _ IH]; intros x s s' Hx Hs e' R; simpl in *; [inversion R|].
    subst l'. destruct (step_rel m tbl s s' o o' Hs E) as [Hn G].
    destruct (xstep_correct m x s (l, o) Hx) as (o1 & S1 & O1).
    inversion R as [|? ? ? s1 ? A B|? ? ? ? A]; subst.
    - apply sstep_good in A as [-> Gd']. pose proof (good_sstep m s l o (proj2 G Gd')) as S2.
      rewrite (sstep_det m s (l, o) _ _ S1 S2) in O1. destruct (xstep m x (l, o)) as [x1|]; [|contradiction].
      destruct (IH x1 _ _ O1 Hn e' B) as (e & Re & Ee). exists e. split; auto. econstructor; eauto.
    - destruct o1 as [s1|e].
      + exfalso. apply sstep_good in S1 as [_ Gd]. pose proof (good_sstep m s' l o' (proj1 G Gd)) as S2.
        pose proof (sstep_det m s' (l, o') _ _ A S2) as D. discriminate D.
      + exists e. split; [now apply R_err|]. rewrite (err_of_step _ _ _ _ S1), (err_of_step _ _ _ _ A). now rewrite (kind_rel o o' E).
  Qed.

  (* Collapsing keeps the statements' numbers. *)
  Lemma col_labels stride s : forall s', col tbl s = Some s' -> forall i sg,
    map fst (fst (unroll stride s i sg)) = map fst (fst (unroll stride s' i sg)) /\ snd (unroll stride s i sg) = snd (unroll stride s' i sg).
  Proof.
    induction s as [|a IHa b IHb|y lo hi b IHb|c b IHb| |lab f l]; intros s' H i sg; simpl in H.
    - injection H as <-. auto.
    - destruct (col tbl a) as [a'|]; [|discriminate]. destruct (col tbl b) as [b'|]; [|discriminate]. injection H as <-. simpl.
      destruct (IHa a' eq_refl i sg) as [A1 A2]. destruct (unroll stride a i sg) as [t1 i1], (unroll stride a' i sg) as [t1' i1']. simpl in *. subst i1'.
      destruct (IHb b' eq_refl i1 sg) as [B1 B2]. destruct (unroll stride b i1 sg) as [t2 i2], (unroll stride b' i1 sg) as [t2' i2']. simpl in *.
      rewrite !map_app. split; [apply f_equal2; [exact A1|exact B1]|exact B2].
    - destruct (col tbl b) as [b'|]; [|discriminate]. injection H as <-. rewrite !unroll_for.
      generalize (Z.to_nat (cev sg hi - cev sg lo)) as n. generalize (cev sg lo) as v. intros v n. revert i v.
      induction n as [|n IHn]; intros i v; simpl; [auto|].
      destruct (IHb b' eq_refl i ((y, v) :: sg)) as [A1 A2].
      destruct (unroll stride b i ((y, v) :: sg)) as [t1 i1], (unroll stride b' i ((y, v) :: sg)) as [t1' i1']. simpl in *. subst i1'.
      destruct (IHn i1 (v + 1)) as [B1 B2].
      destruct (unroll_loop stride b y sg n (v + 1) i1) as [t2 i2], (unroll_loop stride b' y sg n (v + 1) i1) as [t2' i2']. simpl in *.
      rewrite !map_app. split; [apply f_equal2; [exact A1|exact B1]|exact B2].
    - destruct (col tbl b) as [b'|]; [|discriminate]. injection H as <-. simpl. destruct (bev sg c); [now apply IHb|auto].
    - injection H as <-. auto.
    - destruct (col_l tbl l) as [l'|]; [|discriminate]. injection H as <-. auto.
  Qed.
  Lemma pairs_rel (t t' : trace) : map fst t = map fst t' -> Forall2 (ev_rel tbl) (opsT t) (opsT t') ->
    Forall2 (fun a b => fst a = fst b /\ ev_rel tbl (snd a) (snd b)) t t'.
  Proof.
    revert t'. induction t as [|[l o] t IH]; intros [|[l' o'] t'] L R; simpl in *; try discriminate; [constructor|].
    injection L as L1 L2. inversion R; subst. constructor; auto.
  Qed.

  (* DEFECTS OF THE COLLAPSED PROGRAM ARE DEFECTS OF THE PROGRAM. *)
  Theorem collapse_rejects stride s s' l k p' : col tbl s = Some s' -> rejects m stride s' (l, k, p') -> exists p, rejects m stride s (l, k, p).
  Proof.
    intros C R. destruct (col_spec tbl stride s s' C 0 []) as [F _]. destruct (col_labels stride s s' C 0 []) as [L _].
    apply big_srun in R as (o & R & E). destruct o as [st|e']; [discriminate|]. simpl in E. injection E as <-.
    destruct (rejects_rel _ _ (pairs_rel _ _ L F) xst0 sst0 sst0 rep0 (srel0 tbl) _ R) as ([[l1 k1] p] & Re & Ee).
    simpl in Ee. injection Ee as -> ->. exists p. apply srun_big in Re. exact Re.
  Qed.
End Defects.
