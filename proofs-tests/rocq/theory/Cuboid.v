(* The symbolic thread set of a thread map is the thread cuboid of the specification (1.3). *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir.
Import ListNotations.
Local Open Scope Z_scope.

(* coordinates c_k in [off_k, off_k + box_k), linearised with extents D_k *)
Fixpoint inCub (base : Z) (l : list (Z * Z * Z)) (x : Z) : Prop :=
  match l with
  | [] => x = base
  | (off, box, _) :: r => exists c, off <= c < off + box /\ inCub (base + c * prodD r) r x
  end.
Definition wf (l : list (Z * Z * Z)) : Prop := Forall (fun d => 0 <= fst (fst d) /\ 0 < snd (fst d) /\ fst (fst d) + snd (fst d) <= snd d) l.

(* A well-formed map has threads. *)
Lemma prodD_pos l : wf l -> 0 < prodD l.
Proof. induction 1 as [|[[o b] D] l (A & B & C) _ IH]; simpl in *; [lia|]. nia. Qed.
(* The threads of a cuboid lie within the product of its extents. *)
Lemma inCub_range l : wf l -> forall base x, inCub base l x -> base <= x < base + prodD l.
Proof.
  induction 1 as [|[[o b] D] l (A & B & C) W IH]; intros base x H; simpl in *; [lia|].
  destruct H as (c & Hc & H). apply IH in H. pose proof (prodD_pos l W). nia.
Qed.
(* Trailing dimensions that are covered completely are one interval. *)
Lemma inCub_full l : wf l -> full l = true -> forall base x, base <= x < base + prodD l -> inCub base l x.
Proof.
  induction 1 as [|[[o b] D] l (A & B & C) W IH]; intros F base x H; simpl in *; [lia|].
  apply andb_true_iff in F as [F1 F2]. apply andb_true_iff in F1 as [F0 F1]. apply Z.eqb_eq in F0, F1. subst.
  pose proof (prodD_pos l W) as P. exists ((x - base) / prodD l).
  pose proof (Z.div_mod (x - base) (prodD l) ltac:(lia)) as DM. pose proof (Z.mod_pos_bound (x - base) (prodD l) P) as MB.
  split; [split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]|]. apply IH; auto. lia.
Qed.
(* Intervals, over the integers. *)
Lemma mem_itvZ x lo hi : 0 <= x -> 0 <= lo -> (mem (Z.to_N x) (itv (Z.to_N lo) (Z.to_N hi)) = true <-> lo <= x < hi).
Proof. intros. rewrite mem_itv, andb_true_iff, N.leb_le, N.ltb_lt. lia. Qed.
(* The numbers that an inclusive range lists. *)
Lemma in_zrange n : forall lo c, In c (zrange lo n) <-> lo <= c < lo + Z.of_nat n.
Proof. induction n as [|n IH]; intros lo c; simpl; [lia|]. rewrite IH. lia. Qed.
(* at most one block contains x, so parity is union *)
Lemma mem_blocks x (f : Z -> tset) (blk : Z -> Z -> Prop) n : forall lo,
  (forall c c', blk c x -> blk c' x -> c = c') -> (forall c, In c (zrange lo n) -> (mem (Z.to_N x) (f c) = true <-> blk c x)) ->
  (mem (Z.to_N x) (flat_map f (zrange lo n)) = true <-> exists c, In c (zrange lo n) /\ blk c x).
Proof.
  induction n as [|n IH]; intros lo U H; simpl; [split; [discriminate|intros (c & [] & _)]|].
  rewrite mem_app. assert (H' : forall c, In c (zrange (lo + 1) n) -> (mem (Z.to_N x) (f c) = true <-> blk c x)) by (intros; apply H; now right).
  specialize (IH (lo + 1) U H'). pose proof (H lo (or_introl eq_refl)) as H0.
  destruct (mem (Z.to_N x) (f lo)) eqn:E1, (mem (Z.to_N x) (flat_map f (zrange (lo + 1) n))) eqn:E2; simpl.
  - exfalso. destruct (proj1 IH eq_refl) as (c & I & B). apply in_zrange in I. pose proof (U lo c (proj1 H0 eq_refl) B). lia.
  - split; auto. intros _. exists lo. split; auto. now apply H0.
  - split; auto. intros _. destruct (proj1 IH eq_refl) as (c & I & B). eauto.
  - split; [discriminate|]. intros (c & [->|I] & B); [now apply H0 in B|]. assert (false = true) by (apply IH; eauto). discriminate.
Qed.
(* The symbolic set of a thread map has exactly the threads of its cuboid. *)
Theorem mem_cub l : wf l -> forall base x, 0 <= base -> 0 <= x -> (mem (Z.to_N x) (cub base l) = true <-> inCub base l x).
Proof.
  induction 1 as [|[[o b] D] l (A & B & C) W IH]; intros base x Hb Hx; simpl cub; simpl inCub.
  - rewrite mem_itvZ by lia. lia.
  - simpl in A, B, C. pose proof (prodD_pos l W) as P. destruct (full l) eqn:F.
    + rewrite mem_itvZ by nia. split.
      * intros H. pose proof (Z.div_mod (x - base) (prodD l) ltac:(lia)) as DM. pose proof (Z.mod_pos_bound (x - base) (prodD l) P) as MB.
        exists ((x - base) / prodD l). split.
        -- split; [apply Z.div_le_lower_bound; nia|apply Z.div_lt_upper_bound; nia].
        -- apply inCub_full; auto. lia.
      * intros (c & Hc & H). apply inCub_range in H; auto. nia.
    + rewrite (mem_blocks x _ (fun c x => inCub (base + c * prodD l) l x)).
      * setoid_rewrite in_zrange. rewrite Z2Nat.id by lia. reflexivity.
      * intros c c' H1 H2. apply inCub_range in H1, H2; auto. nia.
      * intros c I. apply in_zrange in I. apply IH; nia.
Qed.

(* evaluated thread maps are well formed *)
Lemma ranges_wf s dims : forall l, ranges s dims = Some l -> wf l.
Proof.
  induction dims as [|d dims IH]; intros l E; simpl in E; [injection E as <-; constructor|].
  destruct (_ && _) eqn:C; [|discriminate]. destruct (ranges s dims) as [r|]; [|discriminate]. injection E as <-.
  rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in C. constructor; [simpl; lia|now apply IH].
Qed.
