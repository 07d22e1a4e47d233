(* The executable machine computes exactly the outcome that the rules derive. *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir Rules Interp.
Import ListNotations.

(* ---- what an executable record stands for ---- *)
Definition self (x : xrec) (i : option tid) (g : tid) : Prop := match i with Some u => g = u | None => mem g (xown x) = true end.
Definition inG (l : list grant) (g : tid) (q : qtl) (f : flag) : Prop :=
  exists gr, In gr l /\ mem g (gK gr) = true /\ bit (gQ gr) q = true /\ bit (gF gr) f = true.
Definition xV (x : xrec) (i : option tid) (g : tid) (q : qtl) (f : flag) : Prop :=
  (self x i g /\ q = xq x /\ bit (xini x) f = true) \/ (bit (xat x) q = true /\ f = fa) \/ inG (xgr x) g q f.
Definition ple (l : list pend) (b : elem) (s : bool) (z : Z) : Prop := exists k, In (b, s, k) l /\ (k <= z)%Z.
Definition Ple (r : srec) (b : elem) (s : bool) (z : Z) : Prop := exists k, P r b s k /\ (k <= z)%Z.
Definition den (x : xrec) (i : option tid) (r : srec) : Prop :=
  q0 r = xq x /\ (forall g q f, V r g q f <-> xV x i g q f) /\ (forall b s z, Ple r b s z <-> ple (xP x) b s z).
Definition idx (x : xrec) (i : option tid) : Prop := if xfam x then exists u, i = Some u /\ mem u (xown x) = true else i = None.
Definition reps (l : list xrec) (S : srec -> Prop) : Prop :=
  (forall r, S r -> exists x i, In x l /\ idx x i /\ den x i r) /\
  (forall x i, In x l -> idx x i -> exists r, S r /\ den x i r).
Definition rep (x : xst) (s : sst) : Prop := forall p,
  (forall mut, reps (xsel mut (get x p)) (sel mut s p)) /\ sa s p = xa (get x p) /\ sw s p = xw (get x p).

(* ---- association lists ---- *)
Lemma get_mapk f x p : get (mapk f x) p = if has x p then f p (get x p) else cell0.
Proof.
  induction x as [|[k c] x IH]; simpl; auto.
  destruct (eeqb p k) eqn:E; simpl; auto. apply eeqb_spec in E. now subst.
Qed.
Lemma get_no x p : has x p = false -> get x p = cell0.
Proof. induction x as [|[k c] x IH]; simpl; auto. destruct (eeqb p k); simpl; [discriminate|auto]. Qed.
Lemma get_mapk0 f x p : f p cell0 = cell0 -> get (mapk f x) p = f p (get x p).
Proof. intros H. rewrite get_mapk. destruct (has x p) eqn:E; auto. now rewrite (get_no _ _ E). Qed.
Lemma get_ensure es x p : get (ensure es x) p = get x p.
Proof.
  induction es as [|e es IH]; simpl; auto. fold (ensure es x). destruct (has (ensure es x) e) eqn:E; auto. simpl.
  destruct (eeqb p e) eqn:F; auto. apply eeqb_spec in F. subst. rewrite <- IH. now rewrite get_no.
Qed.
Lemma has_ensure es x p : has (ensure es x) p = inE p es || has x p.
Proof.
  induction es as [|e es IH]; simpl; auto. fold (ensure es x). destruct (has (ensure es x) e) eqn:E; simpl; rewrite IH.
  - destruct (eeqb p e) eqn:F; auto. apply eeqb_spec in F. subst. rewrite <- IH, E. reflexivity.
  - now rewrite orb_assoc.
Qed.
Lemma get_filter es x p : get (filter (fun kc => negb (inE (fst kc) es)) x) p = if inE p es then cell0 else get x p.
Proof.
  induction x as [|[k c] x IH]; simpl; [now destruct (inE p es)|].
  destruct (inE k es) eqn:E; simpl; rewrite IH; destruct (eeqb p k) eqn:F; auto; apply eeqb_spec in F; subst; now rewrite E.
Qed.

(* ---- grants and pending arrivals ---- *)
Lemma ts_eqb_eq a b : ts_eqb a b = true -> a = b.
Proof. revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; auto.
  rewrite andb_true_iff, N.eqb_eq. intros [-> H]. f_equal. auto. Qed.
Lemma g_eqb_eq a b : g_eqb a b = true -> a = b.
Proof.
  destruct a as [K Q F], b as [K' Q' F']. unfold g_eqb. simpl. rewrite !lazy_and, !andb_true_iff, !N.eqb_eq. intros (-> & -> & A). apply ts_eqb_eq in A. now subst.
Qed.
(* The empty mask. *)
Lemma bit0 q : bit 0 q = false. Proof. apply N.bits_0. Qed.
(* Adding a grant adds exactly its triples. *)
Lemma add_grant_spec K Q F l g q f :
  inG (add_grant K Q F l) g q f <-> inG l g q f \/ (mem g K = true /\ bit Q q = true /\ bit F f = true).
Proof.
  unfold add_grant. destruct (N.eqb_spec Q 0) as [->|HQ]; [split; auto; intros [H|(_ & H & _)]; auto; rewrite bit0 in H; discriminate|].
  destruct (N.eqb_spec F 0) as [->|HF]; [split; auto; intros [H|(_ & _ & H)]; auto; rewrite bit0 in H; discriminate|].
  simpl. destruct (anyb _ l) eqn:E.
  - rewrite anyb_eq in E. apply existsb_exists in E as (gr & I & E). apply g_eqb_eq in E. subst gr.
    split; auto. intros [H|H]; auto. unfold inG. eexists. split; [eassumption|]. exact H.
  - unfold inG. simpl. split.
    + intros (gr & [<-|I] & H); simpl in *; eauto.
    + intros [(gr & I & H)|H]; [eauto|]. eexists. split; [left; reflexivity|]. exact H.
Qed.
(* Keeping only minimal pending indices loses nothing: all that is ever asked is "is some index at most z?". *)
Lemma add_pend_spec b' s' k' l b s z : ple (add_pend b' s' k' l) b s z <-> ple l b s z \/ (b = b' /\ s = s' /\ (k' <= z)%Z).
Proof.
  unfold add_pend. destruct (anyb (p_dom b' s' k') l) eqn:E.
  - rewrite anyb_eq in E. apply existsb_exists in E as ([[b1 s1] k1] & I & E). unfold p_dom in E. rewrite !lazy_and in E.
    apply andb_true_iff in E as [E1 E]. apply andb_true_iff in E as [E2 E3].
    apply eeqb_spec in E3. apply eqb_prop in E1. apply Z.leb_le in E2. subst.
    split; auto. intros [H|(-> & -> & H)]; auto. exists k1. split; auto. lia.
  - unfold ple. simpl. split.
    + intros (k & [H|I] & L); [injection H as -> -> ->; right; auto|left; eauto].
    + intros [(k & I & L)|(-> & -> & L)]; eauto.
Qed.
(* The same for several barrier elements. *)
Lemma add_pends_spec s' k' Es l b s z :
  ple (fold_right (fun b => add_pend b s' k') l Es) b s z <-> ple l b s z \/ (In b Es /\ s = s' /\ (k' <= z)%Z).
Proof.
  induction Es as [|e Es IH]; simpl; [tauto|]. rewrite add_pend_spec, IH.
  split; intros H; decompose [and or] H; subst; auto.
Qed.

(* The lazy disjunction. *)
Lemma existsb_iff {A} (f : A -> bool) l : anyb f l = true <-> exists a, In a l /\ f a = true.
Proof. apply existsb_exists. Qed.

Section Mode.
  Variable m : mode.

  (* ---- effect ---- *)
  Definition is_sync (o : op) : Prop := match o with EFence _ _ _ _ _ | EArrive _ _ _ _ _ | EAwait _ _ _ _ _ _ => True | _ => False end.
  Definition arg_ok (o : op) (s : sst) (k : Z) : Prop :=
    match o with EArrive _ _ _ h _ => k = sa s h | EAwait _ b _ _ n _ => k = amax s b n | _ => True end.

  (* EFFECT: what a synchronization gives to an executable record is what the rules give to the record it stands for. *)
  Lemma den_app o k s e x i r : is_sync o -> arg_ok o s k -> den x i r ->
    (forall str, wit o s str r <-> e str = true) -> den (app m o k e x) i (upd m o s r).
  Proof.
    intros So Ko (Hq & HV & HP) We.
    assert (Wt : forall str, wit o s str r <-> e str = true) by auto.
    destruct o; try contradiction; simpl in So, Ko; unfold den; simpl.
    - (* fence *)
      split; [assumption|]. split.
      + intros g q f. unfold xV. simpl. rewrite HV. unfold xV.
        transitivity ((self x i g /\ q = xq x /\ bit (xini x) f = true \/ bit (xat x) q = true /\ f = fa \/ inG (xgr x) g q f) \/
          (e true = true /\ effV m (EFence tr C Q1 F T) true g q f) \/ (e false = true /\ effV m (EFence tr C Q1 F T) false g q f)).
        { apply or_iff_compat_l. rewrite <- (We true), <- (We false). split.
          - intros ([|] & A & B); auto.
          - intros [[A B]|[A B]]; eauto. }
        simpl. destruct (e true), (e false); rewrite ?add_grant_spec, ?bit_ldiff, ?andb_true_iff, ?negb_true_iff;
          split; intros H; decompose [and or] H; try discriminate; auto 10.
      + intros b str z. rewrite <- HP. unfold Ple. simpl. split.
        * intros (k0 & [H|[_ []]] & L); eauto.
        * intros (k0 & H & L); eauto.
    - (* arrive *)
      split; [assumption|]. split.
      + intros g q f. unfold xV. simpl. rewrite HV. unfold xV. simpl. split; auto.
        intros [H|(str & _ & [])]; auto.
      + intros b str z. unfold Ple. simpl.
        transitivity (Ple r b str z \/ (e str = true /\ In b Es /\ (k <= z)%Z)).
        { subst k. unfold Ple. split.
          - intros (k0 & [H|(A & B & ->)] & L); [left; eauto|]. right. rewrite <- We. auto.
          - intros [(k0 & A & L)|(A & B & L)]; [eauto|]. exists (sa s h). rewrite <- We in A. auto. }
        rewrite HP. destruct (e true) eqn:E1, (e false) eqn:E0; rewrite ?add_pends_spec; destruct str; rewrite ?E1, ?E0;
          split; intros H; decompose [and or] H; try discriminate; auto 10.
    - (* await *)
      split; [assumption|]. split.
      + intros g q f. unfold xV. simpl. rewrite HV. unfold xV.
        transitivity ((self x i g /\ q = xq x /\ bit (xini x) f = true \/ bit (xat x) q = true /\ f = fa \/ inG (xgr x) g q f) \/
          (e true = true /\ effV m (EAwait C b F T n one) true g q f) \/ (e false = true /\ effV m (EAwait C b F T n one) false g q f)).
        { apply or_iff_compat_l. rewrite <- (We true), <- (We false). split.
          - intros ([|] & A & B); auto.
          - intros [[A B]|[A B]]; eauto. }
        simpl. destruct (e true), (e false); rewrite ?add_grant_spec, ?bit_ldiff, ?andb_true_iff, ?negb_true_iff;
          split; intros H; decompose [and or] H; try discriminate; auto 10.
      + intros b0 str z. rewrite <- HP. unfold Ple. simpl. split.
        * intros (k0 & [H|[_ []]] & L); eauto.
        * intros (k0 & H & L); eauto.
  Qed.

  (* ---- witness ---- *)
  Lemma com_spec x C wq str : com x C wq str = true <->
    exists g q, mem g C = true /\ bit wq q = true /\ inG (xgr x) g q (wfl str).
  Proof.
    unfold com, inG. rewrite existsb_iff. split.
    - intros (gr & I & H). rewrite !lazy_and, !andb_true_iff, mmeet_spec, tmeet_spec in H.
      destruct H as (B & (q & A1 & A2) & (g & G1 & G2)). exists g, q. eauto 10.
    - intros (g & q & C1 & B & gr & I & A1 & A2 & A3). exists gr. split; auto.
      rewrite !lazy_and, !andb_true_iff, mmeet_spec, tmeet_spec. eauto 10.
  Qed.
  (* The timelines on which a record may be picked up. *)
  Lemma wqs_spec x tr Q1 q : bit (wqs x tr Q1) q = true <-> bit Q1 q = true /\ (tr = true \/ q = xq x).
  Proof.
    unfold wqs. destruct tr; [intuition|]. rewrite bit_land, bit_single, andb_true_iff, N.eqb_eq. intuition. discriminate.
  Qed.
  (* The issue flags are not the atomic flag. *)
  Lemma wfl_fa str : wfl str <> fa. Proof. destruct str; discriminate. Qed.
  (* WITNESS: the interpreter picks a record up exactly when the rules do. *)
  Lemma wit_fence x i r C tr Q1 str : den x i r ->
    ((exists g q, mem g C = true /\ bit Q1 q = true /\ (tr = true \/ q = q0 r) /\ V r g q (wfl str)) <->
     com x C (wqs x tr Q1) str = true \/ (slf x (wqs x tr Q1) str = true /\ exists g, self x i g /\ mem g C = true)).
  Proof.
    intros (Hq & HV & _). rewrite com_spec. unfold slf. setoid_rewrite wqs_spec. setoid_rewrite andb_true_iff. setoid_rewrite wqs_spec. split.
    - intros (g & q & C1 & B & T & H). apply HV in H. rewrite Hq in T. destruct H as [(S & -> & I)|[(_ & F)|G]].
      + right. split; [auto|eauto].
      + now apply wfl_fa in F.
      + left. eauto 10.
    - intros [(g & q & C1 & [B T] & G)|([I [B T]] & g & S & C1)].
      + exists g, q. rewrite Hq. repeat split; auto. apply HV. right. now right.
      + exists g, (xq x). rewrite Hq. repeat split; auto. apply HV. left. auto.
  Qed.

  (* Splitting a family does not change its members. *)
  Lemma den_own x u r o : den x (Some u) r -> den (with_own x o) (Some u) r.
  Proof. intros (A & B & C). split; [exact A|]. split; [|exact C]. intros. rewrite B. reflexivity. Qed.

  (* Effects leave the rest of a record alone. *)
  Lemma xfam_app o k e x : xfam (app m o k e x) = xfam x.
  Proof. destruct o; simpl; auto. Qed.
  Lemma xown_app o k e x : xown (app m o k e x) = xown x.
  Proof. destruct o; simpl; auto. Qed.
  Lemma idx_app o k e x i : idx (app m o k e x) i <-> idx x i.
  Proof. unfold idx. now rewrite xfam_app, xown_app. Qed.

  (* every instance of the old record lives on in exactly the updated ones *)
  Lemma xup_spec o k s x : is_sync o -> arg_ok o s k ->
    (forall i, idx x i -> exists x', In x' (xup m o k x) /\ idx x' i) /\
    (forall x' i, In x' (xup m o k x) -> idx x' i -> idx x i /\ forall r, den x i r -> den x' i (upd m o s r)).
  Proof.
    intros So Ko.
    assert (FA : forall (tr : bool) C Q1,
      (forall s' str r, wit o s' str r <-> exists g q, mem g C = true /\ bit Q1 q = true /\ (tr = true \/ q = q0 r) /\ V r g q (wfl str)) ->
      (xup m o k x = let wq := wqs x tr Q1 in
        let c1 := com x C wq true in let c0 := com x C wq false in
        let s1 := slf x wq true in let s0 := slf x wq false in
        if xfam x then
          if Bool.eqb (c1 || s1) c1 && Bool.eqb (c0 || s0) c0 then [app m o k (fun s => if s then c1 else c0) x]
          else let i := tinter (xown x) C in let d := tdiff (xown x) C in
               (if tempty i then [] else [app m o k (fun s => if s then c1 || s1 else c0 || s0) (with_own x i)]) ++
               (if tempty d then [] else [app m o k (fun s => if s then c1 else c0) (with_own x d)])
        else let t := tmeet (xown x) C in
             [app m o k (fun s => if s then c1 || (s1 && t) else c0 || (s0 && t)) x]) ->
      (forall i, idx x i -> exists x', In x' (xup m o k x) /\ idx x' i) /\
      (forall x' i, In x' (xup m o k x) -> idx x' i -> idx x i /\ forall r, den x i r -> den x' i (upd m o s r))).
    { intros tr C Q1 HW ->. cbv zeta. set (wq := wqs x tr Q1).
      destruct (xfam x) eqn:Fx.
      - destruct (Bool.eqb (com x C wq true || slf x wq true) (com x C wq true) &&
                  Bool.eqb (com x C wq false || slf x wq false) (com x C wq false)) eqn:Same.
        + apply andb_true_iff in Same as [S1 S0]. apply eqb_prop in S1, S0. split.
          * intros i Hi. eexists. split; [left; reflexivity|]. now apply idx_app.
          * intros x' i [<-|[]] Hi. apply idx_app in Hi. split; auto. intros r Hr. apply den_app; auto.
            intros str. rewrite HW, (wit_fence x i r C tr Q1 str Hr). fold wq. split.
            -- intros [H|[H _]]; destruct str; auto. rewrite <- S1, H. apply orb_true_r. rewrite <- S0, H. apply orb_true_r.
            -- intros H. left. destruct str; auto.
        + split.
          * intros i Hi. unfold idx in Hi. rewrite Fx in Hi. destruct Hi as (u & -> & Hu).
            destruct (mem u C) eqn:EC.
            -- assert (tempty (tinter (xown x) C) = false) as ->.
               { apply not_true_is_false. rewrite tempty_spec. intros H. specialize (H u). rewrite tinter_spec, Hu, EC in H. discriminate. }
               eexists. split; [apply in_or_app; left; left; reflexivity|]. apply idx_app. unfold idx. simpl. rewrite Fx.
               exists u. split; auto. now rewrite tinter_spec, Hu, EC.
            -- assert (tempty (tdiff (xown x) C) = false) as ->.
               { apply not_true_is_false. rewrite tempty_spec. intros H. specialize (H u). rewrite tdiff_spec, Hu, EC in H. discriminate. }
               eexists. split; [apply in_or_app; right; left; reflexivity|]. apply idx_app. unfold idx. simpl. rewrite Fx.
               exists u. split; auto. now rewrite tdiff_spec, Hu, EC.
          * intros x' i I Hi. apply in_app_or in I as [I|I].
            -- destruct (tempty (tinter (xown x) C)); [contradiction|]. destruct I as [<-|[]]. apply idx_app in Hi.
               unfold idx in *. simpl in Hi. rewrite Fx in *. destruct Hi as (u & -> & Hu). rewrite tinter_spec in Hu.
               apply andb_true_iff in Hu as [Hu EC]. split; [eauto|]. intros r Hr. apply den_app; auto using den_own.
               intros str. rewrite HW, (wit_fence x (Some u) r C tr Q1 str Hr). fold wq. simpl. split.
               ++ intros [H|[H _]]; destruct str; rewrite H; auto using orb_true_r.
               ++ intros H. destruct str; apply orb_true_iff in H as [H|H]; auto; right; split; eauto.
            -- destruct (tempty (tdiff (xown x) C)); [contradiction|]. destruct I as [<-|[]]. apply idx_app in Hi.
               unfold idx in *. simpl in Hi. rewrite Fx in *. destruct Hi as (u & -> & Hu). rewrite tdiff_spec in Hu.
               apply andb_true_iff in Hu as [Hu EC]. apply negb_true_iff in EC. split; [eauto|]. intros r Hr. apply den_app; auto using den_own.
               intros str. rewrite HW, (wit_fence x (Some u) r C tr Q1 str Hr). fold wq. simpl. split.
               ++ intros [H|[_ (g & -> & H)]]; [destruct str; auto|congruence].
               ++ intros H. left. destruct str; auto.
      - split.
        + intros i Hi. eexists. split; [left; reflexivity|]. now apply idx_app.
        + intros x' i [<-|[]] Hi. apply idx_app in Hi. split; auto. intros r Hr. apply den_app; auto.
          intros str. rewrite HW, (wit_fence x i r C tr Q1 str Hr). fold wq.
          unfold idx in Hi. rewrite Fx in Hi. subst i. simpl.
          assert ((exists g, mem g (xown x) = true /\ mem g C = true) <-> tmeet (xown x) C = true) as -> by now rewrite tmeet_spec.
          destruct str; rewrite orb_true_iff, andb_true_iff; reflexivity. }
    destruct o; try contradiction.
    - apply (FA tr C Q1); reflexivity.
    - apply (FA tr C Q1); reflexivity.
    - simpl in Ko. subst k. split.
      + intros i Hi. eexists. split; [left; reflexivity|]. exact Hi.
      + intros x' i [<-|[]] Hi. change (idx x i) in Hi. split; auto. intros r Hr.
        apply (den_app (EAwait C b F T n one) (amax s b n) s); simpl; auto.
        intros str. replace (if str then anyb (p_dom b true (amax s b n)) (xP x) else anyb (p_dom b false (amax s b n)) (xP x)) with (anyb (p_dom b str (amax s b n)) (xP x)) by (destruct str; reflexivity).
        destruct Hr as (_ & _ & HP). specialize (HP b str (amax s b n)). unfold Ple, ple in HP. rewrite HP, existsb_iff. split.
        * intros (k & I & L). exists (b, str, k). split; auto. unfold p_dom. rewrite eeqb_refl. apply Z.leb_le in L. rewrite L. now destruct str.
        * intros ([[b' s'] k] & I & E). unfold p_dom in E. rewrite !lazy_and in E. apply andb_true_iff in E as [E1 E]. apply andb_true_iff in E as [E2 E3].
          apply eeqb_spec in E3. apply eqb_prop in E1. apply Z.leb_le in E2. subst. eauto.
  Qed.

  (* The update of all records of a cell. *)
  Lemma reps_lift o k s l S : is_sync o -> arg_ok o s k -> reps l S ->
    reps (flat_map (xup m o k) l) (fun r => exists r0, S r0 /\ r = upd m o s r0).
  Proof.
    intros So Ko [A B]. split.
    - intros r (r0 & H & ->). destruct (A r0 H) as (x & i & I & Hi & D).
      destruct (xup_spec o k s x So Ko) as [U1 U2]. destruct (U1 i Hi) as (x' & I' & Hi').
      exists x', i. split; [apply in_flat_map; eauto|]. split; auto. now apply U2.
    - intros x' i I' Hi'. apply in_flat_map in I' as (x & I & I').
      destruct (xup_spec o k s x So Ko) as [U1 U2]. destruct (U2 x' i I' Hi') as [Hi K].
      destruct (B x i I Hi) as (r & H & D). eauto 10.
  Qed.

  (* The update of all cells. *)
  Lemma rep_lift o k s x a w : is_sync o -> arg_ok o s k -> rep x s ->
    (forall p, a p = sa s p) -> (forall p, w p = sw s p) -> rep (xlift m o k x) (lift (upd m o s) s a w).
  Proof.
    intros So Ko H Ha Hw p. unfold xlift. rewrite get_mapk0 by reflexivity. destruct (H p) as (R & A & W). simpl. rewrite Ha, Hw.
    split; auto. intros [|]; simpl; apply reps_lift; auto. apply (R true). apply (R false).
  Qed.

  (* Setting the counters of one element. *)
  Lemma rep_set b x s a' w' (f : xcell -> xcell) (Hf : forall c, xR (f c) = xR c /\ xM (f c) = xM c) :
    rep x s -> (forall p, a' p = if eeqb p b then xa (f (get x b)) else sa s p) ->
    (forall p, w' p = if eeqb p b then xw (f (get x b)) else sw s p) ->
    rep (xset b f x) {| sR := sR s; sM := sM s; sa := a'; sw := w' |}.
  Proof.
    intros H Ha Hw p. unfold xset. rewrite get_mapk, has_ensure, get_ensure. simpl. rewrite orb_false_r, Ha, Hw.
    destruct (H p) as (R & A & W). destruct (eeqb p b) eqn:E; simpl.
    - apply eeqb_spec in E. subst p. split; auto. intros mut. specialize (R mut).
      destruct (Hf (get x b)) as [F1 F2]. destruct mut; simpl in *; congruence.
    - destruct (has x p) eqn:Hp; auto. rewrite (get_no _ _ Hp) in *. auto.
  Qed.

  (* ---- checks ---- *)
  Lemma comQ_spec x Q f g : comQ x Q f g = true <-> exists q, bit Q q = true /\ ((bit (xat x) q = true /\ f = fa) \/ inG (xgr x) g q f).
  Proof.
    unfold comQ, inG. rewrite (lazy_or (anyb _ _)), orb_true_iff, existsb_iff, andb_true_iff, N.eqb_eq, mmeet_spec. split.
    - intros [(gr & I & H)|(E & q & A & B)]; [|eauto 10].
      rewrite !lazy_and, !andb_true_iff, mmeet_spec in H. destruct H as (B & (q & A1 & A2) & G). eauto 12.
    - intros (q & B & [(A & E)|(gr & I & G & A1 & A2)]).
      + right. eauto.
      + left. exists gr. split; auto. rewrite !lazy_and, !andb_true_iff, mmeet_spec. eauto 10.
  Qed.
  Definition okg x Q f (sf : tid -> bool) g := comQ x Q f g || (bit (xini x) f && bit Q (xq x) && sf g).
  (* ... and through the issuing threads. *)
  Lemma okg_spec x i Q f sf g : (sf g = true <-> self x i g) ->
    (okg x Q f sf g = true <-> exists q, bit Q q = true /\ xV x i g q f).
  Proof.
    intros HS. unfold okg, xV. rewrite orb_true_iff, comQ_spec, !andb_true_iff, HS. split.
    - intros [(q & B & H)|[[I B] S]]; eauto 10.
    - intros (q & B & [(S & -> & I)|H]); eauto 10.
  Qed.
  (* All these questions change only at toggle points. *)
  Lemma pc_comQ x Q f K : pc (pts x K) (comQ x Q f).
  Proof.
    unfold comQ. apply (pc_or _ (fun g => existsb (fun gr => bit (gF gr) f && (mmeet (gQ gr) Q && mem g (gK gr))) (xgr x))); [|apply pc_const].
    apply (pc_existsb _ _ _ (fun gr g => bit (gF gr) f && (mmeet (gQ gr) Q && mem g (gK gr)))). intros gr I.
    apply pc_and; [apply pc_const|]. apply pc_and; [apply pc_const|]. apply pc_mem. unfold pts. intros y Hy. apply in_or_app; right. apply in_or_app; right.
    apply in_flat_map. eauto.
  Qed.
  Lemma pc_okg x Q f K sf more : pc (more ++ pts x K) sf -> pc (more ++ pts x K) (okg x Q f sf).
  Proof.
    intros H. unfold okg. apply pc_or; [apply (pc_incl (pts x K)); [apply incl_appr, incl_refl|apply pc_comQ]|].
    apply pc_and; [apply pc_const|assumption].
  Qed.
  Lemma pc_K x K more : pc (more ++ pts x K) (fun g => mem g K).
  Proof. apply pc_mem. unfold pts. intros y Hy. apply in_or_app; right. apply in_or_app; now left. Qed.
  Lemma pc_own x K more : pc (more ++ pts x K) (fun g => mem g (xown x)).
  Proof. apply pc_mem. unfold pts. intros y Hy. apply in_or_app; right. apply in_or_app; right. apply in_or_app; now left. Qed.

  Definition visP (cvg : bool) (K : tset) (ok : tid -> Prop) : Prop :=
    if cvg then exists g, mem g K = true /\ ok g else forall g, mem g K = true -> ok g.
  (* A check on one record is decided exactly. *)
  Lemma visb_spec x sf more cvg K Q f : pc (more ++ pts x K) sf ->
    (visb x sf more cvg K Q f = true <-> visP cvg K (fun g => okg x Q f sf g = true)).
  Proof.
    intros H. unfold visb, visP. destruct cvg.
    - change (anyp (more ++ pts x K) (fun g => mem g K && okg x Q f sf g) = true <-> exists g, mem g K = true /\ okg x Q f sf g = true).
      rewrite (anyp_spec _ (fun g => mem g K && okg x Q f sf g)) by auto using pc_and, pc_K, pc_okg.
      split; intros (g & A); exists g; now apply andb_true_iff.
    - rewrite (allp_ext _ _ (fun g => negb (mem g K) || okg x Q f sf g)) by (intros g; unfold okg; destruct (mem g K); reflexivity).
      rewrite (allp_spec _ (fun g => negb (mem g K) || okg x Q f sf g)) by auto using pc_or, pc_not, pc_K, pc_okg.
      split; intros A g; specialize (A g); destruct (mem g K); simpl in *; auto. discriminate.
  Qed.
  (* A single thread is a piecewise constant set. *)
  Lemma pc_N_eqb u l : pc (u :: N.succ u :: l) (N.eqb u).
  Proof.
    intros y Hy. destruct (N.eqb_spec u y); destruct (N.eqb_spec u (N.succ y)); auto; exfalso; apply Hy; simpl; subst; auto.
  Qed.
  (* A check on one member of a family. *)
  Lemma visb_one x u cvg K Q f :
    visb x (N.eqb u) [u; N.succ u] cvg K Q f = true <-> visP cvg K (fun g => okg x Q f (N.eqb u) g = true).
  Proof. apply visb_spec. simpl. apply pc_N_eqb. Qed.

  (* The answer is piecewise constant in the member, so looking at toggle points is enough. *)
  Lemma pc_visb_one x cvg K Q f : pc (pts x K) (fun u => visb x (N.eqb u) [u; N.succ u] cvg K Q f).
  Proof.
    intros u Hu. apply eq_true_iff_eq. rewrite !visb_one.
    assert (CU : comQ x Q f (N.succ u) = comQ x Q f u) by now apply pc_comQ with (K := K).
    assert (KU : mem (N.succ u) K = mem u K) by now apply (pc_K x K []).
    unfold visP, okg. destruct cvg.
    - split; intros (g & G & H); apply orb_true_iff in H as [H|H].
      + exists g. now rewrite H.
      + apply andb_true_iff in H as [H E]. apply N.eqb_eq in E. subst g. exists u. rewrite <- KU, H, N.eqb_refl. split; auto. apply orb_true_r.
      + exists g. now rewrite H.
      + apply andb_true_iff in H as [H E]. apply N.eqb_eq in E. subst g. exists (N.succ u). rewrite KU, H, N.eqb_refl. split; auto. apply orb_true_r.
    - split; intros A g G; pose proof (A g G) as H; apply orb_true_iff in H as [H|H]; try now rewrite H.
      + apply andb_true_iff in H as [H E]. apply N.eqb_eq in E. subst g.
        rewrite KU in G. specialize (A u G). destruct (N.eqb_spec (N.succ u) u); [lia|].
        rewrite andb_false_r, orb_false_r, <- CU in A. now rewrite A.
      + apply andb_true_iff in H as [H E]. apply N.eqb_eq in E. subst g.
        rewrite <- KU in G. specialize (A _ G). destruct (N.eqb_spec u (N.succ u)); [lia|].
        rewrite andb_false_r, orb_false_r, CU in A. now rewrite A.
  Qed.

  (* Executable and specified check agree. *)
  Lemma vis_den x i r cvg K Q f : den x i r -> (vis cvg K Q f r <-> visP cvg K (fun g => exists q, bit Q q = true /\ xV x i g q f)).
  Proof.
    intros (_ & HV & _). unfold vis, visP. destruct cvg.
    - split; intros (g & G & q & B & H); exists g; split; auto; exists q; split; auto; now apply HV.
    - split; intros A g G; destruct (A g G) as (q & B & H); exists q; split; auto; now apply HV.
  Qed.

  (* Only which threads pass counts. *)
  Lemma visP_ext cvg K ok ok' : (forall g, ok g <-> ok' g) -> (visP cvg K ok <-> visP cvg K ok').
  Proof.
    intros H. unfold visP. destruct cvg.
    - split; intros (g & G & O); exists g; split; auto; now apply H.
    - split; intros A g G; now apply H, A.
  Qed.

  (* More threads that pass never hurt. *)
  Lemma visP_mono cvg K (ok ok' : tid -> Prop) : (forall g, ok g -> ok' g) -> visP cvg K ok -> visP cvg K ok'.
  Proof.
    intros H. unfold visP. destruct cvg.
    - intros (g & G & O); exists g; auto.
    - intros A g G; auto.
  Qed.

  (* A check that the interpreter passes holds for every instance. *)
  Lemma xvis_true x cvg K Q f : xvis x cvg K Q f = true -> forall i, idx x i -> visP cvg K (fun g => exists q, bit Q q = true /\ xV x i g q f).
  Proof.
    unfold xvis, idx. intros H i Hi. destruct (xfam x).
    - destruct Hi as (u & -> & Hu). rewrite lazy_or in H. apply orb_true_iff in H as [H|H].
      + apply visb_spec in H; [|apply pc_const]. revert H. apply visP_mono. intros g G.
        apply (okg_spec x (Some u) Q f (N.eqb u) g). { simpl. rewrite N.eqb_eq. intuition. }
        unfold okg in *. rewrite andb_false_r, orb_false_r in G. now rewrite G.
      + rewrite (allp_ext _ _ (fun u => negb (mem u (xown x)) || visb x (N.eqb u) [u; N.succ u] cvg K Q f)) in H by (intros z; destruct (mem z (xown x)); reflexivity).
        rewrite (allp_spec _ (fun u => negb (mem u (xown x)) || visb x (N.eqb u) [u; N.succ u] cvg K Q f)) in H
          by (apply pc_or; [apply pc_not, (pc_own x K [])|apply pc_visb_one]).
        specialize (H u). rewrite Hu in H. simpl in H. apply visb_one in H. revert H. apply visP_ext. intros g.
        apply iff_sym, okg_spec. simpl. rewrite N.eqb_eq. intuition.
    - subst i. apply visb_spec in H; [|apply (pc_own x K [])]. revert H. apply visP_ext. intros g. apply iff_sym, okg_spec. reflexivity.
  Qed.
  (* A check that it fails, fails for some instance. *)
  Lemma xvis_false x cvg K Q f : xvis x cvg K Q f = false -> exists i, idx x i /\ ~ visP cvg K (fun g => exists q, bit Q q = true /\ xV x i g q f).
  Proof.
    unfold xvis, idx. intros H. destruct (xfam x).
    - rewrite lazy_or in H. apply orb_false_iff in H as [_ H].
      rewrite (allp_ext _ _ (fun u => negb (mem u (xown x)) || visb x (N.eqb u) [u; N.succ u] cvg K Q f)) in H by (intros z; destruct (mem z (xown x)); reflexivity).
      set (h := fun u => negb (mem u (xown x)) || visb x (N.eqb u) [u; N.succ u] cvg K Q f) in *.
      assert (Hh : pc (pts x K) h) by (apply pc_or; [apply pc_not, (pc_own x K [])|apply pc_visb_one]).
      assert (E : anyp (pts x K) (fun u => negb (h u)) = true) by now apply allp_false.
      apply anyp_spec in E; [|now apply pc_not]. destruct E as (u & E). apply negb_true_iff in E. unfold h in E.
      apply orb_false_iff in E as [E1 E2]. apply negb_false_iff in E1. exists (Some u). split; [eauto|].
      intros C. apply not_true_iff_false in E2. apply E2, visb_one. revert C. apply visP_ext. intros g.
      apply okg_spec. simpl. rewrite N.eqb_eq. intuition.
    - exists None. split; auto. intros C. apply not_true_iff_false in H. apply H, visb_spec; [apply (pc_own x K [])|].
      revert C. apply visP_ext. intros g. apply okg_spec. reflexivity.
  Qed.

  (* Lifted to all records of an element. *)
  Lemma chk_ok l S cvg K Q f : reps l S ->
    forallb (fun r => xvis r cvg K Q f) l = true -> forall r, S r -> vis cvg K Q f r.
  Proof.
    intros [A B] H r Hr. destruct (A r Hr) as (x & i & I & Hi & D). rewrite forallb_forall in H.
    apply (vis_den x i r cvg K Q f D), xvis_true; auto.
  Qed.
  (* Lifted to all records of an element: a failing one exists. *)
  Lemma chk_bad l S cvg K Q f : reps l S ->
    forallb (fun r => xvis r cvg K Q f) l = false -> exists r, S r /\ ~ vis cvg K Q f r.
  Proof.
    intros [A B] H.
    assert (exists x, In x l /\ xvis x cvg K Q f = false) as (x & I & E).
    { clear A B. induction l as [|x l IH]; simpl in *; [discriminate|]. destruct (xvis x cvg K Q f) eqn:E; [|eauto].
      destruct (IH H) as (y & J & Ey). eauto. }
    destruct (xvis_false _ _ _ _ _ E) as (i & Hi & N). destruct (B x i I Hi) as (r & Hr & D).
    exists r. split; auto. intros C. apply N, (vis_den x i r cvg K Q f D), C.
  Qed.

  (* What "the first bad element" means. *)
  Lemma first_none {A} (bad : A -> bool) l : first bad l = None -> forall a, In a l -> bad a = false.
  Proof. induction l as [|a l IH]; simpl; [contradiction|]. destruct (bad a) eqn:E; [discriminate|]. intros H b [<-|I]; auto. Qed.
  Lemma first_some {A} (bad : A -> bool) l a : first bad l = Some a ->
    exists pre post, l = pre ++ a :: post /\ bad a = true /\ forall b, In b pre -> bad b = false.
  Proof.
    induction l as [|b l IH]; simpl; [discriminate|]. destruct (bad b) eqn:E.
    - intros H. injection H as ->. exists [], l. simpl. split; auto. split; auto. contradiction.
    - intros H. destruct (IH H) as (pre & post & -> & B & C). exists (b :: pre), post. split; auto. split; auto.
      intros c [<-|I]; auto.
  Qed.

  (* ---- new records ---- *)
  Lemma reps_new cvg ooo C q Qa Zs x s : rep x s -> reps [newx m cvg ooo C q Qa Zs x] (NewRecs m cvg C q ooo Qa Zs (sa s)).
  Proof.
    intros H.
    assert (D : forall i (K : tid -> Prop), (forall g, K g <-> self (newx m cvg ooo C q Qa Zs x) i g) ->
      den (newx m cvg ooo C q Qa Zs x) i (NewRec m K q ooo Qa Zs (sa s))).
    { intros i K HK. split; [reflexivity|]. split.
      - intros g q' f. unfold xV, inG. simpl. rewrite HK. unfold newx. simpl. split.
        + intros [A|A]; auto.
        + intros [A|[A|(gr & [] & _)]]; auto.
      - intros b str z. unfold Ple, ple. simpl. setoid_rewrite in_flat_map. split.
        + intros (k & (I & ->) & L). exists (sa s b). split; auto. exists b. split; auto.
          destruct (H b) as (_ & -> & _). simpl. destruct str; auto.
        + intros (k & (b' & I & J) & L). destruct (H b') as (_ & E & _). exists k. split; auto.
          destruct J as [J|[J|[]]]; injection J as -> _ <-; auto. }
    unfold NewRecs. split.
    - intros r Hr. destruct (grouped m cvg q) eqn:E.
      + subst r. exists (newx m cvg ooo C q Qa Zs x), None. split; [now left|]. split; [unfold idx; simpl; now rewrite E|].
        apply D. intros g. reflexivity.
      + destruct Hr as (g & Hg & ->). exists (newx m cvg ooo C q Qa Zs x), (Some g). split; [now left|]. split.
        * unfold idx. simpl. rewrite E. simpl. eauto.
        * apply D. intros g'. reflexivity.
    - intros x' i [<-|[]] Hi. unfold idx in Hi. simpl in Hi. destruct (grouped m cvg q) eqn:E; simpl in Hi.
      + subst i. eexists. split; [reflexivity|]. apply D. intros g. reflexivity.
      + destruct Hi as (u & -> & Hu). eexists. split; [eauto|]. apply D. intros g. reflexivity.
  Qed.

  (* Representation of unions ... *)
  Lemma reps_app l1 l2 S1 S2 : reps l1 S1 -> reps l2 S2 -> reps (l1 ++ l2) (fun r => S1 r \/ S2 r).
  Proof.
    intros [A1 B1] [A2 B2]. split.
    - intros r [H|H]; [destruct (A1 r H) as (x & i & I & K)|destruct (A2 r H) as (x & i & I & K)];
        exists x, i; split; auto; apply in_or_app; auto.
    - intros x i I Hi. apply in_app_or in I as [I|I]; [destruct (B1 x i I Hi) as (r & H & K)|destruct (B2 x i I Hi) as (r & H & K)]; eauto.
  Qed.
  (* ... of equal sets ... *)
  Lemma reps_ext l S S' : (forall r, S r <-> S' r) -> reps l S -> reps l S'.
  Proof.
    intros H [A B]. split.
    - intros r Hr. apply A. now apply H.
    - intros x i I Hi. destruct (B x i I Hi) as (r & Hr & D). exists r. split; auto. now apply H.
  Qed.
  (* ... and of the empty set. *)
  Lemma reps_nil (S : srec -> Prop) : (forall r, ~ S r) -> reps [] S.
  Proof. intros H. split; [intros r Hr; now apply H in Hr|contradiction]. Qed.

  (* Recording an access. *)
  Lemma rep_record mut cvg ooo C es q Qa Zs x s : rep x s ->
    rep (xrecord m mut cvg ooo C es q Qa Zs x) (record m mut cvg ooo C es q Qa Zs s).
  Proof.
    intros H p. pose proof (reps_new cvg ooo C q Qa Zs x s H) as HN. destruct (H p) as (R & A & W).
    pose proof (R true) as RM. pose proof (R false) as RR. simpl in RM, RR.
    unfold xrecord. rewrite get_mapk, has_ensure, get_ensure.
    destruct (inE p es) eqn:E; simpl.
    - assert (In p es) by now apply inE_In. destruct mut; simpl.
      + split; [|split; auto]. intros [|]; simpl; rewrite E.
        * destruct (keeps m true q Qa).
          -- apply (reps_ext _ (fun r => NewRecs m cvg C q ooo Qa Zs (sa s) r \/ sM s p r)); [intros r; tauto|].
             apply (reps_app [_] _ _ _ HN RM).
          -- revert HN. apply reps_ext. intros r. split; [auto|]. intros [[F _]|G]; [discriminate|exact G].
        * destruct (keeps m false q Qa); simpl; [|apply reps_nil; intros r (F & _); discriminate].
          revert RR. apply reps_ext. tauto.
      + split; [|split; auto]. intros [|]; simpl; auto.
        apply (reps_ext _ (fun r => NewRecs m cvg C q ooo Qa Zs (sa s) r \/ sR s p r)); [intros r; tauto|].
        apply (reps_app [_] _ _ _ HN RR).
    - assert (NI : ~ In p es) by (rewrite <- inE_In; congruence).
      assert (get x p = if has x p then get x p else cell0) as <-.
      { destruct (has x p) eqn:Hp; auto. now apply get_no. }
      split; [|auto]. intros [|]; simpl; destruct mut; simpl; rewrite ?E; auto.
      revert RR. apply reps_ext. tauto.
  Qed.

  (* A new generation of a barrier: its pending entries go. *)
  Lemma den_drop es x i r : den x i r -> den (xdrop es x) i (dropP es r).
  Proof.
    intros (A & B & C). unfold xdrop.
    assert (K : forall b s z, Ple (dropP es r) b s z <-> ple (filter (fun e => negb (inE (fst (fst e)) es)) (xP x)) b s z).
    { intros b s z. specialize (C b s z). unfold Ple, ple in *. simpl. setoid_rewrite filter_In. simpl. setoid_rewrite negb_true_iff. split.
      - intros (k & (Hk & N) & L). destruct (proj1 C) as (k' & I & L'); [eauto|]. exists k'. repeat split; auto.
        apply not_true_iff_false. now rewrite inE_In.
      - intros (k & (I & N) & L). destruct (proj2 C) as (k' & I' & L'); [eauto|]. exists k'. repeat split; auto.
        rewrite <- inE_In. congruence. }
    destruct (xP x) eqn:E.
    - split; [exact A|]. split; [exact B|]. intros. rewrite E. apply K.
    - split; [exact A|]. split; [exact B|]. intros. apply K.
  Qed.
  Lemma idx_drop es x i : idx (xdrop es x) i <-> idx x i.
  Proof. unfold xdrop. destruct (xP x); reflexivity. Qed.
  Lemma reps_drop es l S : reps l S -> reps (map (xdrop es) l) (fun r => exists r0, S r0 /\ r = dropP es r0).
  Proof.
    intros [A B]. split.
    - intros r (r0 & H & ->). destruct (A r0 H) as (x & i & I & Hi & D). exists (xdrop es x), i.
      split; [now apply in_map|]. split; [now apply idx_drop|now apply den_drop].
    - intros x' i I Hi. apply in_map_iff in I as (x & <- & I). apply (idx_drop es x i) in Hi.
      destruct (B x i I Hi) as (r & H & D). exists (dropP es r). split; [eauto|now apply den_drop].
  Qed.

  (* ---- one event ---- *)
  Definition orel (a : xout) (b : out) : Prop :=
    match a, b with XOK x, OK s => rep x s | XER e, ER e' => e = e' | _, _ => False end.

  (* ONE EVENT: the interpreter does what the rules say. *)
  Theorem xstep_correct x s ev : rep x s -> exists o, sstep m s ev o /\ orel (xstep m x ev) o.
  Proof.
    intros H. destruct ev as [l o]. unfold xstep. destruct o.
    - exists (OK (alloc es s)). split; [constructor|]. simpl. intros p. unfold xalloc. rewrite get_mapk0 by reflexivity.
      rewrite get_filter. destruct (H p) as (R & A & W). simpl. destruct (inE p es) eqn:E.
      + simpl. split; auto. apply inE_In in E. intros [|]; simpl; apply reps_nil; intros r [C _]; contradiction.
      + assert (NI : ~ In p es) by (rewrite <- inE_In; congruence). split; auto.
        intros mut. specialize (R mut). assert (K := reps_drop es _ _ R). revert K. destruct mut; simpl; apply reps_ext; intros r; tauto.
    - exists (OK (record m mut cvg ooo C es q Qa Zs s)). split; [constructor|]. simpl. now apply rep_record.
    - destruct (first _ es) eqn:E.
      + apply first_some in E as (pre & post & -> & B & C1). apply negb_true_iff in B.
        destruct (chk_bad _ _ _ _ _ _ (proj1 (H e) mut) B) as (r & Hr & NV).
        eexists. split.
        * eapply S_chk_err with (r := r); eauto. intros p' I r' Hr'.
          eapply chk_ok; [apply (proj1 (H p') mut)| |exact Hr']. specialize (C1 _ I). now apply negb_false_iff in C1.
        * destruct mut; reflexivity.
      + exists (OK s). split; [|assumption]. constructor. intros p I r Hr.
        eapply chk_ok; [apply (proj1 (H p) mut)| |exact Hr]. pose proof (first_none _ _ E p I) as B. now apply negb_false_iff in B.
    - destruct (first _ es) eqn:E.
      + apply first_some in E as (pre & post & -> & B & C1). apply negb_true_iff, Z.eqb_neq in B.
        destruct (H e) as (_ & A & W). exists (ER (l, KBar, Some e)). split; [|reflexivity].
        eapply S_bar_err; eauto; [|congruence]. intros p' I. destruct (H p') as (_ & -> & ->).
        specialize (C1 _ I). apply negb_false_iff, Z.eqb_eq in C1. exact C1.
      + exists (OK s). split; [|assumption]. constructor. intros p I. destruct (H p) as (_ & -> & ->).
        pose proof (first_none _ _ E p I) as B. apply negb_false_iff, Z.eqb_eq in B. exact B.
    - eexists. split; [apply S_fence|]. simpl. apply rep_lift; simpl; auto.
    - eexists. split; [apply S_arrive|]. simpl.
      destruct (H h) as (_ & Ah & Wh). rewrite <- Ah.
      assert (L : rep (xlift m (EArrive tr C Q1 h Es) (sa s h) x) (lift (upd m (EArrive tr C Q1 h Es) s) s (sa s) (sw s)))
        by (apply rep_lift; simpl; auto).
      refine (rep_set h _ _ (set (sa s) h (sa s h + 1)%Z) (sw s) (fun c => {| xR := xR c; xM := xM c; xa := (sa s h + 1)%Z; xw := xw c |})
                (fun c => conj eq_refl eq_refl) L _ _); simpl; intros p; unfold set; destruct (eeqb p h) eqn:E; auto.
      apply eeqb_spec in E. subst. destruct (L h) as (_ & _ & W'). exact W'.
    - destruct (H b) as (_ & Ab & Wb). rewrite <- Ab, <- Wb. destruct (progZ m (sa s b) (sw s b) n one) eqn:PB.
      + eexists. split; [apply S_await_err; exact PB|reflexivity].
      + eexists. split; [apply S_await; exact PB|]. simpl.
        assert (L : rep (xlift m (EAwait C b F T n one) (amaxZ (sa s b) (sw s b) n) x) (lift (upd m (EAwait C b F T n one) s) s (sa s) (sw s)))
          by (apply rep_lift; simpl; auto).
        refine (rep_set b _ _ (sa s) (set (sw s) b (wnext s b n))
                  (fun c => {| xR := xR c; xM := xM c; xa := xa c; xw := wnextZ (sa s b) (sw s b) n |})
                  (fun c => conj eq_refl eq_refl) L _ _); simpl; intros p; unfold set; destruct (eeqb p b) eqn:E; auto.
        apply eeqb_spec in E. subst. destruct (L b) as (_ & A' & _). exact A'.
    - eexists. split; [apply S_bad|reflexivity].
  Qed.

  (* A TRACE. *)
  Theorem xrun_correct t x s : rep x s -> exists o, srun m s t o /\ orel (xrun m x t) o.
  Proof.
    revert x s. induction t as [|e t IH]; intros x s H; simpl.
    - exists (OK s). split; [constructor|assumption].
    - destruct (xstep_correct x s e H) as ([s1|er] & S1 & O1); destruct (xstep m x e) as [x1|er1]; simpl in O1; try contradiction.
      + destruct (IH x1 s1 O1) as (o & R & O2). exists o. split; auto. econstructor; eauto.
      + subst. exists (ER er). split; [now apply R_err|reflexivity].
  Qed.

  (* Both begin empty. *)
  Lemma rep0 : rep xst0 sst0.
  Proof. intros p. simpl. split; auto. intros [|]; apply reps_nil; intros r []. Qed.

  Definition borel (i : Z) (a : xout) (b : bout) : Prop :=
    match a, b with XOK x, BOK j s => i = j /\ rep x s | XER e, BER e' => e = e' | _, _ => False end.

  (* the interpreter is total, and its answer is derivable by the rules *)
  Theorem interp_sound stride st i sg x s : rep x s ->
    exists o, big m stride st i sg s o /\ borel (snd (unroll stride st i sg)) (interp m stride st i sg x) o.
  Proof.
    intros H. destruct (xrun_correct (fst (unroll stride st i sg)) x s H) as (o & R & O).
    exists (bout_of (snd (unroll stride st i sg)) o). split; [now apply srun_big|].
    unfold interp. destruct o, (xrun m x (fst (unroll stride st i sg))); simpl in *; auto; contradiction.
  Qed.
  (* ... and it is the only answer *)
  Theorem interp_complete stride st i sg x s o : rep x s -> big m stride st i sg s o ->
    borel (snd (unroll stride st i sg)) (interp m stride st i sg x) o.
  Proof. intros H B. destruct (interp_sound stride st i sg x s H) as (o' & B' & O). now rewrite (big_det m stride st i sg s o o' B B'). Qed.

  (* what a certificate states *)
  Definition accepts stride (s : stmt) : Prop := exists i st, big m stride s 0 [] sst0 (BOK i st).
  Definition rejects stride (s : stmt) (e : err) : Prop := big m stride s 0 [] sst0 (BER e).
  (* What a certificate states. *)
  Theorem cert_ok stride s x : interp m stride s 0 [] xst0 = XOK x -> accepts stride s.
  Proof. intros E. destruct (interp_sound stride s 0%Z [] _ _ rep0) as ([i st|e] & B & O); rewrite E in O; [|contradiction]. now exists i, st. Qed.
  Definition is_okb (o : xout) : bool := match o with XOK _ => true | XER _ => false end.
  (* ACCEPTED by one evaluation. *)
  Theorem cert_checked stride s : is_okb (interp m stride s 0 [] xst0) = true -> accepts stride s.
  Proof. destruct (interp m stride s 0 [] xst0) eqn:E; [intros _; eapply cert_ok; eauto|discriminate]. Qed.
  (* REJECTED by one evaluation. *)
  Theorem cert_err stride s e : interp m stride s 0 [] xst0 = XER e -> rejects stride s e.
  Proof. intros E. destruct (interp_sound stride s 0%Z [] _ _ rep0) as ([i st|e'] & B & O); rewrite E in O; [contradiction|]. simpl in O. now subst. Qed.
End Mode.
