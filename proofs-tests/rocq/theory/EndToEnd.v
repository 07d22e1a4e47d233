(* From one evaluation of the interpreter to sequential-parallel equivalence. *)
From Coq Require Import NArith ZArith List Bool Lia Arith Permutation.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Linear SeqPar.
Import ListNotations.
Local Open Scope nat_scope.

(* ---- the sequential order of accesses ---- *)
Definition nodes_at (ev : nat -> op) (i : nat) : list node :=
  match ev i with ERec _ _ _ _ es _ _ _ => map (pair i) (nodup elem_eq_dec es) | _ => [] end.
Definition nodes_from ev (k n : nat) : list node := flat_map (nodes_at ev) (seq k n).
Definition seqnodes ev len := nodes_from ev 0 len.

(* The accesses of one event. *)
Lemma in_nodes_at ev i x : In x (nodes_at ev i) <-> fst x = i /\ isAcc ev i (snd x).
Proof.
  unfold nodes_at, isAcc. destruct (ev i); simpl; try tauto. rewrite in_map_iff. setoid_rewrite nodup_In. split.
  - intros (p & <- & H). auto.
  - intros [E H]. exists (snd x). split; auto. destruct x; simpl in *; congruence.
Qed.
Lemma nodup_at ev i : NoDup (nodes_at ev i).
Proof.
  unfold nodes_at. destruct (ev i); try constructor. apply FinFun.Injective_map_NoDup; [|apply NoDup_nodup].
  intros a b H. now injection H.
Qed.
(* The accesses of a trace, in its order. *)
Lemma in_nodes_from ev n : forall k x, In x (nodes_from ev k n) <-> k <= fst x < k + n /\ isAcc ev (fst x) (snd x).
Proof.
  unfold nodes_from. intros k x. rewrite in_flat_map. setoid_rewrite in_seq. setoid_rewrite in_nodes_at. split.
  - intros (i & H & <- & A). auto.
  - intros [H A]. exists (fst x). auto.
Qed.
Lemma nodup_from ev n : forall k, NoDup (nodes_from ev k n).
Proof.
  induction n as [|n IH]; intros k; simpl; [constructor|]. unfold nodes_from in *. simpl.
  assert (H : forall l1 l2 : list node, NoDup l1 -> NoDup l2 -> (forall x, In x l1 -> ~ In x l2) -> NoDup (l1 ++ l2)).
  { intros l1 l2 N1 N2 D. induction N1; simpl; auto. constructor.
    - rewrite in_app_iff. intros [C|C]; auto. eapply D; [left; reflexivity|exact C].
    - apply IHN1. intros y Hy. apply D. now right. }
  apply H; [apply nodup_at|apply IH|]. intros x Hx Hy. apply in_nodes_at in Hx as [E _]. apply (in_nodes_from ev n (S k)) in Hy. lia.
Qed.
(* Where two members of a concatenation stand. *)
Lemma before_app_inv {A} (l1 l2 : list A) a b : before (l1 ++ l2) a b -> before l1 a b \/ before l2 a b \/ (In a l1 /\ In b l2).
Proof.
  intros (k1 & k2 & k3 & E). revert l1 E. induction k1 as [|x k1 IH]; intros l1 E; destruct l1 as [|y l1]; simpl in E.
  - right; left. exists [], k2, k3. exact E.
  - injection E as E1 E2; subst y. assert (Hb : In b (l1 ++ l2)) by (rewrite E2; apply in_or_app; right; now left).
    apply in_app_or in Hb as [Hb|Hb]; [left; now apply before_head|right; right; split; auto; now left].
  - right; left. exists (x :: k1), k2, k3. exact E.
  - injection E as E1 E2; subst y. destruct (IH l1 E2) as [H|[H|[H1 H2]]]; auto.
    + left. now apply before_cons.
    + right; right. split; auto. now right.
Qed.
(* The sequential order is sorted by event. *)
Lemma sorted_from ev n : forall k a b, before (nodes_from ev k n) a b -> fst a <= fst b.
Proof.
  induction n as [|n IH]; intros k a b H.
  - apply before_in in H as [[] _].
  - unfold nodes_from in H. simpl in H. apply before_app_inv in H as [H|[H|[H1 H2]]].
    + apply before_in in H as [A B]. apply in_nodes_at in A as [-> _]. apply in_nodes_at in B as [-> _]. lia.
    + eapply IH; eauto.
    + apply in_nodes_at in H1 as [-> _]. apply (in_nodes_from ev n (S k)) in H2. lia.
Qed.
(* Earlier events come earlier. *)
Lemma earlier_before ev len a b : touches ev len a -> touches ev len b -> fst a < fst b -> before (seqnodes ev len) a b.
Proof.
  intros [A1 A2] [B1 B2] L. unfold seqnodes.
  assert (Ha : In a (nodes_from ev 0 len)) by (apply in_nodes_from; lia || (split; [lia|auto])).
  assert (Hb : In b (nodes_from ev 0 len)) by (apply in_nodes_from; split; [lia|auto]).
  destruct (before_total _ a b Ha Hb) as [H|H]; auto. { intros ->. lia. }
  apply sorted_from in H. lia.
