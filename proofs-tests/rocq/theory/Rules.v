(* The abstract machine as inductive rules over sets (predicates); deterministic without any axiom. *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir.
Import ListNotations.

(* A visibility record: V = set of (thread, timeline, flag); P = pending arrivals per barrier element and strength. *)
Record srec := { q0 : qtl; V : tid -> qtl -> flag -> Prop; P : elem -> bool -> Z -> Prop }.
Record sst := { sR : elem -> srec -> Prop; sM : elem -> srec -> Prop; sa : elem -> Z; sw : elem -> Z }.
Definition sel (mut : bool) (s : sst) := if mut then sM s else sR s.
Definition sst0 : sst := {| sR := fun _ _ => False; sM := fun _ _ => False; sa := fun _ => 0%Z; sw := fun _ => 0%Z |}.

Inductive ekind := KMut | KRead | KBar | KProg | KBad.
Definition err := (N * ekind * option elem)%type.
Inductive out := OK (s : sst) | ER (e : err).

Section Mode.
  Variable m : mode.

  Definition grouped (cvg : bool) (q : qtl) : bool := cvg || bit (m_shared m) q.
  Definition NewRec (K : tid -> Prop) (q : qtl) (ooo : bool) (Qa : mask) (Zs : list elem) (cnt : elem -> Z) : srec := {|
    q0 := q;
    V := fun g q' f => (K g /\ q' = q /\ bit (if ooo then m_ooo m else m_in m) f = true) \/ (bit Qa q' = true /\ f = fa);
    P := fun b s k => In b Zs /\ k = cnt b |}.
  Definition NewRecs (cvg : bool) (C : tset) q ooo Qa Zs cnt (r : srec) : Prop :=
    if grouped cvg q then r = NewRec (fun g => mem g C = true) q ooo Qa Zs cnt
    else exists g, mem g C = true /\ r = NewRec (fun x => x = g) q ooo Qa Zs cnt.

  Definition vis (cvg : bool) (K : tset) (Q : mask) (f : flag) (r : srec) : Prop :=
    if cvg then exists g, mem g K = true /\ exists q, bit Q q = true /\ V r g q f
    else forall g, mem g K = true -> exists q, bit Q q = true /\ V r g q f.

  (* the counters evolve independently of the records *)
  Definition amaxZ (a w n : Z) : Z := (if 0 <=? n then a - n - 1 else w - (-1 - n))%Z.
  Definition wnextZ (a w n : Z) : Z := (if 0 <=? n then Z.max w (amaxZ a w n + 1) else w + 1)%Z.
  Definition progZ (a w n : Z) (one : bool) : bool :=
    (m_prog m && ((if 0 <=? n then false else a <=? amaxZ a w n) || (one && (a <=? w))))%Z.
  Definition amax (s : sst) (b : elem) (n : Z) : Z := amaxZ (sa s b) (sw s b) n.
  Definition wnext (s : sst) (b : elem) (n : Z) : Z := wnextZ (sa s b) (sw s b) n.
  Definition prog_bad (s : sst) (b : elem) (n : Z) (one : bool) : bool := progZ (sa s b) (sw s b) n one.

  (* which records a synchronization event picks up (two strengths), and what it adds to them *)
  Definition wit (o : op) (s : sst) (str : bool) (r : srec) : Prop :=
    match o with
    | EFence tr C Q1 _ _ | EArrive tr C Q1 _ _ =>
        exists g q, mem g C = true /\ bit Q1 q = true /\ (tr = true \/ q = q0 r) /\ V r g q (wfl str)
    | EAwait C b _ _ n _ => exists k, P r b str k /\ (k <= amax s b n)%Z
    | _ => False
    end.
  Definition effV (o : op) (str : bool) (g : tid) (q : qtl) (f : flag) : Prop :=
    match o with
    | EFence _ C _ F T | EAwait C _ F T _ _ =>
        mem g C = true /\
        if str then (bit F q = true /\ bit (m_sf m) f = true) \/ (bit T q = true /\ bit F q = false /\ bit (m_st m) f = true)
        else bit T q = true /\ bit (m_wt m) f = true
    | _ => False
    end.
  Definition effP (o : op) (s : sst) (b : elem) (k : Z) : Prop :=
    match o with EArrive _ _ _ h Es => In b Es /\ k = sa s h | _ => False end.
  Definition upd (o : op) (s : sst) (r : srec) : srec := {|
    q0 := q0 r;
    V := fun g q f => V r g q f \/ exists str, wit o s str r /\ effV o str g q f;
    P := fun b str k => P r b str k \/ (wit o s str r /\ effP o s b k) |}.
  Definition lift (f : srec -> srec) (s : sst) (a w : elem -> Z) : sst := {|
    sR := fun p r => exists r0, sR s p r0 /\ r = f r0;
    sM := fun p r => exists r0, sM s p r0 /\ r = f r0;
    sa := a; sw := w |}.
  Definition set (c : elem -> Z) (b : elem) (z : Z) : elem -> Z := fun p => if eeqb p b then z else c p.

  Definition record (mut cvg ooo : bool) C (es : list elem) q Qa Zs (s : sst) : sst :=
    let N := NewRecs cvg C q ooo Qa Zs (sa s) in {|
    sR := fun p r => if mut then (if inE p es then keeps m false q Qa = true /\ sR s p r else sR s p r)
                     else sR s p r \/ (In p es /\ N r);
    sM := fun p r => if mut then (if inE p es then (keeps m true q Qa = true /\ sM s p r) \/ N r else sM s p r) else sM s p r;
    sa := sa s; sw := sw s |}.
  (* a new generation of es: no accesses, counters 0, and nothing that waited for an arrival of the old generation (H9) *)
  Definition dropP (es : list elem) (r : srec) : srec := {|
    q0 := q0 r; V := V r; P := fun b str k => P r b str k /\ ~ In b es |}.
  Definition alloc (es : list elem) (s : sst) : sst := {|
    sR := fun p r => ~ In p es /\ exists r0, sR s p r0 /\ r = dropP es r0;
    sM := fun p r => ~ In p es /\ exists r0, sM s p r0 /\ r = dropP es r0;
    sa := fun p => if inE p es then 0%Z else sa s p; sw := fun p => if inE p es then 0%Z else sw s p |}.

  Definition okE (mut cvg : bool) C f Q (s : sst) (p : elem) : Prop := forall r, sel mut s p r -> vis cvg C Q f r.

  Inductive sstep (s : sst) : event -> out -> Prop :=
  | S_alloc l es : sstep s (l, EAlloc es) (OK (alloc es s))
  | S_rec l mut cvg ooo C es q Qa Zs : sstep s (l, ERec mut cvg ooo C es q Qa Zs) (OK (record mut cvg ooo C es q Qa Zs s))
  | S_chk l mut cvg C f es Q : (forall p, In p es -> okE mut cvg C f Q s p) -> sstep s (l, EChk mut cvg C f es Q) (OK s)
  | S_chk_err l mut cvg C f es Q pre p post r :
      es = pre ++ p :: post -> (forall p', In p' pre -> okE mut cvg C f Q s p') ->
      sel mut s p r -> ~ vis cvg C Q f r ->
      sstep s (l, EChk mut cvg C f es Q) (ER (l, if mut then KMut else KRead, Some p))
  | S_bar l es : (forall p, In p es -> sa s p = sw s p) -> sstep s (l, EBar es) (OK s)
  | S_bar_err l es pre p post : es = pre ++ p :: post -> (forall p', In p' pre -> sa s p' = sw s p') -> sa s p <> sw s p ->
      sstep s (l, EBar es) (ER (l, KBar, Some p))
  | S_fence l tr C Q1 F T : let o := EFence tr C Q1 F T in sstep s (l, o) (OK (lift (upd o s) s (sa s) (sw s)))
  | S_arrive l tr C Q1 h Es : let o := EArrive tr C Q1 h Es in
      sstep s (l, o) (OK (lift (upd o s) s (set (sa s) h (sa s h + 1)%Z) (sw s)))
  | S_await l C b F T n one : let o := EAwait C b F T n one in prog_bad s b n one = false ->
      sstep s (l, o) (OK (lift (upd o s) s (sa s) (set (sw s) b (wnext s b n))))
  | S_await_err l C b F T n one : prog_bad s b n one = true ->
      sstep s (l, EAwait C b F T n one) (ER (l, KProg, Some b))
  | S_bad l : sstep s (l, EBad) (ER (l, KBad, None)).

  (* The first failing element of a list is unique. *)
  Lemma first_bad {A} (ok : A -> Prop) es pre p post pre' p' post' :
    es = pre ++ p :: post -> es = pre' ++ p' :: post' ->
    (forall x, In x pre -> ok x) -> (forall x, In x pre' -> ok x) -> ~ ok p -> ~ ok p' -> p = p'.
  Proof.
    intros -> E X X' Y Y'. revert pre' E X'.
    induction pre as [|a pre IH]; intros [|a' pre'] E X'; simpl in *; injection E; intros; subst.
    - reflexivity.
    - elim Y. apply X'. now left.
    - elim Y'. apply X. now left.
    - eapply IH; eauto.
  Qed.

  (* One event has one outcome. *)
  Theorem sstep_det s e o1 o2 : sstep s e o1 -> sstep s e o2 -> o1 = o2.
  Proof.
    intros H1 H2.
    inversion H1; subst; inversion H2; subst; try reflexivity; try congruence;
      try (exfalso;
           match goal with
           | A : forall x, In x (?pre ++ ?p :: ?post) -> okE _ _ _ _ _ _ x, B : ~ vis _ _ _ _ ?r, D : sel _ _ ?p ?r |- _ =>
               exact (B (A p (in_or_app pre (p :: post) p (or_intror (or_introl eq_refl))) r D))
           | A : forall x, In x (?pre ++ ?p :: ?post) -> sa _ x = sw _ x, B : sa _ ?p <> sw _ ?p |- _ =>
               exact (B (A p (in_or_app pre (p :: post) p (or_intror (or_introl eq_refl)))))
           end).
    - match goal with
      | E : ?pre ++ ?p :: ?post = ?pre' ++ ?p' :: ?post' |- _ =>
          rewrite (first_bad (okE mut cvg C f Q s) _ pre p post pre' p' post' eq_refl E); unfold okE; auto
      end.
    - match goal with
      | E : ?pre ++ ?p :: ?post = ?pre' ++ ?p' :: ?post' |- _ =>
          rewrite (first_bad (fun p => sa s p = sw s p) _ pre p post pre' p' post' eq_refl E); auto
      end.
  Qed.

  (* ---- big-step rules ---- *)
  Variable stride : Z.
  Inductive bout := BOK (iota : Z) (s : sst) | BER (e : err).
  Inductive big : stmt -> Z -> cenv -> sst -> bout -> Prop :=
  | B_skip i sg s : big Skip i sg s (BOK i s)
  | B_seq a b i sg s i1 s1 o : big a i sg s (BOK i1 s1) -> big b i1 sg s1 o -> big (Seq a b) i sg s o
  | B_seq_err a b i sg s e : big a i sg s (BER e) -> big (Seq a b) i sg s (BER e)
  | B_for y lo hi b i sg s o : loop y b sg (cev sg lo) (cev sg hi) i s o -> big (For y lo hi b) i sg s o
  | B_if_true c b i sg s o : bev sg c = true -> big b i sg s o -> big (If c b) i sg s o
  | B_if_false c b i sg s : bev sg c = false -> big (If c b) i sg s (BOK i s)
  | B_inc i sg s : big IncTask i sg s (BOK (i + 1)%Z s)
  | B_leaf lab f l i sg s s' : sstep s (lab, leval stride i sg f l) (OK s') -> big (Leaf lab f l) i sg s (BOK i s')
  | B_leaf_err lab f l i sg s e : sstep s (lab, leval stride i sg f l) (ER e) -> big (Leaf lab f l) i sg s (BER e)
  with loop : N -> stmt -> cenv -> Z -> Z -> Z -> sst -> bout -> Prop :=
  | L_done y b sg lo hi i s : (hi <= lo)%Z -> loop y b sg lo hi i s (BOK i s)
  | L_step y b sg lo hi i s i1 s1 o : (lo < hi)%Z -> big b i ((y, lo) :: sg) s (BOK i1 s1) ->
      loop y b sg (lo + 1)%Z hi i1 s1 o -> loop y b sg lo hi i s o
  | L_err y b sg lo hi i s e : (lo < hi)%Z -> big b i ((y, lo) :: sg) s (BER e) -> loop y b sg lo hi i s (BER e).

  (* ---- runs of traces ---- *)
  Inductive srun : sst -> trace -> out -> Prop :=
  | R_nil s : srun s [] (OK s)
  | R_cons s e t s1 o : sstep s e (OK s1) -> srun s1 t o -> srun s (e :: t) o
  | R_err s e t x : sstep s e (ER x) -> srun s (e :: t) (ER x).

  (* So has a trace. *)
  Theorem srun_det s t o1 : srun s t o1 -> forall o2, srun s t o2 -> o1 = o2.
  Proof.
    induction 1; intros o2 K; inversion K; subst; auto;
      match goal with A : sstep ?s ?e ?x, B : sstep ?s ?e ?y |- _ =>
        pose proof (sstep_det _ _ _ _ A B) as E; try discriminate E; injection E as E; subst end; auto.
  Qed.

  (* A run of two traces in a row is a run of the first, then of the second, unless the first fails. *)
  Lemma srun_app s t1 t2 o : srun s (t1 ++ t2) o <->
    (exists s1, srun s t1 (OK s1) /\ srun s1 t2 o) \/ (exists e, srun s t1 (ER e) /\ o = ER e).
  Proof.
    split.
    - revert s. induction t1 as [|e t1 IH]; intros s H; simpl in H.
      + left. exists s. split; [constructor|assumption].
      + inversion H; subst.
        * match goal with A : srun _ (t1 ++ t2) _ |- _ => destruct (IH _ A) as [(s2 & A' & B)|(x & A' & ->)] end.
          -- left. exists s2. split; auto. econstructor; eauto.
          -- right. exists x. split; auto. econstructor; eauto.
        * right. exists x. split; auto. now apply R_err.
    - intros [(s1 & A & B)|(x & A & ->)].
      + remember (OK s1) as o1. revert s1 Heqo1 B. induction A; intros s2 E B; simpl; try discriminate.
        * injection E as ->. assumption.
        * econstructor; eauto.
      + remember (ER x) as o1. induction A; simpl; try discriminate.
        * econstructor; eauto.
        * injection Heqo1 as ->. now apply R_err.
  Qed.

  Definition bout_of (i : Z) (o : out) : bout := match o with OK s => BOK i s | ER e => BER e end.
  Scheme big_ind2 := Minimality for big Sort Prop with loop_ind2 := Minimality for loop Sort Prop.

  (* big-step derivations are exactly the runs of the unrolled trace *)
  Lemma big_srun : forall s i sg st o, big s i sg st o ->
    exists o', srun st (fst (unroll stride s i sg)) o' /\ o = bout_of (snd (unroll stride s i sg)) o'.
  Proof.
    apply (big_ind2
      (fun s i sg st o => exists o', srun st (fst (unroll stride s i sg)) o' /\ o = bout_of (snd (unroll stride s i sg)) o')
      (fun y b sg lo hi i st o => exists o',
         srun st (fst (unroll_loop stride b y sg (Z.to_nat (hi - lo)) lo i)) o' /\
         o = bout_of (snd (unroll_loop stride b y sg (Z.to_nat (hi - lo)) lo i)) o')).
    - intros. exists (OK s). simpl. split; constructor.
    - intros a b i sg s i1 s1 o _ (o1 & R1 & E1) _ (o2 & R2 & E2). simpl.
      destruct (unroll stride a i sg) as [t1 j1] eqn:U1. simpl in *.
      destruct o1; simpl in E1; [|discriminate]. injection E1 as -> ->.
      destruct (unroll stride b j1 sg) as [t2 j2] eqn:U2. simpl in *.
      exists o2. split; auto. apply srun_app. left. eauto.
    - intros a b i sg s e _ (o1 & R1 & E1). simpl.
      destruct (unroll stride a i sg) as [t1 j1] eqn:U1. simpl in *.
      destruct o1; simpl in E1; [discriminate|]. injection E1 as ->.
      destruct (unroll stride b j1 sg) as [t2 j2] eqn:U2. simpl in *.
      exists (ER e0). split; auto. apply srun_app. right. eauto.
    - intros y lo hi b i sg s o _ (o1 & R & E). rewrite unroll_for. eauto.
    - intros c b i sg s o Hc _ (o1 & R & E). simpl. rewrite Hc. eauto.
    - intros c b i sg s Hc. simpl. rewrite Hc. exists (OK s). split; constructor.
    - intros. exists (OK s). simpl. split; constructor.
    - intros lab f l i sg s s' H. exists (OK s'). simpl. split; auto. econstructor; eauto. constructor.
    - intros lab f l i sg s e H. exists (ER e). simpl. split; auto. now apply R_err.
    - intros y b sg lo hi i s H. replace (Z.to_nat (hi - lo)) with O by lia. exists (OK s). simpl. split; constructor.
    - intros y b sg lo hi i s i1 s1 o H _ (o1 & R1 & E1) _ (o2 & R2 & E2).
      replace (Z.to_nat (hi - lo)) with (S (Z.to_nat (hi - (lo + 1)))) by lia. simpl.
      destruct (unroll stride b i ((y, lo) :: sg)) as [t1 j1]. simpl in *.
      destruct o1; simpl in E1; [|discriminate]. injection E1 as -> ->.
      destruct (unroll_loop stride b y sg (Z.to_nat (hi - (lo + 1))) (lo + 1) j1) as [t2 j2]. simpl in *.
      exists o2. split; auto. apply srun_app. left. eauto.
    - intros y b sg lo hi i s e H _ (o1 & R1 & E1).
      replace (Z.to_nat (hi - lo)) with (S (Z.to_nat (hi - (lo + 1)))) by lia. simpl.
      destruct (unroll stride b i ((y, lo) :: sg)) as [t1 j1]. simpl in *.
      destruct o1; simpl in E1; [discriminate|]. injection E1 as ->.
      destruct (unroll_loop stride b y sg (Z.to_nat (hi - (lo + 1))) (lo + 1) j1) as [t2 j2]. simpl in *.
      exists (ER e0). split; auto. apply srun_app. right. eauto.
  Qed.

  (* ... and every run of the unrolled trace is a derivation. *)
  Lemma srun_big : forall s i sg st o, srun st (fst (unroll stride s i sg)) o ->
    big s i sg st (bout_of (snd (unroll stride s i sg)) o).
  Proof.
    induction s as [|a IHa b IHb|y lo hi b IHb|c b IHb| |lab f l]; intros i sg st o R.
    - simpl in *. inversion R; subst. constructor.
    - simpl in *. destruct (unroll stride a i sg) as [t1 j1] eqn:U1. destruct (unroll stride b j1 sg) as [t2 j2] eqn:U2.
      simpl in *. apply srun_app in R as [(s1 & A & B)|(e & A & ->)].
      + eapply B_seq. specialize (IHa i sg st (OK s1)). rewrite U1 in IHa. now apply IHa.
        specialize (IHb j1 sg s1 o). rewrite U2 in IHb. now apply IHb.
      + apply B_seq_err. specialize (IHa i sg st (ER e)). rewrite U1 in IHa. now apply IHa.
    - rewrite unroll_for in *. apply B_for. remember (Z.to_nat (cev sg hi - cev sg lo)) as k eqn:Hk.
      revert Hk R. generalize (cev sg lo) as z. revert i st.
      induction k as [|k IHk]; intros i st z Hk R; simpl in *.
      + inversion R; subst. apply L_done. lia.
      + destruct (unroll stride b i ((y, z) :: sg)) as [t1 j1] eqn:U1.
        destruct (unroll_loop stride b y sg k (z + 1) j1) as [t2 j2] eqn:U2. simpl in *.
        apply srun_app in R as [(s1 & A & B)|(e & A & ->)].
        * eapply L_step; [lia| |].
          -- specialize (IHb i ((y, z) :: sg) st (OK s1)). rewrite U1 in IHb. now apply IHb.
          -- specialize (IHk j1 s1 (z + 1)%Z). rewrite U2 in IHk. apply IHk; [lia|assumption].
        * apply L_err; [lia|]. specialize (IHb i ((y, z) :: sg) st (ER e)). rewrite U1 in IHb. now apply IHb.
    - simpl in *. destruct (bev sg c) eqn:E.
      + apply B_if_true; auto.
      + inversion R; subst. now apply B_if_false.
    - simpl in *. inversion R; subst. constructor.
    - simpl in *. inversion R; subst.
      + match goal with A : srun _ [] _ |- _ => inversion A; subst end. now apply B_leaf.
      + now apply B_leaf_err.
  Qed.

  (* The rules are deterministic: a program has one outcome. *)
  Theorem big_det s i sg st o1 o2 : big s i sg st o1 -> big s i sg st o2 -> o1 = o2.
  Proof.
    intros A B. apply big_srun in A as (x & A & ->). apply big_srun in B as (y & B & ->).
    now rewrite (srun_det _ _ _ A _ B).
  Qed.
End Mode.
