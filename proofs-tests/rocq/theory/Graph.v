(* The happens-before trace graph, and its equivalence with the record machine (levels and verdict). *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules.
Import ListNotations.
Local Open Scope nat_scope.

Section Graph.
  Variable m : mode.
  Variable ev : nat -> op.          (* the trace: operation number j *)

  (* ---- barrier counters: a function of the trace alone ---- *)
  Fixpoint cnt (n : nat) : (elem -> Z) * (elem -> Z) :=
    match n with
    | O => (fun _ => 0%Z, fun _ => 0%Z)
    | S j => let (a, w) := cnt j in
        match ev j with
        | EAlloc es => (fun p => if inE p es then 0%Z else a p, fun p => if inE p es then 0%Z else w p)
        | EArrive _ _ _ h _ => (set a h (a h + 1)%Z, w)
        | EAwait _ b _ _ n _ => (a, set w b (wnextZ (a b) (w b) n))
        | _ => (a, w)
        end
    end.
  Definition ca n := fst (cnt n).
  Definition cw n := snd (cnt n).

  (* ---- vertices and edges ---- *)
  (* What vertex u gives out: (thread, timeline, flag) triples, or (barrier element, arrival index) pairs. *)
  Definition out_tl (u : nat) (str : bool) (g : tid) (q : qtl) (f : flag) : Prop := effV m (ev u) str g q f.
  Definition out_p (u : nat) (b : elem) (k : Z) : Prop :=
    match ev u with EArrive _ _ _ h Es => In b Es /\ k = ca u h | _ => False end.
  (* What vertex v takes in, for an access whose original timeline is qa. *)
  Definition in_tl (v : nat) (qa : qtl) (g : tid) (q : qtl) : Prop :=
    match ev v with
    | EFence tr C Q1 _ _ | EArrive tr C Q1 _ _ => mem g C = true /\ bit Q1 q = true /\ (tr = true \/ q = qa)
    | _ => False
    end.
  Definition in_p (v : nat) (b : elem) (k : Z) : Prop :=
    match ev v with EAwait _ b' _ _ n _ => b = b' /\ (k <= amaxZ (ca v b) (cw v b) n)%Z | _ => False end.

  (* a pending arrival on b does not outlive a new allocation of b *)
  Definition keepP (u n : nat) (b : elem) : Prop := forall j es, u < j < n -> ev j = EAlloc es -> ~ In b es.

  (* r0: what the access vertex itself gives out (its flags, its trailing barriers) *)
  Section Access.
    Variables (i : nat) (r0 : srec).
    Definition edge0 (str : bool) (v : nat) : Prop :=
      (exists g q, V r0 g q (wfl str) /\ in_tl v (q0 r0) g q) \/ (exists b k, P r0 b str k /\ in_p v b k /\ keepP i v b).
    Definition edge (u : nat) (su : bool) (v : nat) (str : bool) : Prop :=
      (exists g q, out_tl u su g q (wfl str) /\ in_tl v (q0 r0) g q) \/ (su = str /\ exists b k, out_p u b k /\ in_p v b k /\ keepP u v b).
    Inductive touched : bool -> nat -> Prop :=
    | T_src str v : i < v -> edge0 str v -> touched str v
    | T_step u su v str : touched su u -> u < v -> edge u su v str -> touched str v.
    (* Only later events take an access in. *)
    Lemma touched_gt str v : touched str v -> i < v.
    Proof. induction 1; lia. Qed.
    (* How an access got to an event. *)
    Lemma touched_inv str v : touched str v -> edge0 str v \/ exists u su, touched su u /\ u < v /\ edge u su v str.
    Proof. intros H. destruct H; eauto 8. Qed.
    (* the level an access has reached for (g,q) just before event n *)
    Definition level (n : nat) (g : tid) (q : qtl) (f : flag) : Prop :=
      V r0 g q f \/ exists u str, u < n /\ touched str u /\ out_tl u str g q f.
    Definition pending (n : nat) (b : elem) (str : bool) (k : Z) : Prop :=
      (P r0 b str k /\ keepP i n b) \/ exists u, u < n /\ touched str u /\ out_p u b k /\ keepP u n b.
  End Access.

  (* ---- which accesses are live for an element ---- *)
  Definition clears (mut : bool) (o : op) (p : elem) : Prop :=
    match o with
    | EAlloc es => In p es
    | ERec true _ _ _ es q Qa _ => In p es /\ keeps m mut q Qa = false
    | _ => False
    end.
  Definition accesses (mut : bool) (o : op) (p : elem) : Prop :=
    match o with ERec b _ _ _ es _ _ _ => b = mut /\ In p es | _ => False end.
  Definition source (i : nat) (r0 : srec) : Prop :=
    match ev i with ERec _ cvg ooo C _ q Qa Zs => NewRecs m cvg C q ooo Qa Zs (ca i) r0 | _ => False end.
  Definition live (mut : bool) (i n : nat) (p : elem) : Prop :=
    i < n /\ accesses mut (ev i) p /\ forall j, i < j < n -> ~ clears mut (ev j) p.

  Definition visL (cvg : bool) (K : tset) (Q : mask) (lev : tid -> qtl -> Prop) : Prop :=
    if cvg then exists g, mem g K = true /\ exists q, bit Q q = true /\ lev g q
    else forall g, mem g K = true -> exists q, bit Q q = true /\ lev g q.
  Definition gokE (n : nat) (mut cvg : bool) C f Q (p : elem) : Prop :=
    forall i r0, live mut i n p -> source i r0 -> visL cvg C Q (fun g q => level i r0 n g q f).
  Definition ggood (n : nat) : Prop :=
    match ev n with
    | EChk mut cvg C f es Q => forall p, In p es -> gokE n mut cvg C f Q p
    | EBar es => forall p, In p es -> ca n p = cw n p
    | EAwait _ b _ _ k one => progZ m (ca n b) (cw n b) k one = false
    | EBad => False
    | _ => True
    end.

  (* ---- the record machine, as a total state transformer ---- *)
  Definition updo (o : op) (s : sst) (r : srec) : srec :=
    match o with
    | EFence _ _ _ _ _ | EArrive _ _ _ _ _ | EAwait _ _ _ _ _ _ => upd m o s r
    | EAlloc es => dropP es r
    | _ => r
    end.
  Definition sapply (s : sst) (o : op) : sst :=
    match o with
    | EAlloc es => alloc es s
    | ERec mut cvg ooo C es q Qa Zs => record m mut cvg ooo C es q Qa Zs s
    | EFence _ _ _ _ _ => lift (upd m o s) s (sa s) (sw s)
    | EArrive _ _ _ h _ => lift (upd m o s) s (set (sa s) h (sa s h + 1)%Z) (sw s)
    | EAwait _ b _ _ n _ => lift (upd m o s) s (sa s) (set (sw s) b (wnext s b n))
    | _ => s
    end.
  Fixpoint st (n : nat) : sst := match n with O => sst0 | S j => sapply (st j) (ev j) end.
  Definition good (s : sst) (o : op) : Prop :=
    match o with
    | EChk mut cvg C f es Q => forall p, In p es -> okE mut cvg C f Q s p
    | EBar es => forall p, In p es -> sa s p = sw s p
    | EAwait _ b _ _ n one => prog_bad m s b n one = false
    | EBad => False
    | _ => True
    end.

  (* The counters are a function of the trace. *)
  Lemma st_cnt n : sa (st n) = ca n /\ sw (st n) = cw n.
  Proof.
    unfold ca, cw. induction n as [|n [IHa IHw]]; simpl; auto.
    destruct (cnt n) as [a w]. simpl in *. destruct (ev n); simpl; unfold wnext; rewrite ?IHa, ?IHw; auto.
  Qed.

  (* evolution of one record *)
  Fixpoint evo (i : nat) (r0 : srec) (k : nat) : srec :=
    match k with O => r0 | S k' => let n := S (i + k') in updo (ev n) (st n) (evo i r0 k') end.

  (* One more event of a record's life. *)
  Lemma evo_S i r0 k : evo i r0 (S k) = updo (ev (S (i + k))) (st (S (i + k))) (evo i r0 k).
  Proof. reflexivity. Qed.
  (* A record keeps its timeline. *)
  Lemma q0_evo i r0 k : q0 (evo i r0 k) = q0 r0.
  Proof. induction k; simpl; auto. rewrite <- IHk. unfold updo. now destruct (ev _). Qed.

  (* A pending entry lives until the barrier is allocated anew. *)
  Lemma keepP_S u n b : u < n -> (keepP u (S n) b <-> keepP u n b /\ forall es, ev n = EAlloc es -> ~ In b es).
  Proof.
    intros L. unfold keepP. split.
    - intros H. split; [intros j es J E|intros es E].
      + apply (H j es); [lia|auto].
      + apply (H n es); [lia|auto].
    - intros [H1 H2] j es J E. destruct (Nat.eq_dec j n) as [->|D]; [auto|]. apply (H1 j); auto. lia.
  Qed.
  (* Nothing happens between an event and the next. *)
  Lemma keepP_now u b : keepP u (S u) b.
  Proof. intros j es J. lia. Qed.

  Definition is_syncb (o : op) : bool := match o with EFence _ _ _ _ _ | EArrive _ _ _ _ _ | EAwait _ _ _ _ _ _ => true | _ => false end.

  (* main lemma: the record is the closure of its access vertex in the graph *)
  Lemma evo_graph i r0 k :
    (forall g q f, V (evo i r0 k) g q f <-> level i r0 (S (i + k)) g q f) /\
    (forall b str z, P (evo i r0 k) b str z <-> pending i r0 (S (i + k)) b str z).
  Proof.
    induction k as [|k [IV IP]].
    - simpl. rewrite Nat.add_0_r. split; intros; unfold level, pending; split; auto.
      + intros [H|(u & str & L & Tu & _)]; auto. apply touched_gt in Tu. lia.
      + intros H. left. split; auto. apply keepP_now.
      + intros [[H _]|(u & L & Tu & _)]; auto. apply touched_gt in Tu. lia.
    - remember (S (i + k)) as n eqn:Hn. destruct (st_cnt n) as [Ca Cw].
      (* the machine's witness test is reachability *)
      assert (W : is_syncb (ev n) = true -> forall str, wit (ev n) (st n) str (evo i r0 k) <-> touched i r0 str n).
      { intros Sy str. split.
        - intros H. destruct (ev n) eqn:E; try discriminate; simpl in H.
          + destruct H as (g & q & Gm & Bq & Tq & H). rewrite q0_evo in Tq. apply IV in H as [H|(u & su & L & Tu & O)].
            * apply T_src; [lia|]. left. exists g, q. unfold in_tl. rewrite E. auto.
            * apply T_step with u su; auto. left. exists g, q. unfold in_tl. rewrite E. auto.
          + destruct H as (g & q & Gm & Bq & Tq & H). rewrite q0_evo in Tq. apply IV in H as [H|(u & su & L & Tu & O)].
            * apply T_src; [lia|]. left. exists g, q. unfold in_tl. rewrite E. auto.
            * apply T_step with u su; auto. left. exists g, q. unfold in_tl. rewrite E. auto.
          + destruct H as (z & H & L1). unfold amax in L1. rewrite ?Ca, ?Cw in L1. apply IP in H as [[H Kp]|(u & L & Tu & O & Kp)].
            * apply T_src; [lia|]. right. exists b, z. unfold in_p. rewrite E. auto.
            * apply T_step with u str; auto. right. split; auto. exists b, z. unfold in_p. rewrite E. auto.
        - intros H. apply touched_inv in H as [E0|(u & su & Tu & Lt & E0)].
          + destruct E0 as [(g & q & Hv & I)|(b0 & z & Hp & I & Kp)]; unfold in_tl, in_p in I; destruct (ev n) eqn:E; try contradiction; simpl.
            * exists g, q. rewrite q0_evo. destruct I as (I1 & I2 & I3). repeat split; auto. apply IV. now left.
            * exists g, q. rewrite q0_evo. destruct I as (I1 & I2 & I3). repeat split; auto. apply IV. now left.
            * destruct I as [-> I]. exists z. unfold amax. rewrite Ca, Cw. split; auto. apply IP. left. auto.
          + destruct E0 as [(g & q & Hv & I)|(-> & b0 & z & Hp & I & Kp)]; unfold in_tl, in_p in I; destruct (ev n) eqn:E; try contradiction; simpl.
            * exists g, q. rewrite q0_evo. destruct I as (I1 & I2 & I3). repeat split; auto. apply IV. right. exists u, su. auto.
            * exists g, q. rewrite q0_evo. destruct I as (I1 & I2 & I3). repeat split; auto. apply IV. right. exists u, su. auto.
            * destruct I as [-> I]. exists z. unfold amax. rewrite Ca, Cw. split; auto. apply IP. right. exists u. auto. }
      replace (S (i + S k)) with (S n) by lia.
      replace (evo i r0 (S k)) with (updo (ev n) (st n) (evo i r0 k)) by (simpl; now rewrite Hn).
      assert (Li : i < n) by lia.
      (* one more event, seen from the graph *)
      assert (LS : forall g q f, level i r0 (S n) g q f <-> level i r0 n g q f \/ exists str, touched i r0 str n /\ out_tl n str g q f).
      { intros g q f. unfold level. split.
        - intros [H|(u & str & L & Tu & O)]; auto. destruct (Nat.eq_dec u n) as [->|D]; [right; eauto|].
          left. right. exists u, str. repeat split; auto. lia.
        - intros [[H|(u & str & L & Tu & O)]|(str & Tu & O)]; auto; right; [exists u, str|exists n, str]; auto. }
      assert (PS : forall b str z, pending i r0 (S n) b str z <->
        (pending i r0 n b str z /\ forall es, ev n = EAlloc es -> ~ In b es) \/ (touched i r0 str n /\ out_p n b z)).
      { intros b str z. unfold pending. split.
        - intros [[H Kp]|(u & L & Tu & O & Kp)].
          + apply keepP_S in Kp as [K1 K2]; auto.
          + destruct (Nat.eq_dec u n) as [->|D]; [right; auto|]. apply keepP_S in Kp as [K1 K2]; [|lia].
            left. split; auto. right. exists u. repeat split; auto. lia.
        - intros [[[[H Kp]|(u & L & Tu & O & Kp)] N]|(Tu & O)].
          + left. split; auto. apply keepP_S; auto.
          + right. exists u. repeat split; auto. apply keepP_S; auto.
          + right. exists n. repeat split; auto. apply keepP_now. }
      split.
      + intros g q f. rewrite LS. destruct (ev n) eqn:E; simpl; rewrite ?IV; unfold out_tl; rewrite E;
          try (split; [auto|intros [H|(str & _ & [])]; exact H]);
          (apply or_iff_compat_l; split; intros (str & X1 & X2); exists str; split; auto; apply (W eq_refl); auto).
      + intros b str z. rewrite PS. unfold out_p. destruct (ev n) eqn:E; simpl; rewrite ?IP.
        * split; [intros [H N]; left; split; auto; intros es' X; injection X as <-; exact N|intros [[H N]|[_ []]]; split; auto].
        * split; [intros H; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
        * split; [intros H; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
        * split; [intros H; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
        * split; [intros [H|[_ []]]; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
        * rewrite <- Ca. split.
          -- intros [H|(X1 & X2)]; [left; split; auto; discriminate|right]. split; auto. apply (W eq_refl). exact X1.
          -- intros [[H _]|(X1 & X2)]; auto. right. split; auto. apply (W eq_refl) in X1. exact X1.
        * split; [intros [H|[_ []]]; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
        * split; [intros H; left; split; auto; discriminate|intros [[H _]|[_ []]]; auto].
  Qed.

  (* the live records of the machine are the evolutions of the live accesses of the graph *)
  Lemma live_S mut i n p : live mut i (S n) p <->
    (i = n /\ accesses mut (ev n) p) \/ (live mut i n p /\ ~ clears mut (ev n) p).
  Proof.
    unfold live. split.
    - intros (L & A & H). destruct (Nat.eq_dec i n) as [->|D]; [left; auto|right]. repeat split; auto; try lia.
      intros j J. apply H. lia. apply H. lia.
    - intros [[-> A]|[(L & A & H) N]].
      + repeat split; auto. lia.
      + repeat split; auto. intros j J. destruct (Nat.eq_dec j n) as [->|D]; auto. apply H. lia.
  Qed.

  (* The records of the machine are exactly the evolutions of the live accesses. *)
  Theorem st_graph n : forall mut p r, sel mut (st n) p r <->
    exists i r0, live mut i n p /\ source i r0 /\ r = evo i r0 (n - S i).
  Proof.
    induction n as [|n IH]; intros mut p r.
    - simpl. split; [now destruct mut|]. intros (i & r0 & (L & _) & _). lia.
    - destruct (st_cnt n) as [Ca Cw].
      (* old records, untouched or updated *)
      assert (Old : forall i r0, i < n -> evo i r0 (S n - S i) = updo (ev n) (st n) (evo i r0 (n - S i))).
      { intros i r0 L. replace (S n - S i) with (S (n - S i)) by lia. rewrite evo_S. now replace (S (i + (n - S i))) with n by lia. }
      assert (L1 : (exists i r0, live mut i (S n) p /\ source i r0 /\ r = evo i r0 (S n - S i)) <->
                   (accesses mut (ev n) p /\ source n r) \/
                   (~ clears mut (ev n) p /\ exists r1, sel mut (st n) p r1 /\ r = updo (ev n) (st n) r1)).
      { split.
        - intros (i & r0 & L & So & ->). apply live_S in L as [[-> A]|[L N]].
          + left. rewrite Nat.sub_diag. simpl. auto.
          + right. split; auto. exists (evo i r0 (n - S i)). split; [apply IH; eauto|]. apply Old. apply L.
        - intros [[A So]|[N (r1 & Hr & ->)]].
          + exists n, r. rewrite live_S, Nat.sub_diag. simpl. auto.
          + apply IH in Hr as (i & r0 & L & So & ->). exists i, r0. rewrite live_S. repeat split; auto.
            symmetry. apply Old. apply L. }
      rewrite L1. clear L1. simpl st. unfold source. destruct (ev n) eqn:E; simpl.
      + (* alloc *) destruct mut; simpl; (split; [intros [A (r1 & B & ->)]; right; eauto|intros [[[] _]|[A (r1 & B & ->)]]; eauto]).
      + (* record *) rewrite <- Ca. destruct mut0, mut; simpl; destruct (inE p es) eqn:Ei.
        * apply inE_In in Ei. split.
          -- intros [[A B]|A]; auto. right. split; [intros [_ X]; congruence|eauto].
          -- intros [[A B]|[A (r1 & B & ->)]]; auto. left. split; [|assumption].
             destruct (keeps m true q Qa); [reflexivity|exfalso; apply A; auto].
        * assert (~ In p es) by (rewrite <- inE_In; congruence). split.
          -- intros A. right. split; [tauto|eauto].
          -- intros [[[_ A] B]|[A (r1 & B & ->)]]; tauto.
        * apply inE_In in Ei. split.
          -- intros (A & B). right. split; [intros [_ X]; congruence|eauto].
          -- intros [[[A _] B]|[A (r1 & B & ->)]]; [discriminate|]. split; [|assumption].
             destruct (keeps m false q Qa); [reflexivity|exfalso; apply A; auto].
        * assert (~ In p es) by (rewrite <- inE_In; congruence). split.
          -- intros A. right. split; [tauto|eauto].
          -- intros [[[A _] B]|[A (r1 & B & ->)]]; [discriminate|auto].
        * split.
          -- intros A. right. split; [tauto|eauto].
          -- intros [[[A _] B]|[A (r1 & B & ->)]]; [discriminate|auto].
        * split.
          -- intros A. right. split; [tauto|eauto].
          -- intros [[[A _] B]|[A (r1 & B & ->)]]; [discriminate|auto].
        * apply inE_In in Ei. split.
          -- intros [A|A]; [right; split; [tauto|eauto]|left; tauto].
          -- intros [[A B]|[A (r1 & B & ->)]]; tauto.
        * assert (~ In p es) by (rewrite <- inE_In; congruence). split.
          -- intros [A|A]; [right; split; [tauto|eauto]|tauto].
          -- intros [[A B]|[A (r1 & B & ->)]]; tauto.
      + split; [intros A; right; split; [tauto|eauto]|intros [[[] _]|[A (r1 & B & ->)]]; auto].
      + split; [intros A; right; split; [tauto|eauto]|intros [[[] _]|[A (r1 & B & ->)]]; auto].
      + destruct mut; simpl; (split; [intros (r1 & A & ->); right; split; [tauto|eauto]|intros [[[] _]|[A B]]; auto]).
      + destruct mut; simpl; (split; [intros (r1 & A & ->); right; split; [tauto|eauto]|intros [[[] _]|[A B]]; auto]).
      + destruct mut; simpl; (split; [intros (r1 & A & ->); right; split; [tauto|eauto]|intros [[[] _]|[A B]]; auto]).
      + split; [intros A; right; split; [tauto|eauto]|intros [[[] _]|[A (r1 & B & ->)]]; auto].
  Qed.

  (* Only the level counts. *)
  Lemma visL_ext cvg K Q (l1 l2 : tid -> qtl -> Prop) : (forall g q, l1 g q <-> l2 g q) -> (visL cvg K Q l1 <-> visL cvg K Q l2).
  Proof.
    intros H. unfold visL. destruct cvg.
    - split; intros (g & A & q & B & D); exists g; split; auto; exists q; split; auto; now apply H.
    - split; intros A g G; destruct (A g G) as (q & B & D); exists q; split; auto; now apply H.
  Qed.

  (* LEVELS EQUAL: at every event, for every live access *)
  Theorem levels_equal n mut p r : sel mut (st n) p r ->
    exists i r0, live mut i n p /\ source i r0 /\ forall g q f, V r g q f <-> level i r0 n g q f.
  Proof.
    intros H. apply st_graph in H as (i & r0 & L & So & ->). exists i, r0. split; [exact L|]. split; [exact So|]. intros g q f.
    destruct (evo_graph i r0 (n - S i)) as [IV _]. destruct L as [L _]. replace (S (i + (n - S i))) with n in IV by lia. apply IV.
  Qed.

  (* So a check passes in the machine if and only if it passes in the graph ... *)
  Theorem okE_graph n mut cvg C f Q p : okE mut cvg C f Q (st n) p <-> gokE n mut cvg C f Q p.
  Proof.
    assert (K : forall i r0, live mut i n p -> (vis cvg C Q f (evo i r0 (n - S i)) <-> visL cvg C Q (fun g q => level i r0 n g q f))).
    { intros i r0 [L _]. destruct (evo_graph i r0 (n - S i)) as [IV _]. replace (S (i + (n - S i))) with n in IV by lia.
      unfold vis. apply (visL_ext cvg C Q (fun g q => V (evo i r0 (n - S i)) g q f)). intros. apply IV. }
    unfold okE, gokE. split.
    - intros H i r0 L So. apply K; auto. apply H. apply st_graph. eauto.
    - intros H r Hr. apply st_graph in Hr as (i & r0 & L & So & ->). apply K; auto.
  Qed.

  (* ... and so does every event. *)
  Theorem good_graph n : good (st n) (ev n) <-> ggood n.
  Proof.
    unfold good, ggood. destruct (st_cnt n) as [Ca Cw]. destruct (ev n); try tauto.
    - split; intros H p I; [apply okE_graph|apply okE_graph]; auto.
    - now rewrite Ca, Cw.
    - unfold prog_bad. now rewrite Ca, Cw.
  Qed.
End Graph.

(* ---- verdicts on finite traces ---- *)
Section Verdict.
  Variable m : mode.
  Definition evs (t : trace) (n : nat) : op := nth n (map snd t) EBad.

  (* The step relation as a function. *)
  Lemma sstep_good s l o s' : sstep m s (l, o) (OK s') -> s' = sapply m s o /\ good m s o.
  Proof. intros H. inversion H; subst; simpl; auto. Qed.
  Lemma good_sstep s l o : good m s o -> sstep m s (l, o) (OK (sapply m s o)).
  Proof. destruct o; simpl; intros H; try (now constructor); contradiction. Qed.

  (* The states that a run goes through. *)
  Lemma srun_states t : forall s o, srun m s t o ->
    match o with
    | OK s' => s' = fold_left (sapply m) (map snd t) s /\ forall pre l o' post, t = pre ++ (l, o') :: post -> good m (fold_left (sapply m) (map snd pre) s) o'
    | ER e => exists pre l o' post, t = pre ++ (l, o') :: post /\ sstep m (fold_left (sapply m) (map snd pre) s) (l, o') (ER e) /\
              forall pre' l' o'' post', pre = pre' ++ (l', o'') :: post' -> good m (fold_left (sapply m) (map snd pre') s) o''
    end.
  Proof.
    induction t as [|[l o] t IH]; intros s out H; inversion H; subst.
    - simpl. split; auto. intros pre ? ? ? E. destruct pre; discriminate.
    - match goal with A : sstep _ _ _ (OK _) |- _ => apply sstep_good in A as [-> G] end.
      match goal with A : srun _ _ t _ |- _ => apply IH in A end.
      destruct out as [s'|e].
      + match goal with A : _ /\ _ |- _ => destruct A as [-> A1] end. simpl. split; auto.
        intros pre l0 o' post E. destruct pre as [|[l1 o1] pre]; simpl in E; injection E; intros; subst; simpl; eauto.
      + match goal with A : exists _, _ |- _ => destruct A as (pre & l0 & o' & post & -> & A1 & A2) end.
        exists ((l, o) :: pre), l0, o', post. simpl. split; auto. split; auto.
        intros pre' l' o'' post' E. destruct pre' as [|[l1 o1] pre']; simpl in E; injection E; intros; subst; simpl; eauto.
    - exists [], l, o, t. simpl. split; auto. split; auto. intros pre' ? ? ? E. destruct pre'; discriminate.
  Qed.

  (* The state after a prefix of the trace. *)
  Lemma st_fold pre post : st m (evs (pre ++ post)) (length pre) = fold_left (sapply m) (map snd pre) sst0.
  Proof.
    revert post. induction pre as [|[l o] pre IH] using rev_ind; intros post; simpl; auto.
    rewrite app_length, Nat.add_1_r. simpl. rewrite map_app, fold_left_app, <- app_assoc. simpl. f_equal.
    - apply IH.
    - unfold evs. rewrite map_app. simpl. rewrite app_nth2; rewrite map_length; [|lia]. now rewrite Nat.sub_diag.
  Qed.
  (* The event at a position. *)
  Lemma evs_at pre l o post : evs (pre ++ (l, o) :: post) (length pre) = o.
  Proof. unfold evs. rewrite map_app. simpl. rewrite app_nth2; rewrite map_length; auto. now rewrite Nat.sub_diag. Qed.

  (* If every event is good, the trace runs to its end. *)
  Lemma all_good_srun t : forall s, (forall pre l o post, t = pre ++ (l, o) :: post -> good m (fold_left (sapply m) (map snd pre) s) o) ->
    srun m s t (OK (fold_left (sapply m) (map snd t) s)).
  Proof.
    induction t as [|[l o] t IH]; intros s H; simpl; [constructor|].
    econstructor; [apply good_sstep, (H [] l o t eq_refl)|]. apply IH. intros pre l' o' post E. apply (H ((l, o) :: pre) l' o' post). simpl. now rewrite E.
  Qed.

  (* the machine accepts a trace iff the graph does *)
  Theorem accept_graph t : (exists s, srun m sst0 t (OK s)) <-> forall n, n < length t -> ggood m (evs t) n.
  Proof.
    assert (E : forall pre l o post, good m (fold_left (sapply m) (map snd pre) sst0) o <-> ggood m (evs (pre ++ (l, o) :: post)) (length pre)).
    { intros. rewrite <- good_graph, (st_fold pre), evs_at. reflexivity. }
    split.
    - intros (s & H) n L. apply srun_states in H as [_ H].
      destruct (nth_error t n) as [[l o]|] eqn:N; [|apply nth_error_None in N; lia].
      apply nth_error_split in N as (pre & post & -> & <-). apply E. eauto.
    - intros H. eexists. apply all_good_srun. intros pre l o post ->. apply (E pre l o post). apply H. rewrite app_length. simpl. lia.
  Qed.
  (* the error the graph assigns to event n: first element whose check fails *)
  Definition gerr (ev : nat -> op) (n : nat) (l : N) (e : err) : Prop :=
    match ev n with
    | EChk mut cvg C f es Q => exists pre p post, es = pre ++ p :: post /\ (forall p', In p' pre -> gokE m ev n mut cvg C f Q p') /\
        ~ gokE m ev n mut cvg C f Q p /\ e = (l, if mut then KMut else KRead, Some p)
    | EBar es => exists pre p post, es = pre ++ p :: post /\ (forall p', In p' pre -> ca ev n p' = cw ev n p') /\
        ca ev n p <> cw ev n p /\ e = (l, KBar, Some p)
    | EAwait _ b _ _ k one => progZ m (ca ev n b) (cw ev n b) k one = true /\ e = (l, KProg, Some b)
    | EBad => e = (l, KBad, None)
    | _ => False
    end.
  (* the machine's error is the graph's error at the first event the graph rejects *)
  Theorem reject_graph t e : srun m sst0 t (ER e) ->
    exists n, n < length t /\ (forall j, j < n -> ggood m (evs t) j) /\ gerr (evs t) n (fst (nth n t (0%N, EBad))) e.
  Proof.
    intros H. apply srun_states in H as (pre & l & o & post & -> & S1 & G). exists (length pre).
    split; [rewrite app_length; simpl; lia|]. split.
    - intros j J. destruct (nth_error pre j) as [[l' o']|] eqn:N; [|apply nth_error_None in N; lia].
      apply nth_error_split in N as (pre' & post' & -> & <-). rewrite <- app_assoc. simpl.
      rewrite <- good_graph, (st_fold pre'), evs_at. eauto.
    - rewrite app_nth2 by lia. rewrite Nat.sub_diag. simpl. unfold gerr. rewrite evs_at.
      pose proof (st_fold pre ((l, o) :: post)) as F. destruct (st_cnt m (evs (pre ++ (l, o) :: post)) (length pre)) as [Ca Cw].
      rewrite <- F in S1. inversion S1; subst; auto.
      + exists pre0, p, post0. repeat split; auto.
        * intros p' I. apply okE_graph. auto.
        * rewrite <- okE_graph. intros C1. auto.
      + exists pre0, p, post0. rewrite <- Ca, <- Cw. repeat split; auto.
      + rewrite <- Ca, <- Cw. auto.
  Qed.
End Verdict.