Qed.

(* ---- decidable side conditions on the trace ---- *)
Fixpoint es_eqb (a b : list elem) : bool := match a, b with [], [] => true | x :: a', y :: b' => eeqb x y && es_eqb a' b' | _, _ => false end.
(* Equality test of element lists. *)
Lemma es_eqb_eq a b : es_eqb a b = true -> a = b.
Proof. revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  rewrite andb_true_iff, eeqb_spec. intros [-> H]. f_equal. auto. Qed.
Definition chk_matches (mut cvg : bool) (C : tset) (es : list elem) (ok : flag -> bool) (o : op) : bool :=
  match o with EChk mut' cvg' C' f' es' _ => Bool.eqb mut mut' && Bool.eqb cvg cvg' && ts_eqb C C' && es_eqb es es' && ok f' | _ => false end.
Definition sameQ (a b : op) : bool := match a, b with EChk _ _ _ _ _ Q, EChk _ _ _ _ _ Q' => N.eqb Q Q' | _, _ => false end.
Definition disc1 (p2 p1 o : op) : bool :=
  match o with
  | ERec false cvg _ C es _ _ _ => chk_matches true cvg C es (N.eqb ff) p1
  | ERec true cvg _ C es _ Qa _ =>
      sameQ p1 p2 && chk_matches false cvg C es (N.eqb ft) p1 &&
      chk_matches true cvg C es (fun f => if N.eqb Qa 0 then N.eqb ft f || N.eqb ff f else N.eqb fa f) p2
  | _ => true
  end.
Fixpoint discb (p2 p1 : op) (l : list op) : bool :=
  match l with [] => true | o :: r => disc1 p2 p1 o && discb p1 o r end.
Definition disc_trace (t : trace) : bool := discb EBad EBad (map snd t).
(* What the test for a matching check says. *)
Lemma chk_matches_spec mut cvg C es ok o : chk_matches mut cvg C es ok o = true -> exists Q f, o = EChk mut cvg C f es Q /\ ok f = true.
Proof.
  unfold chk_matches. destruct o; try discriminate. rewrite !andb_true_iff. intros [[[[A B] D] E] F].
  apply eqb_prop in A, B. apply ts_eqb_eq in D. apply es_eqb_eq in E. subst. eauto.
Qed.
(* The decidable discipline is the discipline of SeqPar. *)
Lemma discb_spec l : forall pre p2 p1, (pre = [] -> p1 = EBad) -> (length pre <= 1 -> p2 = EBad) ->
  (forall x, pre <> [] -> nth (length pre - 1) pre x = p1) -> (forall x, 2 <= length pre -> nth (length pre - 2) pre x = p2) ->
  discb p2 p1 l = true -> forall j, length pre <= j -> j < length (pre ++ l) -> disciplined (fun n => nth n (pre ++ l) EBad) j.
Proof.
  induction l as [|o l IH]; intros pre p2 p1 E1 E2 H1 H2 D j L1 L2.
  - rewrite app_nil_r in L2. lia.
  - simpl in D. apply andb_true_iff in D as [D Dr]. destruct (Nat.eq_dec j (length pre)) as [->|NE].
    + assert (No : nth (length pre) (pre ++ o :: l) EBad = o) by (rewrite app_nth2 by lia; now rewrite Nat.sub_diag).
      assert (N1 : pre <> [] -> nth (length pre - 1) (pre ++ o :: l) EBad = p1).
      { intros H. rewrite app_nth1; [now apply H1|]. destruct pre; [congruence|simpl; lia]. }
      assert (N2 : 2 <= length pre -> nth (length pre - 2) (pre ++ o :: l) EBad = p2).
      { intros H. rewrite app_nth1 by lia. now apply H2. }
      unfold disciplined. rewrite No. unfold disc1 in D. destruct o; auto. destruct mut.
      * apply andb_true_iff in D as [D1 D2]. apply andb_true_iff in D1 as [DQ D1]. apply chk_matches_spec in D1 as (Q1 & f1 & Ep1 & F1). apply chk_matches_spec in D2 as (Q2 & f2 & Ep2 & F2).
        apply (proj1 (N.eqb_eq ft f1)) in F1. subst f1. rewrite Ep1, Ep2 in DQ. simpl in DQ. apply N.eqb_eq in DQ. subst Q1.
        assert (2 <= length pre) by (destruct (le_lt_dec 2 (length pre)); auto; rewrite E2 in Ep2 by lia; discriminate).
        split; auto. exists Q2, f2. rewrite N2, N1; auto; [|destruct pre; simpl in *; [lia|congruence]]. split; auto. split; [now rewrite Ep1|].
        destruct (N.eqb Qa 0); [apply orb_true_iff in F2 as [F2|F2]; [left; symmetry; exact (proj1 (N.eqb_eq ft f2) F2)|right; symmetry; exact (proj1 (N.eqb_eq ff f2) F2)]|symmetry; exact (proj1 (N.eqb_eq fa f2) F2)].
      * apply chk_matches_spec in D as (Q1 & f1 & Ep1 & F1). apply (proj1 (N.eqb_eq ff f1)) in F1. subst f1.
        assert (pre <> []) by (intros X; rewrite E1 in Ep1 by auto; discriminate).
        split; [destruct pre; [congruence|simpl; lia]|]. exists Q1. rewrite N1; auto.
    + replace (pre ++ o :: l) with ((pre ++ [o]) ++ l) in * by (now rewrite <- app_assoc).
      apply (IH (pre ++ [o]) p1 o); auto; try rewrite app_length; simpl; try lia.
      * intros X. destruct pre; discriminate.
      * intros X. apply E1. destruct pre; auto. simpl in *; lia.
      * intros x _. rewrite app_nth2 by lia. replace (length pre + 1 - 1 - length pre) with 0 by lia. reflexivity.
      * intros x X. rewrite app_nth1 by lia. replace (length pre + 1 - 2) with (length pre - 1) by lia. apply H1. destruct pre; [simpl in X; lia|congruence].
