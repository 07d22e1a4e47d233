(* Tiles as single elements: trailing dimensions that every access to a variable covers completely may be dropped. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast Param.
Import ListNotations.
Local Open Scope Z_scope.

Section Collapse.
  Variable m : mode.
  Variable tbl : list (N * (nat * list Z)).        (* variable -> number of dimensions kept, extents of the dropped ones *)
  Fixpoint look_c (l : list (N * (nat * list Z))) (v : N) : option (nat * list Z) :=
    match l with [] => None | (x, d) :: r => if N.eqb x v then Some d else look_c r v end.
  Definition cd := look_c tbl.
  Definition pi (p : elem) : elem := match cd (fst p) with None => p | Some (d, _) => (fst p, firstn d (snd p)) end.
  (* elements with well-formed dropped coordinates *)
  Definition U (p : elem) : Prop := match cd (fst p) with None => True | Some (d, ext) => inside ext (skipn d (snd p)) = true /\ (d <= length (snd p))%nat end.
  Definition plain (p : elem) : Prop := cd (fst p) = None.
  (* Variables that are not collapsed stay. *)
  Lemma pi_plain p : plain p -> pi p = p. Proof. unfold plain, pi. now intros ->. Qed.
  Lemma U_plain p : plain p -> U p. Proof. unfold plain, U. now intros ->. Qed.

  (* es' is the image of es, and es is the whole preimage *)
  Definition img (es es' : list elem) : Prop :=
    (forall p, In p es -> U p) /\ (forall p, U p -> (In p es <-> In (pi p) es')) /\ (forall p', In p' es' -> exists p, In p es /\ pi p = p').
  Definition ev_rel (o o' : op) : Prop :=
    match o, o' with
    | EAlloc es, EAlloc es' => img es es'
    | ERec a b c C es q Qa Zs, ERec a' b' c' C' es' q' Qa' Zs' =>
        a = a' /\ b = b' /\ c = c' /\ C = C' /\ q = q' /\ Qa = Qa' /\ Zs = Zs' /\ img es es' /\ (forall z, In z Zs -> plain z)
    | EChk a b C f es Q, EChk a' b' C' f' es' Q' => a = a' /\ b = b' /\ C = C' /\ f = f' /\ Q = Q' /\ img es es'
    | EBar es, EBar es' => es = es' /\ forall z, In z es -> plain z
    | EFence _ _ _ _ _, _ => o = o'
    | EArrive _ _ _ h Es, _ => o = o' /\ plain h /\ forall z, In z Es -> plain z
    | EAwait _ b _ _ _ _, _ => o = o' /\ plain b
    | EBad, EBad => True
    | _, _ => False
    end.

  Definition req (r r' : srec) : Prop :=
    q0 r = q0 r' /\ (forall g q f, V r g q f <-> V r' g q f) /\ (forall b s k, plain b -> (P r b s k <-> P r' b s k)).
  Definition seqv (S S' : srec -> Prop) : Prop := (forall r, S r -> exists r', S' r' /\ req r r') /\ (forall r', S' r' -> exists r, S r /\ req r r').
  Definition srel (s s' : sst) : Prop :=
    (forall b, plain b -> sa s b = sa s' b /\ sw s b = sw s' b) /\ (forall mut p, U p -> seqv (sel mut s p) (sel mut s' (pi p))).

  (* Equal sets of records stay equal under an update, a condition, a union. *)
  Lemma seqv_lift S S' f f' : (forall r r', req r r' -> req (f r) (f' r')) -> seqv S S' ->
    seqv (fun r => exists r0, S r0 /\ r = f r0) (fun r => exists r0, S' r0 /\ r = f' r0).
  Proof.
    intros H [A B]. split.
    - intros r (r0 & I & ->). destruct (A r0 I) as (r' & J & K). exists (f' r'). split; eauto.
    - intros r' (r0 & I & ->). destruct (B r0 I) as (r & J & K). exists (f r). split; eauto.
  Qed.
  Lemma seqv_and (c c' : Prop) S S' : (c <-> c') -> seqv S S' -> seqv (fun r => c /\ S r) (fun r => c' /\ S' r).
  Proof.
    intros E [A B]. split.
    - intros r [X I]. destruct (A r I) as (r' & J & K). exists r'. tauto.
    - intros r' [X I]. destruct (B r' I) as (r & J & K). exists r. tauto.
  Qed.
  Lemma seqv_or S S' T T' : seqv S S' -> seqv T T' -> seqv (fun r => S r \/ T r) (fun r => S' r \/ T' r).
  Proof.
    intros [A B] [C D]. split.
    - intros r [I|I]; [destruct (A r I) as (r' & J & K)|destruct (C r I) as (r' & J & K)]; eauto.
    - intros r' [I|I]; [destruct (B r' I) as (r & J & K)|destruct (D r' I) as (r & J & K)]; eauto.
  Qed.
  (* Equal records are picked up alike ... *)
  Lemma wit_req s s' o str r r' : srel s s' -> ev_rel o o -> req r r' -> (wit o s str r <-> wit o s' str r').
  Proof.
    intros (Sc & _) E (Q & VV & PP). destruct o; simpl in *; try tauto.
    - rewrite Q. split; intros (g & q & A & B & X & Y); exists g, q; repeat split; auto; now apply VV.
    - rewrite Q. split; intros (g & q & A & B & X & Y); exists g, q; repeat split; auto; now apply VV.
    - destruct E as [_ Pb]. unfold amax. destruct (Sc b Pb) as [-> ->]. split; intros (k & A & B); exists k; split; auto; now apply PP.
  Qed.
  (* ... and updated alike. *)
  Lemma upd_req s s' o r r' : srel s s' -> ev_rel o o -> req r r' -> req (upd m o s r) (upd m o s' r').
  Proof.
    intros Hs E R. pose proof R as (Q & VV & PP). split; [exact Q|]. split.
    - intros g q f. simpl. rewrite VV. apply or_iff_compat_l.
      split; intros (str & A & B); exists str; split; auto; apply (wit_req s s' o str r r' Hs E R); exact A.
    - intros b str k Pb. simpl. rewrite (PP b str k Pb), (wit_req s s' o str r r' Hs E R). apply or_iff_compat_l.
      destruct o; simpl in *; try tauto. destruct E as (_ & Ph & _). destruct Hs as (Sc & _). destruct (Sc h Ph) as [-> _]. tauto.
  Qed.
  (* An element is accessed if its image is. *)
  Lemma inE_img es es' p : img es es' -> U p -> inE p es = inE (pi p) es'.
  Proof. intros (_ & H & _) Up. apply eq_true_iff_eq. rewrite !inE_In. now apply H. Qed.
  Lemma inE_plain es es' p : img es es' -> plain p -> inE p es = inE p es'.
  Proof. intros I Pp. rewrite (inE_img es es' p I (U_plain p Pp)). now rewrite (pi_plain p Pp). Qed.

  (* Related events keep related states, and have the same verdict. *)
  Lemma step_rel s s' o o' : srel s s' -> ev_rel o o' -> srel (sapply m s o) (sapply m s' o') /\ (good m s o <-> good m s' o').
  Proof.
    intros Hs E. pose proof Hs as (Sc & Sr).
    assert (SYNC : forall a w a' w', o = o' -> ev_rel o o -> (forall b, plain b -> a b = a' b /\ w b = w' b) ->
                   srel (lift (upd m o s) s a w) (lift (upd m o s') s' a' w')).
    { intros a w a' w' _ Eo Hc. split; [exact Hc|]. intros mut p Up. specialize (Sr mut p Up).
      destruct mut; simpl in *; revert Sr; apply seqv_lift; intros; now apply upd_req. }
    destruct o as [es|mt cv oo C es q Qa Zs|mt cv C f es Q|es|tr C Q1 F T|tr C Q1 h Es|C b F T n one|];
      destruct o' as [es'|mt' cv' oo' C' es' q' Qa' Zs'|mt' cv' C' f' es' Q'|es'|tr' C' Q1' F' T'|tr' C' Q1' h' Es'|C' b' F' T' n' one'|];
      simpl in E; try contradiction; try discriminate; try (destruct E as [E _]; discriminate E).
    - (* alloc *) split; [|simpl; tauto]. split.
      + intros b Pb. simpl. rewrite (inE_plain es es' b E Pb). destruct (inE b es'); auto.
      + intros mut p Up. specialize (Sr mut p Up).
        assert (N : ~ In p es <-> ~ In (pi p) es') by (destruct E as (_ & H & _); now rewrite (H p Up)).
        assert (K : forall r r', req r r' -> req (dropP es r) (dropP es' r')).
        { intros r r' (Q & VV & PP). split; [exact Q|]. split; [exact VV|]. intros b str k Pb. simpl.
          rewrite (PP b str k Pb). destruct E as (_ & H & _). rewrite (H b (U_plain b Pb)), (pi_plain b Pb). tauto. }
        destruct mut; simpl in *; apply seqv_and; auto; revert Sr; now apply seqv_lift.
    - (* record *) destruct E as (<- & <- & <- & <- & <- & <- & <- & I & Pz). split; [|simpl; tauto]. split; [exact Sc|].
      intros mut p Up.
      assert (NN : seqv (NewRecs m cv C q oo Qa Zs (sa s)) (NewRecs m cv C q oo Qa Zs (sa s'))).
      { assert (K : forall K, req (NewRec m K q oo Qa Zs (sa s)) (NewRec m K q oo Qa Zs (sa s'))).
        { intros K. split; [reflexivity|]. split; [reflexivity|]. intros b str k Pb. simpl. now destruct (Sc b Pb) as [-> _]. }
        unfold NewRecs. destruct (grouped m cv q).
        - split; intros r ->; eauto.
        - split; intros r (g & G & ->); eexists; split; eauto. }
      pose proof (Sr true p Up) as SM. pose proof (Sr false p Up) as SR. simpl in SM, SR. pose proof (inE_img es es' p I Up) as Ei.
      assert (Ip : In p es <-> In (pi p) es') by (destruct I as (_ & H & _); auto).
      destruct mt, mut; simpl; rewrite ?Ei.
      + destruct (inE (pi p) es'); [|exact SM]. apply seqv_or; [apply seqv_and; [tauto|]|]; assumption.
      + destruct (inE (pi p) es'); [|exact SR]. apply seqv_and; [tauto|]. assumption.
      + exact SM.
      + apply seqv_or; [assumption|]. apply seqv_and; assumption.
    - (* check *) destruct E as (<- & <- & <- & <- & <- & I). split; [exact Hs|]. simpl.
      assert (K : forall p, U p -> (okE mt cv C f Q s p <-> okE mt cv C f Q s' (pi p))).
      { intros p Up. destruct (Sr mt p Up) as [A B].
        assert (VK : forall r r', req r r' -> (vis cv C Q f r <-> vis cv C Q f r')).
        { intros r r' (_ & VV & _). apply (visL_ext cv C Q (fun g q => V r g q f) (fun g q => V r' g q f)). intros. apply VV. }
        unfold okE. split.
        - intros H r' I'. destruct (B r' I') as (r & J & Rq). apply (VK _ _ Rq). auto.
        - intros H r I'. destruct (A r I') as (r' & J & Rq). apply (VK _ _ Rq). auto. }
      destruct I as (I1 & I2 & I3). split.
      + intros H p' J. destruct (I3 p' J) as (p & J' & <-). apply K; auto.
      + intros H p J. apply K; auto. apply H. apply I2; auto.
    - (* bar *) destruct E as [<- Pz]. split; [exact Hs|]. simpl.
      split; intros H p I; specialize (H p I); destruct (Sc p (Pz p I)); congruence.
    - (* fence *) injection E as <- <- <- <- <-. split; [apply SYNC; simpl; auto|simpl; tauto].
    - (* arrive *) destruct E as (E & Ph & Pz). injection E as <- <- <- <- <-. split; [|simpl; tauto].
      apply SYNC; simpl; auto. intros b Pb. unfold set. destruct (Sc h Ph) as [-> _], (Sc b Pb) as [-> ->]. auto.
    - (* await *) destruct E as (E & Pb). injection E as <- <- <- <- <- <-. destruct (Sc b Pb) as [Ea Ew]. split.
      + apply SYNC; simpl; auto. intros b' Pb'. unfold set, wnext. rewrite Ea, Ew. destruct (Sc b' Pb') as [-> ->]. auto.
      + simpl. unfold prog_bad. rewrite Ea, Ew. tauto.
    - split; [exact Hs|]. simpl. tauto.
  Qed.
  (* The same for traces. *)
  Theorem goods_rel T T' : Forall2 ev_rel T T' -> forall s s', srel s s' -> (goods m s T <-> goods m s' T').
  Proof.
    induction 1 as [|o o' T T' E _ IH]; intros s s' Hs; simpl; [tauto|].
    destruct (step_rel s s' o o' Hs E) as [Hn G]. rewrite G, (IH _ _ Hn). tauto.
  Qed.

  (* ---- the syntactic collapse ---- *)
  Definition is_full (w : win) (e : cx) (x : Z) : bool :=
    match w, e with Rg (CK a) (CK b), CK z => (a =? 0) && (b =? x - 1) && (z =? x) && (0 <? x) | _, _ => false end.
  Fixpoint all_full (ws : list win) (es : list cx) (xs : list Z) : bool :=
    match ws, es, xs with
    | [], [], [] => true
    | w :: ws', e :: es', x :: xs' => is_full w e x && all_full ws' es' xs'
    | _, _, _ => false
    end.
  Definition col_a (a : acx) : option acx :=
    match cd (av a) with
    | None => Some a
    | Some (d, ext) =>
        if negb (aclip a) && (d <=? length (awin a))%nat && (d <=? length (aext a))%nat && all_full (skipn d (awin a)) (skipn d (aext a)) ext
        then Some {| av := av a; aext := firstn d (aext a); awin := firstn d (awin a); aclip := false |} else None
    end.
  Definition pl_a (a : acx) : bool := match cd (av a) with None => true | _ => false end.
  Definition col_l (l : leaf) : option leaf :=
    match l with
    | LAlloc a => match col_a a with Some a' => Some (LAlloc a') | None => None end
    | LRec x y z a q Qa Zs => if forallb pl_a Zs then match col_a a with Some a' => Some (LRec x y z a' q Qa Zs) | None => None end else None
    | LChk x y f a Q => match col_a a with Some a' => Some (LChk x y f a' Q) | None => None end
    | LBar a => if pl_a a then Some l else None
    | LFence _ _ _ _ => Some l
    | LArrive _ _ h Es => if pl_a h && forallb pl_a Es then Some l else None
    | LAwait h _ _ _ _ => if pl_a h then Some l else None
    end.
  Fixpoint col (s : stmt) : option stmt :=
    match s with
    | Skip => Some Skip | IncTask => Some IncTask
    | Seq a b => match col a, col b with Some a', Some b' => Some (Seq a' b') | _, _ => None end
    | For y lo hi b => match col b with Some b' => Some (For y lo hi b') | None => None end
    | If c b => match col b with Some b' => Some (If c b') | None => None end
    | Leaf lab f l => match col_l l with Some l' => Some (Leaf lab f l') | None => None end
    end.

  (* Lengths of related lists. *)
  Lemma F2len {A B} (R : A -> B -> Prop) l l' : Forall2 R l l' -> length l = length l'.
  Proof. induction 1; simpl; auto. Qed.
  (* Members of a Cartesian product. *)
  Lemma in_prod l : forall idx, In idx (prod l) <-> Forall2 (fun x xs => In x xs) idx l.
  Proof.
    induction l as [|xs l IH]; intros idx; simpl.
    - split; [intros [<-|[]]; constructor|intros H; inversion H; auto].
    - rewrite in_flat_map. split.
      + intros (x & Hx & H). apply in_map_iff in H as (r & <- & H). constructor; auto. now apply IH.
      + intros H. inversion H; subst. exists x. split; auto. apply in_map. now apply IH.
  Qed.
  (* Numbers of a range. *)
  Lemma in_zrange n : forall lo c, In c (zrange lo n) <-> lo <= c < lo + Z.of_nat n.
  Proof. induction n as [|n IH]; intros lo c; simpl; [lia|]. rewrite IH. lia. Qed.
  (* Dimensions that are covered completely contribute every index. *)
  Lemma full_prod s ws : forall es xs, all_full ws es xs = true ->
    (forall suf, Forall2 (fun x l => In x l) suf (map (weval s) ws) <-> inside xs suf = true) /\ map (cev s) es = xs /\ exists suf, inside xs suf = true.
  Proof.
    induction ws as [|w ws IH]; intros [|e es] [|x xs] H; simpl in H; try discriminate.
    - split; [|split; [reflexivity|exists []; reflexivity]]. intros suf. split; [intros K; inversion K; reflexivity|destruct suf; [constructor|discriminate]].
    - apply andb_true_iff in H as [F H]. destruct (IH es xs H) as (A & B & (suf0 & C)). unfold is_full in F.
      destruct w as [|[a| | | | | |] [b| | | | | |]]; try discriminate. destruct e; try discriminate.
      rewrite !andb_true_iff, !Z.eqb_eq, Z.ltb_lt in F. destruct F as [[[-> ->] ->] Px].
      assert (W : forall z, In z (weval s (Rg (CK 0) (CK (x - 1)))) <-> 0 <= z < x).
      { intros z. simpl. rewrite in_zrange. lia. }
      split; [|split].
      + intros suf. simpl map. split.
        * intros K. inversion K as [|z l1 suf1 l2 Hz Hr]; subst. simpl. apply andb_true_iff. split; [|now apply A]. apply W in Hz.
          apply andb_true_iff. rewrite Z.leb_le, Z.ltb_lt. lia.
        * destruct suf as [|z suf]; simpl; [discriminate|]. rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt. intros [[X Y] Z0].
          constructor; [apply W; lia|now apply A].
      + simpl. now rewrite B.
      + exists (0 :: suf0). simpl. rewrite C. apply Z.ltb_lt in Px. now rewrite Px.
  Qed.
  (* Indices inside a product of extents. *)
  Lemma inside_app e1 : forall i1 e2 i2, length e1 = length i1 -> inside (e1 ++ e2) (i1 ++ i2) = inside e1 i1 && inside e2 i2.
  Proof. induction e1 as [|e e1 IH]; intros [|i i1] e2 i2 H; simpl in *; try discriminate; auto. rewrite IH by lia. now rewrite andb_assoc. Qed.
  Lemma inside_len e : forall i, inside e i = true -> length e = length i.
  Proof. induction e as [|x e IH]; intros [|y i]; simpl; try discriminate; auto. rewrite !andb_true_iff. intros [_ H]. f_equal. auto. Qed.

  (* The elements of a collapsed access are the image of those of the full one. *)
  Lemma col_a_spec s a a' : col_a a = Some a' ->
    match aeval s a, aeval s a' with Some es, Some es' => img es es' | None, None => True | _, _ => False end.
  Proof.
    unfold col_a. destruct (cd (av a)) as [[d ext]|] eqn:E.
    2:{ intros H. injection H as <-.
        assert (K : forall es, (forall p, In p es -> fst p = av a) -> img es es).
        { intros es Hv. assert (Hp : forall p, In p es -> plain p) by (intros p I; unfold plain; now rewrite (Hv p I)).
          split; [intros p I; apply U_plain; auto|]. split.
          - intros p Up. split; intros I; [now rewrite (pi_plain p (Hp p I))|]. pose proof (Hp _ I) as Q. unfold plain, pi in *.
            destruct (cd (fst p)) as [[d e]|] eqn:C; [simpl in Q; congruence|exact I].
          - intros p' I. exists p'. split; auto. apply pi_plain; auto. }
        assert (Fs : forall (l : list (list Z)) p, In p (map (pair (av a)) l) -> fst p = av a) by (intros l p I; apply in_map_iff in I as (x & <- & _); reflexivity).
        unfold aeval. destruct (aclip a); [apply K, Fs|]. destruct (forallb _ _); [apply K, Fs|exact I]. }
    destruct (negb (aclip a) && (d <=? length (awin a))%nat && (d <=? length (aext a))%nat && all_full (skipn d (awin a)) (skipn d (aext a)) ext) eqn:C; [|discriminate].
    intros H. injection H as <-. rewrite !andb_true_iff, !Nat.leb_le, negb_true_iff in C. destruct C as [[[Cl Lw] Le] Fu].
    destruct (full_prod s _ _ _ Fu) as (A & B & (suf0 & Hs0)).
    unfold aeval. rewrite Cl. simpl.
    set (W1 := map (weval s) (firstn d (awin a))). set (X1 := map (cev s) (firstn d (aext a))).
    assert (EW : map (weval s) (awin a) = W1 ++ map (weval s) (skipn d (awin a))) by (unfold W1; now rewrite <- map_app, firstn_skipn).
    assert (EX : map (cev s) (aext a) = X1 ++ ext) by (unfold X1; rewrite <- B, <- map_app, firstn_skipn; reflexivity).
    assert (LW : length W1 = d) by (unfold W1; rewrite map_length, firstn_length; lia).
    assert (LX : length X1 = d) by (unfold X1; rewrite map_length, firstn_length; lia).
    (* index vectors of the full access: a collapsed index and any suffix *)
    assert (PR : forall idx, In idx (prod (map (weval s) (awin a))) <-> (In (firstn d idx) (prod W1) /\ inside ext (skipn d idx) = true)).
    { intros idx. rewrite EW, !in_prod. split.
      - intros H. apply Forall2_app_inv_r in H as (i1 & i2 & H1 & H2 & ->).
        assert (length i1 = d) by (rewrite (F2len _ _ _ H1); exact LW).
        rewrite firstn_app, skipn_app, firstn_all2, skipn_all2 by lia. replace (d - length i1)%nat with 0%nat by lia. simpl. rewrite app_nil_r.
        split; auto. now apply A.
      - intros [H1 H2]. rewrite <- (firstn_skipn d idx). apply Forall2_app; auto. now apply A. }
    assert (IN : forall idx, In idx (prod (map (weval s) (awin a))) -> inside (map (cev s) (aext a)) idx = inside X1 (firstn d idx)).
    { intros idx H. apply PR in H as [H1 H2]. rewrite EX. rewrite <- (firstn_skipn d idx) at 1.
      rewrite inside_app, H2, andb_true_r; auto. apply in_prod in H1. rewrite (F2len _ _ _ H1). lia. }
    assert (SURJ : forall i, In i (prod W1) -> In (i ++ suf0) (prod (map (weval s) (awin a))) /\ firstn d (i ++ suf0) = i).
    { intros i H. assert (length i = d) by (apply in_prod in H; rewrite (F2len _ _ _ H); exact LW).
      assert (F : firstn d (i ++ suf0) = i) by (rewrite firstn_app, firstn_all2 by lia; replace (d - length i)%nat with 0%nat by lia; simpl; apply app_nil_r).
      split; auto. apply PR. rewrite F. split; auto. rewrite skipn_app, skipn_all2 by lia. replace (d - length i)%nat with 0%nat by lia. exact Hs0. }
    assert (FB : forallb (inside (map (cev s) (aext a))) (prod (map (weval s) (awin a))) = forallb (inside X1) (prod W1)).
    { apply eq_true_iff_eq. rewrite !forallb_forall. split.
      - intros H i I. destruct (SURJ i I) as [J F]. specialize (H _ J). rewrite (IN _ J), F in H. exact H.
      - intros H idx I. rewrite (IN _ I). apply H. now apply PR in I. }
    rewrite FB. destruct (forallb (inside X1) (prod W1)); [|exact I]. split; [|split].
    - intros p I. apply in_map_iff in I as (idx & <- & I). unfold U. cbn [fst snd]. rewrite E. apply PR in I as [I1 I2]. split; auto.
      apply in_prod in I1. apply F2len in I1. rewrite firstn_length in I1. lia.
    - intros [v idx] Up. unfold U in Up. unfold pi. cbn [fst snd] in *. split.
      + intros I. apply in_map_iff in I as (idx' & Eq & I). injection Eq as Ev Ei. subst v idx'. rewrite E. apply in_map. now apply PR in I.
      + intros I. apply in_map_iff in I as (i & Eq & I).
        assert (Ev : v = av a) by (destruct (cd v) as [[? ?]|]; injection Eq; auto). subst v. rewrite E in *. injection Eq as Eq.
        apply in_map. apply PR. rewrite <- Eq. split; auto. apply Up.
    - intros p' I. apply in_map_iff in I as (i & <- & I). destruct (SURJ i I) as [J F]. exists (av a, i ++ suf0). split; [now apply in_map|].
      unfold pi. cbn [fst snd]. now rewrite E, F.
  Qed.
  (* All elements of an access belong to its variable. *)
  Lemma aeval_fst s a es p : aeval s a = Some es -> In p es -> fst p = av a.
  Proof.
    unfold aeval. destruct (aclip a); [|destruct (forallb _ _); [|discriminate]]; intros H; injection H as <-; intros I;
      apply in_map_iff in I as (x & <- & _); reflexivity.
  Qed.
  (* Accesses of variables that are not collapsed. *)
  Lemma pl_aeval s a es p : pl_a a = true -> aeval s a = Some es -> In p es -> plain p.
  Proof. intros H E I. unfold plain. rewrite (aeval_fst s a es p E I). unfold pl_a in H. destruct (cd (av a)); [discriminate|reflexivity]. Qed.
  Lemma pl_aevals s l : forall es, forallb pl_a l = true -> aevals s l = Some es -> forall p, In p es -> plain p.
  Proof.
    induction l as [|a l IH]; intros es H E p I; simpl in *; [injection E as <-; contradiction|].
    apply andb_true_iff in H as [H1 H2]. destruct (aeval s a) as [x|] eqn:E1; [|discriminate]. destruct (aevals s l) as [y|] eqn:E2; [|discriminate].
    injection E as <-. apply in_app_or in I as [I|I]; [eapply pl_aeval; eauto|eapply IH; eauto].
  Qed.
  (* One statement. *)
  Lemma col_l_spec stride i s f l l' : col_l l = Some l' -> ev_rel (leval stride i s f l) (leval stride i s f l').
  Proof.
    unfold leval. destruct (teval stride i s f) as [C|]; [|destruct l; simpl; auto].
    destruct l; simpl; intros H.
    - destruct (col_a a) as [a'|] eqn:E; [|discriminate]. injection H as <-. pose proof (col_a_spec s a a' E) as K.
      destruct (aeval s a), (aeval s a'); simpl; auto; contradiction.
    - destruct (forallb pl_a Zs) eqn:Z0; [|discriminate]. destruct (col_a a) as [a'|] eqn:E; [|discriminate]. injection H as <-.
      pose proof (col_a_spec s a a' E) as K. destruct (aeval s a), (aeval s a'); try contradiction; destruct (aevals s Zs) eqn:EZ; simpl; auto.
      do 7 (split; [reflexivity|]). split; [exact K|]. intros z Iz. eapply pl_aevals; eauto.
    - destruct (col_a a) as [a'|] eqn:E; [|discriminate]. injection H as <-. pose proof (col_a_spec s a a' E) as K.
      destruct (aeval s a), (aeval s a'); simpl; auto; try contradiction. do 5 (split; [reflexivity|]). exact K.
    - destruct (pl_a a) eqn:E; [|discriminate]. injection H as <-. destruct (aeval s a) eqn:EA; simpl; auto. split; auto. intros z I. eapply pl_aeval; eauto.
    - injection H as <-. reflexivity.
    - destruct (pl_a home && forallb pl_a Es) eqn:E; [|discriminate]. apply andb_true_iff in E as [E1 E2]. injection H as <-.
      destruct (aeval s home) as [[|p [|]]|] eqn:EA; simpl; auto. destruct (aevals s Es) eqn:EE; simpl; auto.
      split; auto. split; [eapply pl_aeval; eauto; now left|eapply pl_aevals; eauto].
    - destruct (pl_a home) eqn:E; [|discriminate]. injection H as <-. destruct (aeval s home) as [[|p [|]]|] eqn:EA; simpl; auto.
      split; auto. eapply pl_aeval; eauto. now left.
  Qed.
  (* A program: the traces are related event by event. *)
  Theorem col_spec stride s : forall s', col s = Some s' -> forall i sg,
    Forall2 ev_rel (opsT (fst (unroll stride s i sg))) (opsT (fst (unroll stride s' i sg))) /\ snd (unroll stride s i sg) = snd (unroll stride s' i sg).
  Proof.
    induction s as [|a IHa b IHb|y lo hi b IHb|c b IHb| |lab f l]; intros s' H i sg; simpl in H.
    - injection H as <-. split; [constructor|reflexivity].
    - destruct (col a) as [a'|]; [|discriminate]. destruct (col b) as [b'|]; [|discriminate]. injection H as <-. simpl.
      destruct (IHa a' eq_refl i sg) as [A1 A2]. destruct (unroll stride a i sg) as [t1 i1], (unroll stride a' i sg) as [t1' i1']. simpl in *. subst i1'.
      destruct (IHb b' eq_refl i1 sg) as [B1 B2]. destruct (unroll stride b i1 sg) as [t2 i2], (unroll stride b' i1 sg) as [t2' i2']. simpl in *. split; auto.
      unfold opsT in *. rewrite !map_app. now apply Forall2_app.
    - destruct (col b) as [b'|]; [|discriminate]. injection H as <-. rewrite !unroll_for.
      generalize (Z.to_nat (cev sg hi - cev sg lo)) as n. generalize (cev sg lo) as v. intros v n. revert i v.
      induction n as [|n IHn]; intros i v; simpl; [split; [constructor|reflexivity]|].
      destruct (IHb b' eq_refl i ((y, v) :: sg)) as [A1 A2].
      destruct (unroll stride b i ((y, v) :: sg)) as [t1 i1], (unroll stride b' i ((y, v) :: sg)) as [t1' i1']. simpl in *. subst i1'.
      destruct (IHn i1 (v + 1)) as [B1 B2].
      destruct (unroll_loop stride b y sg n (v + 1) i1) as [t2 i2], (unroll_loop stride b' y sg n (v + 1) i1) as [t2' i2']. simpl in *. split; auto.
      unfold opsT in *. rewrite !map_app. now apply Forall2_app.
    - destruct (col b) as [b'|]; [|discriminate]. injection H as <-. simpl. destruct (bev sg c); [now apply IHb|split; [constructor|reflexivity]].
    - injection H as <-. split; [constructor|reflexivity].
    - destruct (col_l l) as [l'|] eqn:E; [|discriminate]. injection H as <-. simpl. split; [|reflexivity]. constructor; [|constructor]. now apply col_l_spec.
  Qed.
  (* Both begin empty. *)
  Lemma srel0 : srel sst0 sst0.
  Proof. split; [auto|]. intros mut p _. split; intros r H; destruct mut; contradiction. Qed.

  (* the collapsed program is accepted exactly when the full one is *)
  Theorem collapse_accepts stride s s' : col s = Some s' -> (accepts m stride s <-> accepts m stride s').
  Proof.
    intros H. destruct (col_spec stride s s' H 0 []) as [R _].
    assert (K : forall x, accepts m stride x <-> goods m sst0 (opsT (fst (unroll stride x 0 [])))).
    { intros x. split.
      - intros (i & st & B). apply big_srun in B as (o & Ro & E). destruct o; [|discriminate]. now apply srun_goods in Ro as [G _].
      - intros G. apply goods_accept in G. apply srun_big in G. unfold accepts. eexists. eexists. exact G. }
    rewrite !K. apply (goods_rel _ _ R). apply srel0.
  Qed.
End Collapse.
