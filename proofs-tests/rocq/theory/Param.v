(* All trip counts from finitely many runs: decidable similarity of machine states, periodicity of loop bodies, and the
   theorem "accepted for every K" established by computation. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast.
Import ListNotations.
Local Open Scope Z_scope.

(* ---- decidable similarity ---- *)
Section XSim.
  Variable tbl : list (N * Z).               (* barrier variable -> furthest-looking N *)
  Definition lagt (e : elem) : Z := look tbl (fst e).
  Definition xlow (x : xst) (b : elem) : Z := let c := get x b in amaxZ (xa c) (xw c) (lagt b).
  Definition pcov (lo1 lo2 : elem -> Z) (l2 : list pend) (e1 : pend) : bool :=
    let '(b, s, k1) := e1 in
    anyb (fun e2 => let '(b', s', k2) := e2 in if Bool.eqb s s' then if Z.max 0 (k2 - lo2 b) <=? Z.max 0 (k1 - lo1 b) then eeqb b b' else false else false) l2.
  Definition gsub (l1 l2 : list grant) : bool := allb (fun g => anyb (g_eqb g) l2) l1.
  Definition xrsim (lo1 lo2 : elem -> Z) (x1 x2 : xrec) : bool :=
    if N.eqb (xq x1) (xq x2) && Bool.eqb (xfam x1) (xfam x2) && N.eqb (xini x1) (xini x2) && N.eqb (xat x1) (xat x2) then
    if gsub (xgr x1) (xgr x2) then if gsub (xgr x2) (xgr x1) then if teq (xown x1) (xown x2) then
    if allb (pcov lo1 lo2 (xP x2)) (xP x1) then allb (pcov lo2 lo1 (xP x1)) (xP x2) else false else false else false else false else false.
  Definition xpsim lo1 lo2 (l1 l2 : list xrec) : bool :=
    allb (fun a => anyb (xrsim lo1 lo2 a) l2) l1 && allb (fun b => anyb (fun a => xrsim lo1 lo2 a b) l1) l2.
  Definition xD (x1 x2 : xst) (b : elem) : Z := xa (get x2 b) - xa (get x1 b).
  Definition xsim (x1 x2 : xst) : bool :=
    forallb (fun p => let c1 := get x1 p in let c2 := get x2 p in
      (xw c2 =? xw c1 + xD x1 x2 p) && xpsim (xlow x1) (xlow x2) (xR c1) (xR c2) && xpsim (xlow x1) (xlow x2) (xM c1) (xM c2))
      (map fst x1 ++ map fst x2).

  (* One list of grants within another. *)
  Lemma gsub_spec l1 l2 : gsub l1 l2 = true -> forall g q f, inG l1 g q f -> inG l2 g q f.
  Proof.
    unfold gsub. rewrite allb_eq, forallb_forall. intros H g q f (gr & I & R). specialize (H gr I). rewrite anyb_eq in H. apply existsb_exists in H as (gr' & J & E).
    apply g_eqb_eq in E. subst. exists gr'. auto.
  Qed.
  (* Pending entries that cover others, up to what has fired already. *)
  Lemma pcov_spec lo1 lo2 l1 l2 : allb (pcov lo1 lo2 l2) l1 = true ->
    forall b s y, 0 <= y -> ple l1 b s (lo1 b + y) -> ple l2 b s (lo2 b + y).
  Proof.
    rewrite allb_eq, forallb_forall. intros H b s y Hy (k & I & L). specialize (H _ I). unfold pcov in H. rewrite anyb_eq in H. apply existsb_exists in H as ([[b' s'] k2] & J & E).
    rewrite !lazy_and, !andb_true_iff in E. destruct E as (E1 & E2 & E3). apply eqb_prop in E1. apply Z.leb_le in E2. apply eeqb_spec in E3. subst.
    exists k2. split; auto. lia.
  Qed.
  (* The test for similar records is sound ... *)
  Lemma xrsim_spec lo1 lo2 x1 x2 : xrsim lo1 lo2 x1 x2 = true ->
    (forall i, idx x1 i <-> idx x2 i) /\ forall i r1 r2, den x1 i r1 -> den x2 i r2 -> rsim lo1 lo2 r1 r2.
  Proof.
    unfold xrsim. rewrite !lazy_and, !andb_true_iff. intros ([[[A B] D] E] & G1 & G2 & C & P1 & P2).
    apply N.eqb_eq in A, D, E. apply eqb_prop in B. rewrite teq_spec in C. split.
    - intros i. unfold idx. rewrite B. destruct (xfam x2); [|tauto]. split; intros (u & -> & H); exists u; split; auto; congruence.
    - intros i r1 r2 (Q1 & V1 & R1) (Q2 & V2 & R2). split; [congruence|]. split.
      + intros g q f. rewrite V1, V2. unfold xV. rewrite A, D, E.
        assert (self x1 i g <-> self x2 i g) as -> by (destruct i; simpl; [tauto|now rewrite C]).
        assert (inG (xgr x1) g q f <-> inG (xgr x2) g q f) as -> by (split; now apply gsub_spec). reflexivity.
      + intros b str y Hy. rewrite R1, R2. split; eapply pcov_spec; eauto.
  Qed.
  (* ... for sets of records ... *)
  Lemma xpsim_spec lo1 lo2 l1 l2 S1 S2 : reps l1 S1 -> reps l2 S2 -> xpsim lo1 lo2 l1 l2 = true -> psim lo1 lo2 S1 S2.
  Proof.
    intros [A1 B1] [A2 B2]. unfold xpsim. rewrite andb_true_iff, !allb_eq, !forallb_forall. intros [H1 H2]. split.
    - intros r1 I. destruct (A1 r1 I) as (x1 & i & J & Hi & D). specialize (H1 x1 J). rewrite anyb_eq in H1. apply existsb_exists in H1 as (x2 & J2 & E).
      destruct (xrsim_spec _ _ _ _ E) as [Ei R]. apply Ei in Hi. destruct (B2 x2 i J2 Hi) as (r2 & I2 & D2). eauto.
    - intros r2 I. destruct (A2 r2 I) as (x2 & i & J & Hi & D). specialize (H2 x2 J). rewrite anyb_eq in H2. apply existsb_exists in H2 as (x1 & J1 & E).
      destruct (xrsim_spec _ _ _ _ E) as [Ei R]. apply Ei in Hi. destruct (B1 x1 i J1 Hi) as (r1 & I1 & D1). eauto.
  Qed.
  (* Keys of the state. *)
  Lemma has_In x p : has x p = true -> In p (map fst x).
  Proof. induction x as [|[k c] x IH]; simpl; [discriminate|]. rewrite orb_true_iff, eeqb_spec. intros [->|H]; auto. Qed.
  (* ... and for states. *)
  Theorem xsim_sound x1 x2 s1 s2 : rep x1 s1 -> rep x2 s2 -> xsim x1 x2 = true -> sim lagt (xD x1 x2) s1 s2.
  Proof.
    intros H1 H2 E. unfold xsim in E. rewrite forallb_forall in E.
    assert (K : forall p, let c1 := get x1 p in let c2 := get x2 p in
      xw c2 = xw c1 + xD x1 x2 p /\ xpsim (xlow x1) (xlow x2) (xR c1) (xR c2) = true /\ xpsim (xlow x1) (xlow x2) (xM c1) (xM c2) = true).
    { intros p. destruct (has x1 p || has x2 p) eqn:Hp.
      - assert (I : In p (map fst x1 ++ map fst x2)) by (apply in_or_app; apply orb_true_iff in Hp as [Hp|Hp]; apply has_In in Hp; auto).
        specialize (E p I). simpl in *. rewrite !andb_true_iff, Z.eqb_eq in E. tauto.
      - apply orb_false_iff in Hp as [A B]. unfold xD. rewrite (get_no _ _ A), (get_no _ _ B). simpl. auto. }
    assert (L1 : forall b, lows lagt s1 b = xlow x1 b) by (intros b; destruct (H1 b) as (_ & A & W); unfold lows, xlow; now rewrite A, W).
    assert (L2 : forall b, lows lagt s2 b = xlow x2 b) by (intros b; destruct (H2 b) as (_ & A & W); unfold lows, xlow; now rewrite A, W).
    split; [|split].
    - intros b. destruct (H1 b) as (_ & A1 & _), (H2 b) as (_ & A2 & _). rewrite A1, A2. unfold xD. lia.
    - intros b. destruct (H1 b) as (_ & _ & W1), (H2 b) as (_ & _ & W2). rewrite W1, W2. apply (K b).
    - intros mut p. destruct (K p) as (_ & KR & KM). destruct (H1 p) as (R1 & _), (H2 p) as (R2 & _).
      apply (psim_ext (xlow x1) (xlow x2)); auto. specialize (R1 mut). specialize (R2 mut).
      destruct mut; simpl in *; [revert KM|revert KR]; apply xpsim_spec; assumption.
  Qed.

  Definition compatb (n l : Z) : bool := ((0 <=? n) && (n <=? l)) || ((n <? 0) && (l <? 0) && (l <=? n)).
  Definition uniformb (D : elem -> Z) (o : op) : bool :=
    match o with
    | EAlloc es => forallb (fun e => D e =? 0) es
    | EArrive _ _ _ h Es => forallb (fun e => D e =? D h) Es
    | EAwait _ b _ _ n _ => compatb n (lagt b)
    | _ => true
    end.
  (* The test for uniform events is sound. *)
  Lemma uniformb_spec D T : forallb (uniformb D) T = true -> uniforms lagt D T.
  Proof.
    rewrite forallb_forall. intros H o I. specialize (H o I). destruct o; simpl in *; auto.
    - rewrite forallb_forall in H. intros e J. apply Z.eqb_eq; auto.
    - rewrite forallb_forall in H. intros e J. apply Z.eqb_eq; auto.
    - unfold compatb in H. unfold compat. rewrite orb_true_iff, !andb_true_iff, !Z.leb_le, !Z.ltb_lt in H. tauto.
  Qed.
End XSim.

(* ---- statements that do the same for k and k + pi, from k0 on ---- *)
Section Periodic.
  Variables (y : N) (k0 period : Z).
  Hypothesis ppos : 0 < period.
  Definition rel (s1 s2 : cenv) : Prop :=
    (exists k, k0 <= k /\ look s1 y = k /\ look s2 y = k + period) /\ forall x, x <> y -> look s1 x = look s2 x.

  (* change of value when y grows by one (exact for a growth by one period) *)
  Fixpoint slope (e : cx) : option Z :=
    match e with
    | CK _ => Some 0
    | CV x => Some (if N.eqb x y then 1 else 0)
    | CAdd a b => match slope a, slope b with Some c, Some d => Some (c + d) | _, _ => None end
    | CSub a b => match slope a, slope b with Some c, Some d => Some (c - d) | _, _ => None end
    | CMul a b => match slope a, slope b with
                  | Some 0, Some 0 => Some 0
                  | Some _, Some d => match a with CK z => Some (z * d) | _ => None end
                  | _, _ => None end
    | CDiv a b => match slope a, slope b with Some 0, Some 0 => Some 0 | _, _ => None end
    | CMod a b => match slope a, slope b with
                  | Some 0, Some 0 => Some 0
                  | Some c, Some _ => match b with CK d => if (0 <? d) && ((c * period) mod d =? 0) then Some 0 else None | _ => None end
                  | _, _ => None end
    end.
  (* An expression changes by its slope times the period. *)
  Lemma slope_spec e s1 s2 : rel s1 s2 -> forall c, slope e = Some c -> cev s2 e = cev s1 e + c * period.
  Proof.
    intros [(k & K0 & K1 & K2) R]. induction e; intros c H; simpl in *.
    - injection H as <-. lia.
    - injection H as <-. destruct (N.eqb_spec y0 y) as [->|D]; [rewrite K1, K2; lia|]. rewrite (R y0 D). lia.
    - destruct (slope e1) as [c1|], (slope e2) as [c2|]; try discriminate. injection H as <-. rewrite (IHe1 c1), (IHe2 c2); auto. lia.
    - destruct (slope e1) as [c1|], (slope e2) as [c2|]; try discriminate. injection H as <-. rewrite (IHe1 c1), (IHe2 c2); auto. lia.
    - destruct (slope e1) as [c1|] eqn:E1, (slope e2) as [c2|] eqn:E2; try (destruct c1; discriminate); try discriminate.
      assert (G : (c1 = 0 /\ c2 = 0 /\ c = 0) \/ exists z, e1 = CK z /\ c = z * c2).
      { destruct c1, c2; try (left; injection H as <-; auto; fail); destruct e1; try discriminate; right; injection H as <-; eauto. }
      rewrite (IHe1 c1), (IHe2 c2) by auto. destruct G as [(-> & -> & ->)|(z & -> & ->)]; [ring|].
      simpl in *. injection E1 as <-. ring.
    - destruct (slope e1) as [c1|], (slope e2) as [c2|]; try (destruct c1; discriminate); try discriminate.
      destruct c1, c2; try discriminate. injection H as <-.
      assert (cev s2 e1 = cev s1 e1) as -> by (rewrite (IHe1 0 eq_refl); lia).
      assert (cev s2 e2 = cev s1 e2) as -> by (rewrite (IHe2 0 eq_refl); lia). lia.
    - destruct (slope e1) as [c1|] eqn:E1, (slope e2) as [c2|] eqn:E2; try (destruct c1; discriminate); try discriminate.
      assert (G : (c1 = 0 /\ c2 = 0 /\ c = 0) \/ exists d, e2 = CK d /\ c = 0 /\ 0 < d /\ (c1 * period) mod d = 0).
      { destruct c1, c2; try (left; injection H as <-; auto; fail); destruct e2; try discriminate; right;
          match type of H with (if ?b then _ else _) = _ => destruct b eqn:B; [|discriminate] end;
          injection H as <-; apply andb_true_iff in B as [B1 B2]; apply Z.ltb_lt in B1; apply Z.eqb_eq in B2; eauto. }
      destruct G as [(-> & -> & ->)|(d & -> & -> & Dp & M)].
      + assert (cev s2 e1 = cev s1 e1) as -> by (rewrite (IHe1 0 eq_refl); lia).
        assert (cev s2 e2 = cev s1 e2) as -> by (rewrite (IHe2 0 eq_refl); lia). lia.
      + rewrite (IHe1 c1) by auto. simpl. rewrite Z.add_mod, M, Z.add_0_r, Z.mod_mod by lia. lia.
  Qed.
  Definition inv (e : cx) : bool := match slope e with Some 0 => true | _ => false end.
  (* Slope 0: the same value one period later. *)
  Lemma inv_spec e s1 s2 : rel s1 s2 -> inv e = true -> cev s1 e = cev s2 e.
  Proof. intros R H. unfold inv in H. destruct (slope e) as [[| |]|] eqn:E; try discriminate. rewrite (slope_spec e s1 s2 R 0 E). lia. Qed.

  (* guards: affine in y alone, with a truth value that no longer changes from k0 on *)
  Fixpoint aff (e : cx) : option (Z * Z) :=
    match e with
    | CK z => Some (0, z)
    | CV x => if N.eqb x y then Some (1, 0) else None
    | CAdd a b => match aff a, aff b with Some (c, d), Some (c', d') => Some (c + c', d + d') | _, _ => None end
    | CSub a b => match aff a, aff b with Some (c, d), Some (c', d') => Some (c - c', d - d') | _, _ => None end
    | CMul (CK z) b => match aff b with Some (c, d) => Some (z * c, z * d) | None => None end
    | _ => None
    end.
  (* Affine expressions in the iterator alone. *)
  Lemma aff_spec e s : forall c d, aff e = Some (c, d) -> cev s e = c * look s y + d.
  Proof.
    induction e; intros c d H; simpl in *; try discriminate.
    - injection H as <- <-. lia.
    - destruct (N.eqb_spec y0 y) as [->|]; [|discriminate]. injection H as <- <-. lia.
    - destruct (aff e1) as [[c1 d1]|], (aff e2) as [[c2 d2]|]; try discriminate. injection H as <- <-. rewrite (IHe1 c1 d1), (IHe2 c2 d2); auto. lia.
    - destruct (aff e1) as [[c1 d1]|], (aff e2) as [[c2 d2]|]; try discriminate. injection H as <- <-. rewrite (IHe1 c1 d1), (IHe2 c2 d2); auto. lia.
    - destruct e1; try discriminate. destruct (aff e2) as [[c2 d2]|]; try discriminate. injection H as <- <-. simpl. rewrite (IHe2 c2 d2); auto. ring.
  Qed.
  Definition settled (a b : cx) : bool :=    (* a <= b has the same value for every y >= k0 *)
    match aff a, aff b with
    | Some (c, d), Some (c', d') =>
        ((c <=? c') && (c * k0 + d <=? c' * k0 + d')) || ((c' <=? c) && (c' * k0 + d' <? c * k0 + d))
    | _, _ => false
    end.
  (* A comparison whose truth value no longer changes. *)
  Lemma settled_spec a b s1 s2 : rel s1 s2 -> settled a b = true -> (cev s1 a <=? cev s1 b) = (cev s2 a <=? cev s2 b).
  Proof.
    intros [(k & K0 & K1 & K2) _] H. unfold settled in H. destruct (aff a) as [[c d]|] eqn:A; [|discriminate]. destruct (aff b) as [[c' d']|] eqn:B; [|discriminate].
    rewrite !(aff_spec a _ c d A), !(aff_spec b _ c' d' B), K1, K2.
    rewrite orb_true_iff, !andb_true_iff, !Z.leb_le, Z.ltb_lt in H. apply eq_true_iff_eq. rewrite !Z.leb_le.
    destruct H as [[H1 H2]|[H1 H2]]; split; intros; nia.
  Qed.
  Fixpoint binv (e : bx) : bool :=
    match e with
    | BT => true
    | BLe a b => (inv a && inv b) || settled a b
    | BLt a b => (inv a && inv b) || settled b a
    | BEq a b => inv a && inv b
    | BNot a => binv a | BAnd a b | BOr a b => binv a && binv b
    end.
  (* The same for conditions ... *)
  Lemma binv_spec e s1 s2 : rel s1 s2 -> binv e = true -> bev s1 e = bev s2 e.
  Proof.
    intros R. induction e; simpl; intros H; auto.
    - apply orb_true_iff in H as [H|H]; [apply andb_true_iff in H as [A B]; now rewrite (inv_spec a s1 s2 R A), (inv_spec b s1 s2 R B)|now apply settled_spec].
    - apply orb_true_iff in H as [H|H]; [apply andb_true_iff in H as [A B]; now rewrite (inv_spec a s1 s2 R A), (inv_spec b s1 s2 R B)|].
      rewrite !Z.ltb_antisym. f_equal. now apply settled_spec.
    - apply andb_true_iff in H as [A B]. now rewrite (inv_spec a s1 s2 R A), (inv_spec b s1 s2 R B).
    - now rewrite IHe.
    - apply andb_true_iff in H as [A B]. now rewrite IHe1, IHe2.
    - apply andb_true_iff in H as [A B]. now rewrite IHe1, IHe2.
  Qed.

  Definition winv (w : win) : bool := match w with Pt c => inv c | Rg lo hi => inv lo && inv hi end.
  Definition ainv (a : acx) : bool := forallb inv (aext a) && forallb winv (awin a).
  (* ... windows ... *)
  Lemma map_inv {A} (f g : A -> Z) l : (forall a, In a l -> f a = g a) -> map f l = map g l.
  Proof. apply map_ext_in. Qed.
  (* ... accesses ... *)
  Lemma ainv_spec a s1 s2 : rel s1 s2 -> ainv a = true -> aeval s1 a = aeval s2 a.
  Proof.
    intros R H. unfold ainv in H. rewrite andb_true_iff, !forallb_forall in H. destruct H as [H1 H2]. unfold aeval.
    replace (map (cev s1) (aext a)) with (map (cev s2) (aext a)) by (apply map_ext_in; intros e I; symmetry; apply (inv_spec e s1 s2 R); auto).
    replace (map (weval s1) (awin a)) with (map (weval s2) (awin a)); auto.
    apply map_ext_in. intros w I. specialize (H2 w I). destruct w; simpl in *.
    - now rewrite (inv_spec c s1 s2 R H2).
    - apply andb_true_iff in H2 as [A B]. now rewrite (inv_spec lo s1 s2 R A), (inv_spec hi s1 s2 R B).
  Qed.
  Lemma ainvs_spec l s1 s2 : rel s1 s2 -> forallb ainv l = true -> aevals s1 l = aevals s2 l.
  Proof.
    intros R. induction l as [|a l IH]; simpl; auto. rewrite andb_true_iff. intros [A B]. now rewrite (ainv_spec a s1 s2 R A), (IH B).
  Qed.
  Definition tinv (f : tmap) : bool := match f with TAll => true | TCub dims => forallb (fun d => inv (t_lo d)) dims end.
  (* ... thread maps ... *)
  Lemma tinv_spec stride i f s1 s2 : rel s1 s2 -> tinv f = true -> teval stride i s1 f = teval stride i s2 f.
  Proof.
    intros R H. destruct f; simpl in *; auto. destruct (_ <=? stride); auto.
    assert (ranges s1 dims = ranges s2 dims) as ->; auto.
    induction dims as [|d dims IH]; simpl in *; auto. apply andb_true_iff in H as [A B]. now rewrite (inv_spec (t_lo d) s1 s2 R A), (IH B).
  Qed.
  Definition linv (l : leaf) : bool :=
    match l with
    | LAlloc a | LBar a => ainv a
    | LRec _ _ _ a _ _ Zs => ainv a && forallb ainv Zs
    | LChk _ _ _ a _ => ainv a
    | LFence _ _ _ _ => true
    | LArrive _ _ h Es => ainv h && forallb ainv Es
    | LAwait h _ _ _ _ => ainv h
    end.
  (* ... statements ... *)
  Lemma leval_inv stride i f l s1 s2 : rel s1 s2 -> tinv f = true -> linv l = true -> leval stride i s1 f l = leval stride i s2 f l.
  Proof.
    intros R Hf Hl. unfold leval. rewrite (tinv_spec stride i f s1 s2 R Hf). destruct (teval stride i s2 f); auto.
    destruct l; simpl in Hl.
    - now rewrite (ainv_spec a s1 s2 R Hl).
    - apply andb_true_iff in Hl as [H1 H2]. now rewrite (ainv_spec a s1 s2 R H1), (ainvs_spec Zs s1 s2 R H2).
    - now rewrite (ainv_spec a s1 s2 R Hl).
    - now rewrite (ainv_spec a s1 s2 R Hl).
    - reflexivity.
    - apply andb_true_iff in Hl as [H1 H2]. now rewrite (ainv_spec home s1 s2 R H1), (ainvs_spec Es s1 s2 R H2).
    - now rewrite (ainv_spec home s1 s2 R Hl).
  Qed.
  Fixpoint sinv (s : stmt) : bool :=
    match s with
    | Skip => true | Seq a b => sinv a && sinv b
    | For z lo hi b => negb (N.eqb z y) && inv lo && inv hi && sinv b
    | If c b => binv c && sinv b
    | IncTask => false
    | Leaf _ f l => tinv f && linv l
    end.
  (* ... under inner iterators ... *)
  Lemma rel_push s1 s2 z i : z <> y -> rel s1 s2 -> rel ((z, i) :: s1) ((z, i) :: s2).
  Proof.
    intros D [(k & K) R]. split.
    - exists k. simpl. destruct (N.eqb_spec z y); [congruence|]. exact K.
    - intros x Hx. simpl. destruct (N.eqb z x); auto.
  Qed.
  (* ... and whole loop bodies: iteration k + period does what iteration k does. *)
  Theorem sinv_spec stride s : sinv s = true -> forall i s1 s2, rel s1 s2 -> unroll stride s i s1 = unroll stride s i s2.
  Proof.
    induction s as [|a IHa b IHb|z lo hi b IHb|c b IHb| |lab f l]; simpl sinv; intros H i s1 s2 R; auto.
    - apply andb_true_iff in H as [A B]. simpl. rewrite (IHa A i s1 s2 R). destruct (unroll stride a i s2) as [t1 i1]. now rewrite (IHb B i1 s1 s2 R).
    - rewrite !andb_true_iff in H. destruct H as [[[A B] C] D]. apply negb_true_iff, N.eqb_neq in A. rewrite !unroll_for.
      rewrite (inv_spec lo s1 s2 R B), (inv_spec hi s1 s2 R C).
      generalize (Z.to_nat (cev s2 hi - cev s2 lo)) as n. generalize (cev s2 lo) as v. intros v n. revert i v. induction n as [|n IHn]; intros i v; simpl; auto.
      rewrite (IHb D i _ _ (rel_push s1 s2 z v A R)). destruct (unroll stride b i ((z, v) :: s2)) as [t1 i1]. now rewrite IHn.
    - apply andb_true_iff in H as [A B]. simpl. rewrite (binv_spec c s1 s2 R A). destruct (bev s2 c); auto.
    - apply andb_true_iff in H as [A B]. simpl. now rewrite (leval_inv stride i f l s1 s2 R A B).
  Qed.
  (* Such a body does not begin a task. *)
  Lemma no_task stride s : sinv s = true -> forall i sg, snd (unroll stride s i sg) = i.
  Proof.
    induction s as [|a IHa b IHb|z lo hi b IHb|c b IHb| |lab f l]; simpl sinv; intros H i sg; simpl; auto.
    - apply andb_true_iff in H as [A B]. specialize (IHa A i sg). destruct (unroll stride a i sg) as [t1 i1]. simpl in IHa. subst.
      specialize (IHb B i sg). destruct (unroll stride b i sg). exact IHb.
    - rewrite !andb_true_iff in H. destruct H as [_ D]. generalize (Z.to_nat (cev sg hi - cev sg lo)) as n. generalize (cev sg lo) as v.
      intros v n. revert v. induction n as [|n IHn]; intros v; simpl; auto. specialize (IHb D i ((z, v) :: sg)).
      destruct (unroll stride b i ((z, v) :: sg)) as [t1 i1]. simpl in IHb. subst. specialize (IHn (v + 1)).
      match goal with |- context [let (_, _) := ?e in _] => destruct e end. exact IHn.
    - apply andb_true_iff in H as [A B]. destruct (bev sg c); auto.
    - discriminate.
  Qed.
End Periodic.

(* ---- the theorem for all trip counts ---- *)
Section AllK.
  Variable m : mode.
  Variables (stride : Z) (pro : stmt) (y : N) (body epi : stmt).
  Definition prog (K : Z) : stmt := Seq pro (Seq (For y (CK 0) (CK K) body) epi).
  Definition opsT (t : trace) : list op := map snd t.
  Definition proT := opsT (fst (unroll stride pro 0 [])).
  Definition i0 := snd (unroll stride pro 0 []).
  Definition iterT (k : Z) : list op := opsT (fst (unroll stride body i0 [(y, k)])).
  Definition epiT := opsT (fst (unroll stride epi i0 [])).
  Fixpoint itersT (n : nat) (k : Z) : list op := match n with O => [] | S n' => iterT k ++ itersT n' (k + 1) end.

  Variables (tbl : list (N * Z)) (kmin k0 : Z) (p : nat).
  Definition lbl (T : list op) : trace := map (pair 0%N) T.
  Definition xgo (x : xst) (T : list op) : xout := xrun m x (lbl T).
  Definition is_ok (o : xout) : bool := match o with XOK _ => true | XER _ => false end.

  (* the certificate: one walk through the first iterations, trying the epilogue after each; one recurrence *)
  Fixpoint walk (n : nat) (k : Z) (x : xst) : bool :=
    (if kmin <=? k then is_ok (xgo x epiT) else true) &&
    match n with O => true | S n' => match xgo x (iterT k) with XOK x' => walk n' (k + 1) x' | XER _ => false end end.
  Definition param_ok : bool :=
    (0 <? Z.of_nat p) && ((0 <=? kmin) && (kmin <=? k0)) && sinv y k0 (Z.of_nat p) body &&
    match xgo xst0 proT with XER _ => false | XOK x0 =>
      walk (Z.to_nat k0 + p - 1) 0 x0 &&
      match xgo x0 (itersT (Z.to_nat k0) 0) with XER _ => false | XOK x1 =>
        let T := itersT p k0 in
        match xgo x1 T with XER _ => false | XOK x2 => xsim tbl x1 x2 && forallb (uniformb tbl (xD x1 x2)) (T ++ epiT) end
      end
    end.

  (* goodness of a list of operations, and acceptance *)
  Lemma goods_srun T : forall s, goods m s T -> srun m s (lbl T) (OK (sapplys m s T)).
  Proof.
    induction T as [|o T IH]; intros s H; simpl in *; [constructor|]. destruct H as [A B]. econstructor; [now apply good_sstep|]. now apply IH.
  Qed.
  Lemma srun_goods t : forall s s', srun m s t (OK s') -> goods m s (opsT t) /\ s' = sapplys m s (opsT t).
  Proof.
    induction t as [|[l o] t IH]; intros s s' H; inversion H; subst; simpl; auto.
    match goal with A : sstep _ _ _ (OK _) |- _ => apply sstep_good in A as [-> G] end.
    match goal with A : srun _ _ t _ |- _ => apply IH in A as [A1 A2] end. auto.
  Qed.
  Lemma goods_accept t s : goods m s (opsT t) -> srun m s t (OK (sapplys m s (opsT t))).
  Proof.
    revert s. induction t as [|[l o] t IH]; intros s H; simpl in *; [constructor|]. destruct H as [A B]. econstructor; [now apply good_sstep|]. now apply IH.
  Qed.
  (* One evaluation of the interpreter, read as a verdict. *)
  Lemma xgo_ok x s T x' : rep x s -> xgo x T = XOK x' -> goods m s T /\ rep x' (sapplys m s T).
  Proof.
    intros H E. destruct (xrun_correct m (lbl T) x s H) as (o & R & O). unfold xgo in E. rewrite E in O. destruct o; [|contradiction].
    assert (opsT (lbl T) = T) as EQ by (unfold opsT, lbl; rewrite map_map; apply map_id).
    apply srun_goods in R as [A ->]. rewrite EQ in *. auto.
  Qed.

  Lemma is_ok_goods x s T : rep x s -> is_ok (xgo x T) = true -> goods m s T.
  Proof. intros R H. destruct (xgo x T) as [x'|] eqn:E; [|discriminate]. now destruct (xgo_ok x s T x' R E). Qed.
  (* One walk through the first iterations, with the epilogue tried after each. *)
  Lemma walk_spec n : forall k x s, rep x s -> walk n k x = true -> forall j, (j <= n)%nat ->
    goods m s (itersT j k) /\ (kmin <= k + Z.of_nat j -> goods m (sapplys m s (itersT j k)) epiT).
  Proof.
    induction n as [|n IH]; intros k x s R H j Hj; simpl in H; apply andb_true_iff in H as [H1 H2].
    - assert (j = 0%nat) as -> by lia. simpl. split; auto. intros L. rewrite Z.add_0_r in L. apply Z.leb_le in L. rewrite L in H1. eapply is_ok_goods; eauto.
    - destruct j as [|j].
      + simpl. split; auto. intros L. rewrite Z.add_0_r in L. apply Z.leb_le in L. rewrite L in H1. eapply is_ok_goods; eauto.
      + destruct (xgo x (iterT k)) as [x'|] eqn:E; [|discriminate]. destruct (xgo_ok x s _ x' R E) as [G R'].
        destruct (IH (k + 1) x' _ R' H2 j ltac:(lia)) as [A B]. simpl itersT. rewrite goods_app, sapplys_app. split; [auto|]. intros L. apply B. lia.
  Qed.

  Section Proof.
    Hypothesis ok : param_ok = true.
    Let P := Z.of_nat p.
    (* What the certificate's computation establishes. *)
    Lemma ok_parts : 0 < P /\ 0 <= kmin <= k0 /\ sinv y k0 P body = true /\
      (forall K, kmin <= K < k0 + P -> goods m sst0 (proT ++ itersT (Z.to_nat K) 0 ++ epiT)) /\
      exists s1, s1 = sapplys m sst0 (proT ++ itersT (Z.to_nat k0) 0) /\ goods m sst0 (proT ++ itersT (Z.to_nat k0) 0) /\
        exists D, sim (lagt tbl) D s1 (sapplys m s1 (itersT p k0)) /\ goods m s1 (itersT p k0) /\
                  uniforms (lagt tbl) D (itersT p k0) /\ uniforms (lagt tbl) D epiT.
    Proof.
      unfold param_ok in ok. rewrite !andb_true_iff in ok. destruct ok as [[[A B] C] E]. clear ok.
      apply Z.ltb_lt in A. destruct B as [B1 B2]. apply Z.leb_le in B1, B2. split; auto. split; auto. split; auto.
      destruct (xgo xst0 proT) as [x0|] eqn:E0; [|discriminate]. apply andb_true_iff in E as [W E].
      destruct (xgo_ok xst0 sst0 _ x0 rep0 E0) as [G0 R0]. split.
      - intros K HK. destruct (walk_spec _ _ _ _ R0 W (Z.to_nat K)) as [H1 H2]; [unfold P in *; lia|].
        apply goods_app. split; auto. apply goods_app. split; auto. apply H2. lia.
      - destruct (xgo x0 _) as [x1|] eqn:E1; [|discriminate]. destruct (xgo x1 _) as [x2|] eqn:E2; [|discriminate].
        apply andb_true_iff in E as [E3 E4]. eexists. split; [reflexivity|].
        destruct (xgo_ok x0 _ _ x1 R0 E1) as [G1 R1]. rewrite sapplys_app, goods_app. split; auto.
        destruct (xgo_ok x1 _ _ x2 R1 E2) as [G2 R2]. exists (xD x1 x2).
        rewrite forallb_app in E4. apply andb_true_iff in E4 as [U1 U2].
        repeat split; auto using uniformb_spec; apply (xsim_sound tbl x1 x2); auto.
    Qed.

    (* Iterations repeat ... *)
    Lemma iter_period k : k0 <= k -> iterT (k + P) = iterT k.
    Proof.
      intros H. destruct ok_parts as (A & B & C & _). unfold iterT. symmetry.
      rewrite (sinv_spec y k0 P A stride body C i0 [(y, k)] [(y, k + P)]); auto. split.
      - exists k. simpl. rewrite N.eqb_refl. auto.
      - intros x Hx. simpl. destruct (N.eqb_spec y x); [congruence|reflexivity].
    Qed.
    (* ... also several ... *)
    Lemma iters_period n : forall k, k0 <= k -> itersT n (k + P) = itersT n k.
    Proof. induction n as [|n IH]; intros k H; simpl; auto. rewrite iter_period by auto. replace (k + P + 1) with (k + 1 + P) by lia. rewrite IH; [auto|lia]. Qed.
    (* ... in a row ... *)
    Lemma iters_app n1 n2 : forall k, itersT (n1 + n2) k = itersT n1 k ++ itersT n2 (k + Z.of_nat n1).
    Proof.
      induction n1 as [|n1 IH]; intros k; simpl; [now rewrite Z.add_0_r|]. rewrite IH, app_assoc. do 2 f_equal. lia.
    Qed.
    (* ... any number of periods. *)
    Lemma iters_times n : itersT (n * p) k0 = times n (itersT p k0).
    Proof.
      assert (Sh : forall n j, itersT j (k0 + Z.of_nat n * P) = itersT j k0).
      { destruct ok_parts as (A & _). induction n0 as [|n0 IH]; intros j; [f_equal; lia|].
        transitivity (itersT j (k0 + Z.of_nat n0 * P + P)); [f_equal; lia|]. rewrite iters_period by nia. apply IH. }
      induction n as [|n IH]; simpl; auto. rewrite Nat.add_comm, iters_app, IH. f_equal. rewrite Nat2Z.inj_mul. apply Sh.
    Qed.

    (* The loop's events. *)
    Lemma loop_ops n : forall k, opsT (fst (unroll_loop stride body y [] n k i0)) = itersT n k /\ snd (unroll_loop stride body y [] n k i0) = i0.
    Proof.
      destruct ok_parts as (A & B & C & _). induction n as [|n IH]; intros k; simpl; auto.
      pose proof (no_task y k0 P stride body C i0 [(y, k)]) as T. unfold iterT.
      destruct (unroll stride body i0 [(y, k)]) as [t1 i1]. simpl in T. subst i1. specialize (IH (k + 1)).
      destruct (unroll_loop stride body y [] n (k + 1) i0) as [t2 i2]. simpl in *. unfold opsT in *. rewrite map_app. destruct IH as [I1 I2]. split; [f_equal; exact I1|exact I2].
    Qed.
    (* The events of a sequence. *)
    Lemma unroll_seq a b i sg : unroll stride (Seq a b) i sg =
      (fst (unroll stride a i sg) ++ fst (unroll stride b (snd (unroll stride a i sg)) sg), snd (unroll stride b (snd (unroll stride a i sg)) sg)).
    Proof. simpl. destruct (unroll stride a i sg) as [t1 i1]. simpl. destruct (unroll stride b i1 sg). reflexivity. Qed.
    (* Operations of a concatenation. *)
    Lemma opsT_app t1 t2 : opsT (t1 ++ t2) = opsT t1 ++ opsT t2.
    Proof. apply map_app. Qed.
    (* The events of the whole program. *)
    Lemma prog_ops K : opsT (fst (unroll stride (prog K) 0 [])) = proT ++ itersT (Z.to_nat K) 0 ++ epiT.
    Proof.
      unfold prog. rewrite !unroll_seq, unroll_for. cbn [fst snd cev]. rewrite Z.sub_0_r, !opsT_app. fold i0.
      destruct (loop_ops (Z.to_nat K) 0) as [L1 L2]. now rewrite L1, L2.
    Qed.

    (* ACCEPTED FOR EVERY TRIP COUNT. *)
    Theorem accepted_for_all_K : forall K, kmin <= K -> accepts m stride (prog K).
    Proof.
      intros K HK. destruct ok_parts as (Pp & K0 & C & Small & s1 & Es1 & G1 & D & Sm & G2 & U1 & U2).
      assert (A : goods m sst0 (proT ++ itersT (Z.to_nat K) 0 ++ epiT)).
      { pose proof Small as Base.
        destruct (Z_lt_le_dec K (k0 + P)) as [L|L]; [now apply Base|].
        set (n := Z.to_nat ((K - k0) / P)). set (j := (K - k0) mod P).
        assert (Hj : 0 <= j < P) by (apply Z.mod_pos_bound; lia).
        assert (HK' : Z.to_nat K = (Z.to_nat k0 + (n * p + Z.to_nat j))%nat).
        { pose proof (Z.div_mod (K - k0) P ltac:(lia)) as DM. fold j in DM. assert (0 <= (K - k0) / P) by (apply Z.div_pos; lia).
          apply Nat2Z.inj. rewrite !Nat2Z.inj_add, Nat2Z.inj_mul, !Z2Nat.id by lia. unfold n. rewrite Z2Nat.id by lia. fold P. lia. }
        rewrite HK', iters_app, iters_app. rewrite Z2Nat.id by lia. rewrite Z.add_0_l, iters_times.
        assert (Ej : itersT (Z.to_nat j) (k0 + Z.of_nat (n * p)) = itersT (Z.to_nat j) k0).
        { rewrite Nat2Z.inj_mul. fold P. clear -Pp K0 ok. clearbody n. induction n as [|n0 IH]; [f_equal; lia|].
          transitivity (itersT (Z.to_nat j) (k0 + Z.of_nat n0 * P + P)); [f_equal; lia|]. rewrite iters_period by nia. apply IH. }
        rewrite Ej. rewrite <- !app_assoc, app_assoc. apply goods_app. split; auto. rewrite <- Es1.
        assert (Gj : goods m s1 (itersT (Z.to_nat j) k0 ++ epiT)).
        { specialize (Base (k0 + j) ltac:(lia)). rewrite Z2Nat.inj_add, iters_app, Z2Nat.id in Base by lia.
          rewrite Z.add_0_l, <- app_assoc, app_assoc in Base. apply goods_app in Base as [_ Base]. now rewrite <- Es1 in Base. }
        apply (fast_forward_suffix m (lagt tbl) D s1 (itersT p k0)); auto.
        intros o I. apply in_app_or in I as [I|I]; auto. apply U1.
        assert (Jp : (Z.to_nat j <= p)%nat) by (clearbody j; unfold P in Hj; lia).
        replace p with (Z.to_nat j + (p - Z.to_nat j))%nat by lia. rewrite iters_app. apply in_or_app. now left. }
      rewrite <- prog_ops in A. apply goods_accept in A. apply srun_big in A. unfold accepts. eexists. eexists. exact A.
    Qed.
  End Proof.
End AllK.