Qed.
(* The same for a whole trace. *)
Lemma disc_trace_spec t : disc_trace t = true -> forall j, j < length t -> disciplined (evs t) j.
Proof.
  intros H j L. unfold evs. apply (discb_spec (map snd t) [] EBad EBad); simpl; auto; try lia; try congruence. now rewrite map_length.
Qed.
(* ---- the main corollary ---- *)
(* every parallel execution of t gives what the sequential one gives: final memory and every value read *)
Definition seq_par_equivalent (m : mode) (t : trace) : Prop :=
  let ev := evs t in let len := length t in
  forall (val : Type) (deps : node -> list node) (f : node -> (node -> val) -> val -> val),
    (forall n d, In d (deps n) -> fst d < fst n /\ touches ev len d) ->
    (forall n o o' v, (forall d, In d (deps n) -> o d = o' d) -> f n o v = f n o' v) ->
    (forall n o v v', kn ev n = WR -> f n o v = f n o v') ->
    (forall a b o o' v, kn ev a = AT -> kn ev b = AT -> snd a = snd b -> f b o' (f a o v) = f a o (f b o' v)) ->
  forall l s0 s', linearisation m ev len deps (seqnodes ev len) l ->
    prun m ev val f [] s0 l s' -> eqv val s' (run (act ev val f) (seqnodes ev len) s0).

(* One evaluation gives sequential = parallel for a trace. *)
Theorem accepted_traces_are_sequential m t : sound_mode m -> (exists s, srun m sst0 t (OK s)) ->
  disc_trace t = true -> seq_par_equivalent m t.
Proof.
  intros SM E D. unfold seq_par_equivalent. cbv zeta. set (ev := evs t). set (len := length t). intros val deps f Hd Hf Hw Ha l s0 s' Hl Hp.
  assert (Acc : forall n, n < len -> ggood m ev n) by now apply accept_graph.
  eapply (sequential_parallel_equivalence m ev len SM Acc (disc_trace_spec t D)
            val deps f Hf Hw Ha (seqnodes ev len)); eauto.
  - apply nodup_from.
  - intros n. unfold seqnodes. rewrite in_nodes_from. unfold touches. simpl. intuition lia.
  - apply sorted_from.
  - intros n d I In_n. destruct (Hd n d I) as [L T]. apply earlier_before; auto.
    apply in_nodes_from in In_n. split; [lia|apply In_n].
Qed.
(* An accepted program has an accepted trace. *)
Lemma accepts_srun m stride s : accepts m stride s -> exists st, srun m sst0 (fst (unroll stride s 0%Z [])) (OK st).
Proof. intros (i & st & B). apply big_srun in B as (o & R & E). destruct o; [|discriminate]. eauto. Qed.
(* not vacuous: the sequential order is one of the linearisations, and the sequential run one of the parallel runs *)
Theorem sequential_is_a_linearisation m ev len deps : (forall n d, In d (deps n) -> fst d < fst n /\ touches ev len d) ->
  linearisation m ev len deps (seqnodes ev len) (seqnodes ev len).
Proof.
  intros Hd. split; [apply Permutation_refl|]. split.
  - intros i j p L Ti Tj _ _ _. now apply earlier_before.
  - intros n d I J. destruct (Hd n d J) as [L T]. apply earlier_before; auto. apply in_nodes_from in I. split; [lia|apply I].
Qed.
(* ... and the sequential run one of the parallel runs. *)
Theorem sequential_is_a_run m ev val f l : forall pre s, prun m ev val f pre s l (run (act ev val f) l s).
Proof.
  induction l as [|n l IH]; intros pre s; simpl; [constructor|]. apply P_cons with (v := fst s (loc ev n)); [now left|]. apply IH.
Qed.
