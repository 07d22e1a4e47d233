(* Loop fast-forward: two states that agree up to a shift of the barrier counters behave alike, so a period whose end
   state is a shift of its start state can be repeated any number of times. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph.
Import ListNotations.
Local Open Scope Z_scope.

Section Fast.
  Variable m : mode.
  Variable lagf : elem -> Z.     (* per barrier element: the N of the Await that looks furthest back *)

  Definition lows (s : sst) (b : elem) : Z := amaxZ (sa s b) (sw s b) (lagf b).
  Definition rsim (lo1 lo2 : elem -> Z) (r1 r2 : srec) : Prop :=
    q0 r1 = q0 r2 /\ (forall g q f, V r1 g q f <-> V r2 g q f) /\
    (forall b str y, 0 <= y -> (Ple r1 b str (lo1 b + y) <-> Ple r2 b str (lo2 b + y))).
  Definition psim (lo1 lo2 : elem -> Z) (S1 S2 : srec -> Prop) : Prop :=
    (forall r1, S1 r1 -> exists r2, S2 r2 /\ rsim lo1 lo2 r1 r2) /\
    (forall r2, S2 r2 -> exists r1, S1 r1 /\ rsim lo1 lo2 r1 r2).
  Definition sim (D : elem -> Z) (s1 s2 : sst) : Prop :=
    (forall b, sa s2 b = sa s1 b + D b) /\ (forall b, sw s2 b = sw s1 b + D b) /\
    (forall mut p, psim (lows s1) (lows s2) (sel mut s1 p) (sel mut s2 p)).

  Definition compat (n l : Z) : Prop := (0 <= n /\ n <= l) \/ (n < 0 /\ l < 0 /\ l <= n).
  Definition uniform (D : elem -> Z) (o : op) : Prop :=
    match o with
    | EAlloc es => forall e, In e es -> D e = 0
    | EArrive _ _ _ h Es => forall e, In e Es -> D e = D h
    | EAwait _ b _ _ n _ => compat n (lagf b)
    | _ => True
    end.

  (* Similar sets of records stay similar under an update, a condition, a union, and equal bounds. *)
  Lemma psim_lift lo1 lo2 lo1' lo2' S1 S2 f1 f2 :
    (forall r1 r2, rsim lo1 lo2 r1 r2 -> rsim lo1' lo2' (f1 r1) (f2 r2)) -> psim lo1 lo2 S1 S2 ->
    psim lo1' lo2' (fun r => exists r0, S1 r0 /\ r = f1 r0) (fun r => exists r0, S2 r0 /\ r = f2 r0).
  Proof.
    intros H [A B]. split.
    - intros r (r0 & I & ->). destruct (A r0 I) as (r2 & J & K). exists (f2 r2). split; eauto.
    - intros r (r0 & I & ->). destruct (B r0 I) as (r1 & J & K). exists (f1 r1). split; eauto.
  Qed.
  Lemma psim_sub lo1 lo2 (c : Prop) S1 S2 : psim lo1 lo2 S1 S2 -> psim lo1 lo2 (fun r => c /\ S1 r) (fun r => c /\ S2 r).
  Proof.
    intros [A B]. split.
    - intros r [C I]. destruct (A r I) as (r2 & J & K). eauto.
    - intros r [C I]. destruct (B r I) as (r2 & J & K). eauto.
  Qed.
  Lemma psim_or lo1 lo2 S1 S2 T1 T2 : psim lo1 lo2 S1 S2 -> psim lo1 lo2 T1 T2 -> psim lo1 lo2 (fun r => S1 r \/ T1 r) (fun r => S2 r \/ T2 r).
  Proof.
    intros [A B] [C D]. split.
    - intros r [I|I]; [destruct (A r I) as (r2 & J & K)|destruct (C r I) as (r2 & J & K)]; eauto.
    - intros r [I|I]; [destruct (B r I) as (r2 & J & K)|destruct (D r I) as (r2 & J & K)]; eauto.
  Qed.
  Lemma psim_ext lo1 lo2 lo1' lo2' S1 S2 : (forall b, lo1 b = lo1' b) -> (forall b, lo2 b = lo2' b) -> psim lo1 lo2 S1 S2 -> psim lo1' lo2' S1 S2.
  Proof.
    intros E1 E2 [A B]. assert (R : forall r1 r2, rsim lo1 lo2 r1 r2 -> rsim lo1' lo2' r1 r2).
    { intros r1 r2 (X & Y & Z). split; auto. split; auto. intros b str y. rewrite <- E1, <- E2. apply Z. }
    split.
    - intros r I. destruct (A r I) as (r2 & J & K). eauto.
    - intros r I. destruct (B r I) as (r2 & J & K). eauto.
  Qed.

  (* How far an Await looks back differs from the furthest by a constant. *)
  Lemma amax_low a w n l : compat n l -> exists c, 0 <= c /\ amaxZ a w n = amaxZ a w l + c /\ forall a' w', amaxZ a' w' n = amaxZ a' w' l + c.
  Proof.
    unfold compat, amaxZ. intros H. exists (if 0 <=? n then l - n else n - l).
    destruct (Z.leb_spec 0 n), (Z.leb_spec 0 l); try lia; (split; [lia|]; split; intros; lia).
  Qed.

  (* Similar records are picked up alike. *)
  Lemma wit_sim D s1 s2 o str r1 r2 : sim D s1 s2 -> uniform D o -> rsim (lows s1) (lows s2) r1 r2 -> (wit o s1 str r1 <-> wit o s2 str r2).
  Proof.
    intros (Sa & Sw & _) U (Q & VV & PP). destruct o; simpl in *; try tauto.
    - rewrite Q. split; intros (g & q & A & B & C1 & E); exists g, q; repeat split; auto; now apply VV.
    - rewrite Q. split; intros (g & q & A & B & C1 & E); exists g, q; repeat split; auto; now apply VV.
    - destruct (amax_low (sa s1 b) (sw s1 b) n (lagf b) U) as (c & C0 & _ & E). unfold amax. rewrite !E. apply (PP b str c C0).
  Qed.

  (* one event preserves the simulation *)
  Lemma sim_step D s1 s2 o : sim D s1 s2 -> uniform D o -> sim D (sapply m s1 o) (sapply m s2 o).
  Proof.
    intros H U. pose proof H as (Sa & Sw & Sr).
    (* the effect of a synchronization event on a pair of similar records *)
    assert (UPD : forall lo1' lo2' : elem -> Z, is_sync o ->
      (forall b, exists d, 0 <= d /\ lo1' b = lows s1 b + d /\ lo2' b = lows s2 b + d) ->
      forall r1 r2, rsim (lows s1) (lows s2) r1 r2 -> rsim lo1' lo2' (upd m o s1 r1) (upd m o s2 r2)).
    { intros lo1' lo2' Sy Lo r1 r2 R. pose proof R as (Q & VV & PP). split; [exact Q|]. split.
      - intros g q f. simpl. rewrite VV. split; intros [X|(str & W & E)]; auto; right; exists str; split; auto;
          apply (wit_sim D s1 s2 o str r1 r2 H U R); exact W.
      - intros b str y Hy. destruct (Lo b) as (d & Hd & -> & ->). rewrite <- !Z.add_assoc.
        specialize (PP b str (d + y) ltac:(lia)). unfold Ple in *. simpl.
        pose proof (wit_sim D s1 s2 o str r1 r2 H U R) as WS.
        split; intros (k & [X|[W E]] & L).
        + destruct (proj1 PP) as (k' & X' & L'); [eauto|]. exists k'. auto.
        + unfold effP in E. destruct o; try contradiction. simpl in U. destruct E as [I ->].
          exists (sa s2 h). split; [right; split; [now apply WS|simpl; auto]|]. specialize (U b I). rewrite (Sa h).
          unfold lows in *. rewrite (Sa b), (Sw b). unfold amaxZ in *. destruct (0 <=? lagf b); lia.
        + destruct (proj2 PP) as (k' & X' & L'); [eauto|]. exists k'. auto.
        + unfold effP in E. destruct o; try contradiction. simpl in U. destruct E as [I ->].
          exists (sa s1 h). split; [right; split; [now apply WS|simpl; auto]|]. specialize (U b I). rewrite (Sa h) in L.
          unfold lows in *. rewrite (Sa b), (Sw b) in L. unfold amaxZ in *. destruct (0 <=? lagf b); lia. }
    destruct o; simpl; auto.
    - (* alloc *) split; [|split].
      + intros b. simpl. destruct (inE b es) eqn:E; auto. apply inE_In in E. simpl in U. rewrite (U b E). lia.
      + intros b. simpl. destruct (inE b es) eqn:E; auto. apply inE_In in E. simpl in U. rewrite (U b E). lia.
      + intros mut p.
        assert (K : forall r1 r2, rsim (lows s1) (lows s2) r1 r2 -> rsim (lows (alloc es s1)) (lows (alloc es s2)) (dropP es r1) (dropP es r2)).
        { intros r1 r2 (Q & VV & PP). split; [exact Q|]. split; [exact VV|]. intros b str y Hy. unfold Ple, lows. simpl.
          destruct (inE b es) eqn:E.
          - apply inE_In in E. split; intros (k & (_ & N) & _); contradiction.
          - specialize (PP b str y Hy). unfold Ple, lows in PP. split; intros (k & (X & N) & L);
              [destruct (proj1 PP) as (k' & X' & L')|destruct (proj2 PP) as (k' & X' & L')]; eauto. }
        specialize (Sr mut p). destruct mut; simpl in *; apply psim_sub; revert Sr; apply psim_lift; exact K.
    - (* record *) split; [exact Sa|]. split; [exact Sw|]. intros mut0 p.
      assert (NN : psim (lows s1) (lows s2) (NewRecs m cvg C q ooo Qa Zs (sa s1)) (NewRecs m cvg C q ooo Qa Zs (sa s2))).
      { assert (K : forall K, rsim (lows s1) (lows s2) (NewRec m K q ooo Qa Zs (sa s1)) (NewRec m K q ooo Qa Zs (sa s2))).
        { intros K. split; [reflexivity|]. split; [reflexivity|]. intros b str y Hy. unfold Ple, lows. simpl. split.
          - intros (k & (I & ->) & L). exists (sa s2 b). split; auto. rewrite (Sa b), (Sw b). unfold amaxZ in *. destruct (0 <=? lagf b); lia.
          - intros (k & (I & ->) & L). exists (sa s1 b). split; auto. rewrite (Sa b), (Sw b) in L. unfold amaxZ in *. destruct (0 <=? lagf b); lia. }
        unfold NewRecs. destruct (grouped m cvg q).
        - split; intros r ->; eexists; split; eauto.
        - split; intros r (g & G & ->); eexists; split; eauto. }
      pose proof (Sr true p) as SM. pose proof (Sr false p) as SR. simpl in SM, SR.
      destruct mut, mut0; simpl.
      + destruct (inE p es); [|exact SM]. apply psim_or; [apply psim_sub|]; assumption.
      + destruct (inE p es); [|exact SR]. apply psim_sub. assumption.
      + exact SM.
      + apply psim_or; [assumption|]. apply psim_sub. assumption.
    - (* fence *) split; [exact Sa|]. split; [exact Sw|]. intros mut p. specialize (Sr mut p).
      destruct mut; simpl in *; revert Sr; apply psim_lift; apply UPD; simpl; auto; intros b; exists 0; rewrite !Z.add_0_r; (split; [apply Z.le_refl|split; reflexivity]).
    - (* arrive *)
      assert (Lo : forall b, exists d, 0 <= d /\ lows (sapply m s1 (EArrive tr C Q1 h Es)) b = lows s1 b + d /\ lows (sapply m s2 (EArrive tr C Q1 h Es)) b = lows s2 b + d).
      { intros b. unfold lows. simpl. unfold set, amaxZ. destruct (eeqb b h) eqn:E.
        - apply eeqb_spec in E. subst b. exists (if 0 <=? lagf h then 1 else 0). destruct (0 <=? lagf h); lia.
        - exists 0. destruct (0 <=? lagf b); lia. }
      split; [|split].
      + intros b. unfold set. simpl. unfold set. destruct (eeqb b h) eqn:E; auto. apply eeqb_spec in E. subst. rewrite (Sa h). lia.
      + exact Sw.
      + intros mut p. specialize (Sr mut p). destruct mut; simpl in *; revert Sr; apply psim_lift; apply UPD; simpl; auto.
    - (* await *)
      assert (Lo : forall b', exists d, 0 <= d /\ lows (sapply m s1 (EAwait C b F T n one)) b' = lows s1 b' + d /\ lows (sapply m s2 (EAwait C b F T n one)) b' = lows s2 b' + d).
      { intros b'. unfold lows. simpl. unfold set, wnext, wnextZ, amaxZ. destruct (eeqb b' b) eqn:E.
        - apply eeqb_spec in E. subst b'. simpl in U. unfold compat in U. exists (if 0 <=? lagf b then 0 else 1).
          destruct (Z.leb_spec 0 (lagf b)), (Z.leb_spec 0 n); try lia.
        - exists 0. destruct (0 <=? lagf b'); lia. }
      split; [|split].
      + exact Sa.
      + intros b'. simpl. unfold set. destruct (eeqb b' b) eqn:E; auto. apply eeqb_spec in E. subst.
        unfold wnext, wnextZ, amaxZ. rewrite (Sa b), (Sw b). destruct (0 <=? n); lia.
      + intros mut p. specialize (Sr mut p). destruct mut; simpl in *; revert Sr; apply psim_lift; apply UPD; simpl; auto.
  Qed.

  (* Similar states pass the same checks ... *)
  Lemma okE_sim D s1 s2 mut cvg C f Q p : sim D s1 s2 -> (okE mut cvg C f Q s1 p <-> okE mut cvg C f Q s2 p).
  Proof.
    intros (_ & _ & Sr). destruct (Sr mut p) as [A B].
    assert (K : forall r1 r2, rsim (lows s1) (lows s2) r1 r2 -> (vis cvg C Q f r1 <-> vis cvg C Q f r2)).
    { intros r1 r2 (_ & VV & _). apply (visL_ext cvg C Q (fun g q => V r1 g q f) (fun g q => V r2 g q f)). intros. apply VV. }
    unfold okE. split.
    - intros H r Hr. destruct (B r Hr) as (r1 & H1 & R). apply (K _ _ R). auto.
    - intros H r Hr. destruct (A r Hr) as (r2 & H2 & R). apply (K _ _ R). auto.
  Qed.
  (* ... and have the same verdict. *)
  Lemma good_sim D s1 s2 o : sim D s1 s2 -> (good m s1 o <-> good m s2 o).
  Proof.
    intros H. pose proof H as (Sa & Sw & _). destruct o; simpl; try tauto.
    - split; intros A p I; [apply (okE_sim D s1 s2)|apply (okE_sim D s1 s2)]; auto.
    - split; intros A p I; specialize (A p I); rewrite ?Sa, ?Sw in *; lia.
    - unfold prog_bad. replace (progZ m (sa s2 b) (sw s2 b) n one) with (progZ m (sa s1 b) (sw s1 b) n one); [tauto|].
      rewrite (Sa b), (Sw b). unfold progZ, amaxZ. f_equal. f_equal.
      + destruct (0 <=? n); auto. apply eq_true_iff_eq. rewrite !Z.leb_le. lia.
      + f_equal. apply eq_true_iff_eq. rewrite !Z.leb_le. lia.
  Qed.

  (* ---- traces ---- *)
  Definition sapplys (s : sst) (T : list op) : sst := fold_left (sapply m) T s.
  Fixpoint goods (s : sst) (T : list op) : Prop := match T with [] => True | o :: T' => good m s o /\ goods (sapply m s o) T' end.
  Fixpoint times (n : nat) (T : list op) : list op := match n with O => [] | S k => times k T ++ T end.
  Definition uniforms D (T : list op) : Prop := forall o, In o T -> uniform D o.

  (* Applying two lists of events. *)
  Lemma sapplys_app s T1 T2 : sapplys s (T1 ++ T2) = sapplys (sapplys s T1) T2.
  Proof. apply fold_left_app. Qed.
  (* Verdict of two lists in a row. *)
  Lemma goods_app T1 : forall s T2, goods s (T1 ++ T2) <-> goods s T1 /\ goods (sapplys s T1) T2.
  Proof. induction T1 as [|o T1 IH]; intros s T2; simpl; [tauto|]. rewrite IH. tauto. Qed.
  (* A list of events preserves similarity and verdict. *)
  Lemma sim_trace D T : uniforms D T -> forall s1 s2, sim D s1 s2 -> sim D (sapplys s1 T) (sapplys s2 T) /\ (goods s1 T <-> goods s2 T).
  Proof.
    induction T as [|o T IH]; intros U s1 s2 H; simpl; [tauto|].
    assert (U1 : uniform D o) by (apply U; now left). assert (U2 : uniforms D T) by (intros x I; apply U; now right).
    pose proof (sim_step D s1 s2 o H U1) as H'. destruct (IH U2 _ _ H') as [A B]. split; auto.
    rewrite B. pose proof (good_sim D s1 s2 o H). tauto.
  Qed.
  (* Similarity is reflexive ... *)
  Lemma sim_refl s : sim (fun _ => 0) s s.
  Proof.
    split; [intros; lia|]. split; [intros; lia|]. intros mut p. split; intros r I; exists r; split; auto; (split; [reflexivity|split; reflexivity]).
  Qed.
  (* ... transitive, the shifts add up ... *)
  Lemma sim_trans D1 D2 s1 s2 s3 : sim D1 s1 s2 -> sim D2 s2 s3 -> sim (fun b => D1 b + D2 b) s1 s3.
  Proof.
    intros (A1 & W1 & R1) (A2 & W2 & R2). split; [|split].
    - intros b. rewrite A2, A1. lia.
    - intros b. rewrite W2, W1. lia.
    - intros mut p. destruct (R1 mut p) as [X1 Y1], (R2 mut p) as [X2 Y2].
      assert (T : forall a b c, rsim (lows s1) (lows s2) a b -> rsim (lows s2) (lows s3) b c -> rsim (lows s1) (lows s3) a c).
      { intros a b c (Q1 & V1 & P1) (Q2 & V2 & P2). split; [congruence|]. split; [intros; now rewrite V1|].
        intros bb str y Hy. now rewrite P1, P2. }
      split.
      + intros r I. destruct (X1 r I) as (r2 & I2 & K1). destruct (X2 r2 I2) as (r3 & I3 & K2). eauto.
      + intros r I. destruct (Y2 r I) as (r2 & I2 & K1). destruct (Y1 r2 I2) as (r3 & I3 & K2). eauto.
  Qed.
  (* ... and depends on the shift's values only. *)
  Lemma sim_ext D D' s1 s2 : (forall b, D b = D' b) -> sim D s1 s2 -> sim D' s1 s2.
  Proof. intros E (A & B & C). split; [intros; now rewrite A, E|]. split; [intros; now rewrite B, E|]. exact C. Qed.
  Definition mulD (n : nat) (D : elem -> Z) : elem -> Z := fun b => Z.of_nat n * D b.
  (* Uniform for a shift, uniform for its multiples. *)
  Lemma uniforms_mul n D T : uniforms D T -> uniforms (mulD n D) T.
  Proof.
    intros U o I. specialize (U o I). destruct o; simpl in *; auto; intros e Ie; unfold mulD; rewrite (U e Ie); lia.
  Qed.

  (* FAST FORWARD *)
  Theorem fast_forward D s T : sim D s (sapplys s T) -> uniforms D T -> goods s T ->
    forall n, goods s (times n T) /\ sim (mulD n D) s (sapplys s (times n T)).
  Proof.
    intros H U G. induction n as [|n [IG IS]].
    - simpl. split; auto. apply sim_ext with (fun _ => 0); [intros; unfold mulD; lia|apply sim_refl].
    - simpl. destruct (sim_trace (mulD n D) T (uniforms_mul n D T U) _ _ IS) as [A B].
      rewrite goods_app, sapplys_app. split; [split; auto; now apply B|].
      apply sim_ext with (fun b => D b + mulD n D b); [intros; unfold mulD; lia|].
      apply sim_trans with (sapplys s T); auto.
  Qed.
  (* ... and what was accepted after it once is accepted after any number. *)
  Corollary fast_forward_suffix D s T E : sim D s (sapplys s T) -> uniforms D T -> goods s T -> uniforms D E ->
    forall n, goods s E -> goods s (times n T ++ E).
  Proof.
    intros H U G UE n GE. destruct (fast_forward D s T H U G n) as [A B]. apply goods_app. split; auto.
    apply (sim_trace (mulD n D) E (uniforms_mul n D E UE) _ _ B). assumption.
  Qed.
End Fast.
