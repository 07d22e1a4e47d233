(* Why the checks suffice.  For an accepted, disciplined trace, EVERY order of the accesses that keeps the temporal
   order established by the synchronization (and each instruction's own read-before-write order) gives the same final
   memory and the same value for every read as the sequential order, even if a read may return anything at all whenever
   some write it depends on is not fully visible to it. *)
From Coq Require Import NArith ZArith List Bool Lia Arith Permutation.
From Exocheck Require Import Tset Base Amir Rules Graph Linear.
Import ListNotations.
Local Open Scope nat_scope.

Definition sound_mask (x : mask) : Prop := (bit x ff = true -> bit x ft = true) /\ (bit x fa = true -> bit x ff = true).
Definition sound_mode (m : mode) : Prop :=
  m_keep m = true /\ sound_mask (m_in m) /\ sound_mask (m_ooo m) /\ sound_mask (m_sf m) /\ sound_mask (m_st m) /\ sound_mask (m_wt m).
(* The repaired mode is sound: full implies temporal, atomic implies full, and atomics keep reads. *)
Lemma default_sound : sound_mode default_mode.
Proof. unfold sound_mode, sound_mask; repeat split; vm_compute; auto; discriminate. Qed.
(* The paper's rules are not: see NotPaper.v. *)
Lemma paper_exact_not_sound : ~ sound_mode paper_exact.
Proof. intros (H & _). discriminate. Qed.

Definition node := (nat * elem)%type.
Inductive kind := RD | WR | RW | AT.
Definition kind_eq_dec : forall a b : kind, {a = b} + {a <> b}. Proof. decide equality. Defined.

Section SeqPar.
  Variable m : mode.
  Variable ev : nat -> op.
  Variable len : nat.
  Hypothesis SM : sound_mode m.
  Hypothesis accepted : forall n, n < len -> ggood m ev n.

  (* every record is preceded by the checks of its own access *)
  Definition disciplined (j : nat) : Prop :=
    match ev j with
    | ERec false cvg _ C es _ _ _ => 1 <= j /\ exists Q, ev (j - 1) = EChk true cvg C ff es Q
    | ERec true cvg _ C es _ Qa _ => 2 <= j /\ exists Q need, ev (j - 2) = EChk true cvg C need es Q /\
        ev (j - 1) = EChk false cvg C ft es Q /\ (if N.eqb Qa 0 then need = ft \/ need = ff else need = fa)
    | _ => True
    end.
  Hypothesis disc : forall j, j < len -> disciplined j.
  (* every Alloc starts a new generation of its elements: new storage with unknown contents *)
  Fixpoint gen (n : nat) (p : elem) : nat :=
    match n with O => 0 | S j => (match ev j with EAlloc es => if inE p es then 1 else 0 | _ => 0 end) + gen j p end.
  (* Generations only grow. *)
  Lemma gen_mono p i j : i <= j -> gen i p <= gen j p.
  Proof. induction 1; simpl; lia. Qed.
  (* An allocation begins a new generation. *)
  Lemma gen_alloc p i k j es : i <= k < j -> ev k = EAlloc es -> In p es -> gen i p < gen j p.
  Proof.
    intros [A B] E I. pose proof (gen_mono p i k A). assert (gen (S k) p <= gen j p) by (apply gen_mono; lia).
    simpl in H0. rewrite E in H0. apply inE_In in I. rewrite I in H0. lia.
  Qed.

  Definition kindof (j : nat) : kind :=
    match ev j with
    | ERec true _ _ _ _ _ Qa _ =>
        if N.eqb Qa 0 then match ev (j - 2) with EChk _ _ _ need _ _ => if N.eqb need ff then RW else WR | _ => RW end else AT
    | _ => RD
    end.
  Definition need (j : nat) : flag := match kindof j with RD | RW => ff | WR => ft | AT => fa end.
  Definition chkQ (j : nat) : mask :=
    match ev j with
    | ERec b _ _ _ _ _ _ _ => match ev (j - if b then 2 else 1) with EChk _ _ _ _ _ Q => Q | _ => 0%N end
    | _ => 0%N
    end.
  Definition isAcc (j : nat) (p : elem) : Prop := match ev j with ERec _ _ _ _ es _ _ _ => In p es | _ => False end.
  Definition touches (n : node) : Prop := fst n < len /\ isAcc (fst n) (snd n).

  (* access i is known, with flag f, to the thread(s) that perform access j, when j is performed *)
  Definition visF (f : flag) (i j : nat) : Prop :=
    match ev j with
    | ERec _ cvg _ C _ _ _ _ => forall r0, source m ev i r0 -> visL cvg C (chkQ j) (fun g q => level m ev i r0 j g q f)
    | _ => False
    end.
  Definition must := visF ft.       (* i has completed before j starts *)
  Definition fully := visF ff.      (* ... and j sees its effects *)
  Definition conflict (i j : nat) : Prop := ~ (kindof i = RD /\ kindof j = RD) /\ ~ (kindof i = AT /\ kindof j = AT).

  (* ---- facts about levels ---- *)
  Lemma level_mono i r0 n n' g q f : n <= n' -> level m ev i r0 n g q f -> level m ev i r0 n' g q f.
  Proof. intros L [H|(u & str & A & B)]; [now left|right]. exists u, str. split; auto. lia. Qed.
  (* What a synchronization gives: full implies temporal, atomic implies full. *)
  Lemma out_sound u str g q : (out_tl m ev u str g q ff -> out_tl m ev u str g q ft) /\ (out_tl m ev u str g q fa -> out_tl m ev u str g q ff).
  Proof.
    destruct SM as (_ & _ & _ & [A1 A2] & [B1 B2] & [C1 C2]). unfold out_tl. destruct (ev u), str; simpl; split; auto.
    all: try (intros (G & [(X & Y)|(X & Y & W)]); split; auto).
    all: try (intros (G & X & Y); split; auto).
  Qed.
  (* What an access itself gives its issuing threads. *)
  Lemma src_flags i r0 g q f : source m ev i r0 -> V r0 g q f ->
    match ev i with ERec _ _ ooo _ _ _ Qa _ =>
      (bit (if ooo then m_ooo m else m_in m) f = true /\ forall f', bit (if ooo then m_ooo m else m_in m) f' = true -> V r0 g q f') \/
      (bit Qa q = true /\ f = fa) | _ => False end.
  Proof.
    unfold source. destruct (ev i); auto. unfold NewRecs. intros S H.
    assert (E : exists K, r0 = NewRec m K q0 ooo Qa Zs (ca ev i)).
    { destruct (grouped m cvg q0); [eauto|]. destruct S as (g0 & _ & ->). eauto. }
    destruct E as (K & ->). simpl in H. destruct H as [(A & B & D)|H]; [left|now right]. split; auto.
    intros f' F. simpl. auto.
  Qed.
  (* An access that is fully known has completed. *)
  Lemma level_ft i r0 n g q : source m ev i r0 -> level m ev i r0 n g q ff -> level m ev i r0 n g q ft.
  Proof.
    intros S [H|(u & str & L & T & O)].
    - left. pose proof (src_flags _ _ _ _ _ S H) as K. destruct (ev i); try contradiction.
      destruct K as [[A B]|[_ A]]; [|discriminate]. apply B.
      destruct SM as (_ & [I1 _] & [O1 _] & _). destruct ooo; auto.
    - right. exists u, str. repeat split; auto. now apply out_sound.
  Qed.
  Definition isMut (j : nat) : Prop := match ev j with ERec true _ _ _ _ _ _ _ => True | _ => False end.
  Definition nonAtomicMut (j : nat) : Prop := match ev j with ERec true _ _ _ _ _ Qa _ => Qa = 0%N | _ => False end.
  (* Kinds of accesses: reads, plain writes, read-writes, atomics. *)
  Lemma kind_nonatomic j : isMut j -> kindof j <> AT -> nonAtomicMut j.
  Proof. unfold isMut, kindof, nonAtomicMut. destruct (ev j); auto. destruct mut; auto. destruct (N.eqb_spec Qa 0); auto. intros _ H. now elim H. Qed.
  Lemma nonatomic_kind j : nonAtomicMut j -> kindof j = WR \/ kindof j = RW.
  Proof.
    unfold kindof, nonAtomicMut. destruct (ev j); try contradiction. destruct mut; try contradiction. intros ->. simpl.
    destruct (ev (j - 2)); auto. destruct (N.eqb need0 ff); auto.
  Qed.
  Lemma mut_kind j p : isAcc j p -> (isMut j <-> kindof j <> RD).
  Proof.
    unfold isAcc, isMut, kindof. destruct (ev j); try contradiction. intros _. destruct mut; [|split; [contradiction|now intros []]].
    split; auto. intros _. destruct (N.eqb Qa 0); [|discriminate]. destruct (ev (j - 2)); try discriminate. destruct (N.eqb need0 ff); discriminate.
  Qed.
  (* Of a plain write, the atomic level is never held without the full one. *)
  Lemma level_fa i r0 n g q : source m ev i r0 -> nonAtomicMut i -> level m ev i r0 n g q fa -> level m ev i r0 n g q ff.
  Proof.
    intros S NA [H|(u & str & L & T & O)].
    - left. pose proof (src_flags _ _ _ _ _ S H) as K. unfold nonAtomicMut in NA. destruct (ev i) eqn:E; try contradiction.
      destruct mut; try contradiction. subst Qa. destruct K as [[A B]|[A _]].
      + apply B. destruct SM as (_ & [_ I2] & [_ O2] & _). destruct ooo; auto.
      + unfold bit in A. rewrite N.bits_0 in A. discriminate.
    - right. exists u, str. repeat split; auto. now apply out_sound.
  Qed.
  (* Better knowledge passes the same check. *)
  Lemma visL_mono cvg K Q (l1 l2 : tid -> qtl -> Prop) : (forall g q, l1 g q -> l2 g q) -> visL cvg K Q l1 -> visL cvg K Q l2.
  Proof.
    intros H. unfold visL. destruct cvg.
    - intros (g & A & q & B & D). exists g. split; auto. exists q. auto.
    - intros A g G. destruct (A g G) as (q & B & D). exists q. auto.
  Qed.
  (* Fully known implies completed. *)
  Lemma visF_ff_ft i j : visF ff i j -> visF ft i j.
  Proof.
    unfold visF. destruct (ev j); auto. intros H r0 S. specialize (H r0 S). revert H. apply visL_mono. intros. now apply level_ft.
  Qed.
  (* For a plain write, atomic implies full. *)
  Lemma visF_fa_ff i j : nonAtomicMut i -> visF fa i j -> visF ff i j.
  Proof.
    intros NA. unfold visF. destruct (ev j); auto. intros H r0 S. specialize (H r0 S). revert H. apply visL_mono. intros. now apply level_fa.
  Qed.

  (* ---- a passed check orders the live accesses ---- *)
  Lemma live_back mut i j j' p : live m ev mut i j p -> i < j' -> j' <= j -> live m ev mut i j' p.
  Proof. intros (A & B & C) L1 L2. split; [lia|]. split; auto. intros k K. apply C. lia. Qed.
  (* An access is no check. *)
  Lemma acc_not_chk i j mut p a b c d e f : accesses mut (ev i) p -> ev j = EChk a b c d e f -> i <> j.
  Proof. intros A E ->. rewrite E in A. exact A. Qed.

  (* A PASSED CHECK ORDERS: a live write is known to the access as well as its kind needs. *)
  Lemma chk_mut i j p : touches (j, p) -> live m ev true i j p -> visF (need j) i j.
  Proof.
    intros [L A] Lv. pose proof (disc j L) as D. simpl in L, A. unfold isAcc, disciplined, visF, need, kindof, chkQ in *.
    destruct (ev j) eqn:E; try contradiction. destruct mut.
    - destruct D as (L2 & Q & nd & C2 & C1 & Nd). rewrite C2. intros r0 S.
      assert (i <> j - 2) by (eapply acc_not_chk; [apply Lv|exact C2]).
      assert (i <> j - 1) by (eapply acc_not_chk; [apply Lv|exact C1]).
      assert (Lv' : live m ev true i (j - 2) p) by (apply (live_back _ _ j); [exact Lv|destruct Lv as [? _]; lia|lia]).
      pose proof (accepted (j - 2) ltac:(lia)) as G. unfold ggood in G. rewrite C2 in G. specialize (G p A i r0 Lv' S). revert G.
      destruct (N.eqb_spec Qa 0) as [->|NZ].
      + destruct Nd as [-> | ->]; simpl; apply visL_mono; intros; (apply level_mono with (n := j - 2); [lia|assumption]).
      + subst nd. apply visL_mono; intros; (apply level_mono with (n := j - 2); [lia|assumption]).
    - destruct D as (L2 & Q & C1). rewrite C1. intros r0 S.
      assert (i <> j - 1) by (eapply acc_not_chk; [apply Lv|exact C1]).
      assert (Lv' : live m ev true i (j - 1) p) by (apply (live_back _ _ j); [exact Lv|destruct Lv as [? _]; lia|lia]).
      pose proof (accepted (j - 1) ltac:(lia)) as G. unfold ggood in G. rewrite C1 in G. specialize (G p A i r0 Lv' S). revert G.
      apply visL_mono; intros; (apply level_mono with (n := j - 1); [lia|assumption]).
  Qed.
  (* The same for live reads and writing accesses. *)
  Lemma chk_read i j p : touches (j, p) -> isMut j -> live m ev false i j p -> visF ft i j.
  Proof.
    intros [L A] M Lv. pose proof (disc j L) as D. simpl in L, A. unfold isAcc, isMut, disciplined, visF, chkQ in *.
    destruct (ev j) eqn:E; try contradiction. destruct mut; try contradiction.
    destruct D as (L2 & Q & nd & C2 & C1 & Nd). rewrite C2. intros r0 S.
    assert (i <> j - 2) by (eapply acc_not_chk; [apply Lv|exact C2]).
    assert (i <> j - 1) by (eapply acc_not_chk; [apply Lv|exact C1]).
    assert (Lv' : live m ev false i (j - 1) p) by (apply (live_back _ _ j); [exact Lv|destruct Lv as [? _]; lia|lia]).
    pose proof (accepted (j - 1) ltac:(lia)) as G. unfold ggood in G. rewrite C1 in G. specialize (G p A i r0 Lv' S). revert G.
    apply visL_mono; intros; (apply level_mono with (n := j - 1); [lia|assumption]).
  Qed.

  (* ---- an access is live, or a later non-atomic mutate has taken its place ---- *)
  Lemma clears_dec mut o p : clears m mut o p \/ ~ clears m mut o p.
  Proof.
    unfold clears. destruct o; auto.
    - destruct (in_dec elem_eq_dec p es); auto.
    - destruct mut0; auto. destruct (in_dec elem_eq_dec p es); [|right; tauto].
      destruct (keeps m mut q Qa); [right; intros [_ X]; discriminate|auto].
  Qed.
  (* An earlier access is still live, or something has cleared it. *)
  Lemma live_or_cleared mut i j p : i < j -> accesses mut (ev i) p ->
    live m ev mut i j p \/ exists k, i < k < j /\ clears m mut (ev k) p.
  Proof.
    intros L A. induction j as [|j IH]; [lia|].
    destruct (Nat.eq_dec i j) as [->|D].
    - left. split; auto. split; auto. intros; lia.
    - destruct IH as [Lv|(k & K & C)]; [lia| |right; exists k; split; [lia|auto]].
      destruct (clears_dec mut (ev j) p) as [C|NC]; [right; exists j; split; [lia|auto]|].
      left. apply live_S. auto.
  Qed.
  (* What has cleared it, within a generation, is a plain mutate. *)
  Lemma clears_mut i k j mut p : i < k < j -> gen i p = gen j p -> clears m mut (ev k) p ->
    isAcc k p /\ nonAtomicMut k /\ gen i p = gen k p /\ gen k p = gen j p.
  Proof.
    intros L G C. assert (gen i p <= gen k p) by (apply gen_mono; lia). assert (gen k p <= gen j p) by (apply gen_mono; lia).
    enough (isAcc k p /\ nonAtomicMut k) by (repeat split; try tauto; lia). unfold clears, isAcc, nonAtomicMut in *. destruct (ev k) eqn:E; try contradiction.
    - exfalso. assert (gen i p < gen j p) by (eapply gen_alloc; [|exact E|exact C]; lia). lia.
    - destruct mut0; try contradiction. destruct C as [I C]. split; auto. apply (clearing_is_plain m mut q Qa); auto. apply SM.
  Qed.

  (* ---- all conflicting pairs are ordered as in the program ---- *)
  Section Order.
    Variable l : list node.
    Hypothesis nd : NoDup l.
    Hypothesis all : forall n, In n l <-> touches n.
    Hypothesis respects : forall i j p, i < j -> touches (i, p) -> touches (j, p) -> gen i p = gen j p -> conflict i j -> must i j ->
      before l (i, p) (j, p).

    (* Every access is a mutate or a read. *)
    Lemma acc_kind i p : isAcc i p -> (isMut i /\ accesses true (ev i) p) \/ (kindof i = RD /\ accesses false (ev i) p).
    Proof.
      unfold isAcc, isMut, accesses, kindof. destruct (ev i); try contradiction. destruct mut; auto.
    Qed.
    (* A plain mutate conflicts with everything. *)
    Lemma conflict_l i k : kindof i <> RD \/ True -> nonAtomicMut k -> conflict i k.
    Proof. intros _ H. apply nonatomic_kind in H. unfold conflict. destruct H as [-> | ->]; split; intros [? ?]; congruence. Qed.
    Lemma conflict_r k j : nonAtomicMut k -> conflict k j.
    Proof. intros H. apply nonatomic_kind in H. unfold conflict. destruct H as [-> | ->]; split; intros [? ?]; congruence. Qed.

    (* ALL CONFLICTING PAIRS ARE ORDERED as in the program: directly if the first is live, else through the mutate that cleared it, by induction on their distance. *)
    Theorem conflicts_ordered : forall d i j p, j - i <= d -> i < j -> touches (i, p) -> touches (j, p) -> gen i p = gen j p ->
      conflict i j -> before l (i, p) (j, p).
    Proof.
      induction d as [|d IH]; intros i j p Hd L Ti Tj Ge C; [lia|].
      destruct (acc_kind i p (proj2 Ti)) as [[Mi Ai]|[Ki Ai]].
      - destruct (live_or_cleared true i j p L Ai) as [Lv|(k & K & Cl)].
        + apply respects; auto. pose proof (chk_mut i j p Tj Lv) as H. unfold must.
          destruct C as [_ C]. unfold need in H. destruct (kindof j) eqn:Kj; auto using visF_ff_ft.
          apply visF_ff_ft, visF_fa_ff; auto. apply kind_nonatomic; auto.
        + destruct (clears_mut i k j true p K Ge Cl) as (Ak & Nk & G1 & G2).
          assert (Tk : touches (k, p)) by (split; simpl; auto; destruct Tj; simpl in *; lia).
          eapply before_trans; [exact nd| |].
          * apply (IH i k p); auto; try lia. apply conflict_l; auto.
          * apply (IH k j p); auto; try lia. apply conflict_r; auto.
      - destruct (live_or_cleared false i j p L Ai) as [Lv|(k & K & Cl)].
        + apply respects; auto. apply (chk_read i j p); auto. apply (mut_kind j p); [apply Tj|]. destruct C as [C _]. intros E. apply C. auto.
        + destruct (clears_mut i k j false p K Ge Cl) as (Ak & Nk & G1 & G2).
          assert (Tk : touches (k, p)) by (split; simpl; auto; destruct Tj; simpl in *; lia).
          eapply before_trans; [exact nd| |].
          * apply (IH i k p); auto; try lia. apply conflict_l; auto.
          * apply (IH k j p); auto; try lia. apply conflict_r; auto.
    Qed.
    (* The same without the bound. *)
    Lemma ordered i j p : i < j -> touches (i, p) -> touches (j, p) -> gen i p = gen j p -> conflict i j -> before l (i, p) (j, p).
    Proof. apply (conflicts_ordered (j - i)). lia. Qed.
  End Order.

  (* ---- data ---- *)
  Variable val : Type.
  Variable deps : node -> list node.                      (* reads whose values an update uses *)
  Variable f : node -> (node -> val) -> val -> val.       (* new value from observed values and the old value *)
  Definition kn (n : node) := kindof (fst n).
  Hypothesis f_deps : forall n o o' v, (forall d, In d (deps n) -> o d = o' d) -> f n o v = f n o' v.
  Hypothesis f_wr : forall n o v v', kn n = WR -> f n o v = f n o v'.
  Hypothesis f_at : forall a b o o' v, kn a = AT -> kn b = AT -> snd a = snd b -> f b o' (f a o v) = f a o (f b o' v).

  Definition loc (n : node) : elem * nat := (snd n, gen (fst n) (snd n)).
  Definition leqb (a b : elem * nat) : bool := Nat.eqb (snd a) (snd b) && eeqb (fst a) (fst b).
  (* Decidable equality of locations and nodes. *)
  Lemma leqb_spec a b : leqb a b = true <-> a = b.
  Proof.
    destruct a as [p i], b as [q j]. unfold leqb. simpl. rewrite andb_true_iff, Nat.eqb_eq, eeqb_spec.
    split; [intros []; congruence|intros H; injection H; auto].
  Qed.
  Lemma leqb_neq a b : leqb a b = false <-> a <> b.
  Proof. rewrite <- leqb_spec. now destruct (leqb a b). Qed.
  Lemma loc_eq_dec (a b : node) : {loc a = loc b} + {loc a <> loc b}.
  Proof. destruct (leqb (loc a) (loc b)) eqn:E; [left; now apply leqb_spec|right; now apply leqb_neq]. Qed.
  Definition state := ((elem * nat -> val) * (node -> val))%type.   (* memory by element and generation; value observed by each access *)
  Definition neqb (a b : node) : bool := Nat.eqb (fst a) (fst b) && eeqb (snd a) (snd b).
  Lemma neqb_spec a b : neqb a b = true <-> a = b.
  Proof.
    destruct a as [i p], b as [j q]. unfold neqb. simpl. rewrite andb_true_iff, Nat.eqb_eq, eeqb_spec.
    split; [intros []; congruence|intros H; injection H; auto].
  Qed.
  Definition setm (mm : elem * nat -> val) p v := fun x => if leqb x p then v else mm x.
  Definition seto (o : node -> val) n v := fun x => if neqb x n then v else o x.
  (* access n reads v (the old value) and acts *)
  Definition act' (n : node) (v : val) (s : state) : state :=
    let (mm, o) := s in
    match kn n with
    | RD => (mm, seto o n v)
    | WR | AT => (setm mm (loc n) (f n o v), o)
    | RW => (setm mm (loc n) (f n o v), seto o n v)
    end.
  Definition act (n : node) (s : state) : state := act' n (fst s (loc n)) s.
  Definition eqv (s s' : state) : Prop := (forall p, fst s p = fst s' p) /\ (forall n, snd s n = snd s' n).
  (* Equal memories and observations. *)
  Lemma eqv_refl s : eqv s s. Proof. split; auto. Qed.
  Lemma eqv_trans a b c : eqv a b -> eqv b c -> eqv a c.
  Proof. intros [A B] [C D]. split; intros; [now rewrite A|now rewrite B]. Qed.
  (* An access does not tell equal states apart. *)
  Lemma act_eqv n s s' : eqv s s' -> eqv (act n s) (act n s').
  Proof.
    destruct s as [mm o], s' as [mm' o']. intros [A B]. unfold act, act'. simpl in *.
    assert (F : f n o (mm (loc n)) = f n o' (mm' (loc n))) by (rewrite A; apply f_deps; auto).
    destruct (kn n); split; simpl; intros x; unfold setm, seto; rewrite ?F, ?A, ?B; auto.
  Qed.
  (* Writing, then reading the same location ... *)
  Lemma setm_s mm p v : setm mm p v p = v.
  Proof. unfold setm. assert (leqb p p = true) as -> by now apply leqb_spec. reflexivity. Qed.
  (* ... and another one. *)
  Lemma setm_o mm p q v : q <> p -> setm mm p v q = mm q.
  Proof. intros H. unfold setm. apply leqb_neq in H. now rewrite H. Qed.
  (* Accesses of different locations, and accesses that do not conflict, commute. *)
  Lemma commutes a b : a <> b -> ~ In a (deps b) -> ~ In b (deps a) -> (loc a <> loc b \/ ~ conflict (fst a) (fst b)) -> commute act eqv a b.
  Proof.
    intros D Da Db Cf [mm o].
    assert (Fa : forall v x, f a (seto o b x) v = f a o v).
    { intros. apply f_deps. intros d I. unfold seto. destruct (neqb d b) eqn:E; auto. apply neqb_spec in E. now subst. }
    assert (Fb : forall v x, f b (seto o a x) v = f b o v).
    { intros. apply f_deps. intros d I. unfold seto. destruct (neqb d a) eqn:E; auto. apply neqb_spec in E. now subst. }
    assert (O : forall x y n, seto (seto o a x) b y n = seto (seto o b y) a x n).
    { intros x y n. unfold seto. destruct (neqb n a) eqn:E1, (neqb n b) eqn:E2; auto. apply neqb_spec in E1, E2. congruence. }
    destruct Cf as [P|NC].
    - assert (Mm : forall x y p, setm (setm mm (loc a) x) (loc b) y p = setm (setm mm (loc b) y) (loc a) x p).
      { intros x y p. unfold setm. destruct (leqb p (loc a)) eqn:E1, (leqb p (loc b)) eqn:E2; auto. apply leqb_spec in E1, E2. congruence. }
      unfold act, act'. simpl.
      destruct (kn a) eqn:Ka, (kn b) eqn:Kb; simpl; rewrite ?setm_o by congruence; rewrite ?Fa, ?Fb; split; simpl; auto.
    - assert (Ks : (kn a = RD /\ kn b = RD) \/ (kn a = AT /\ kn b = AT)).
      { unfold conflict in NC. unfold kn. destruct (kindof (fst a)), (kindof (fst b)); auto; exfalso; apply NC; split; intros [? ?]; discriminate. }
      unfold act, act'. simpl. destruct Ks as [[Ka Kb]|[Ka Kb]]; rewrite Ka, Kb; simpl.
      + split; simpl; auto.
      + split; simpl; auto. intros p. destruct (loc_eq_dec a b) as [E|E].
        * assert (Es : snd a = snd b) by (unfold loc in E; congruence).
          rewrite E, !setm_s. unfold setm. destruct (leqb p (loc b)); auto.
        * rewrite (setm_o mm (loc a) (loc b)) by congruence. rewrite (setm_o mm (loc b) (loc a)) by congruence. unfold setm. destruct (leqb p (loc b)) eqn:E2, (leqb p (loc a)) eqn:E1; auto.
          apply leqb_spec in E1, E2. congruence.
  Qed.

  (* ---- parallel runs, with stale reads ---- *)
  (* n depends on the contents left by w, but w is not fully visible to n *)
  Definition stale (pre : list node) (n : node) : Prop :=
    exists w, In w pre /\ loc w = loc n /\ kn w <> RD /\ ~ (kn w = AT /\ kn n = AT) /\
      (forall w', before pre w w' -> loc w' = loc n -> kn w' = RD \/ kn w' = AT) /\ ~ fully (fst w) (fst n).
  Inductive prun : list node -> state -> list node -> state -> Prop :=
  | P_nil pre s : prun pre s [] s
  | P_cons pre s n l v s' : v = fst s (loc n) \/ kn n = WR \/ stale pre n -> prun (pre ++ [n]) (act' n v s) l s' -> prun pre s (n :: l) s'.

  Variable sq : list node.                                  (* the sequential order *)
  Hypothesis sq_nd : NoDup sq.
  Hypothesis sq_all : forall n, In n sq <-> touches n.
  Hypothesis sq_sorted : forall a b, before sq a b -> fst a <= fst b.
  Hypothesis deps_sq : forall n d, In d (deps n) -> In n sq -> before sq d n.

  Definition linearisation (l : list node) : Prop :=
    Permutation sq l /\
    (forall i j p, i < j -> touches (i, p) -> touches (j, p) -> gen i p = gen j p -> conflict i j -> must i j -> before l (i, p) (j, p)) /\
    (forall n d, In n l -> In d (deps n) -> before l d n).

  Section Run.
    Variable l : list node.
    Hypothesis lin : linearisation l.
    (* A linearisation has every access once ... *)
    Lemma l_nd : NoDup l. Proof. destruct lin as (P & _). eapply Permutation_NoDup; eauto. Qed.
    (* ... and no other ... *)
    Lemma l_all n : In n l <-> touches n.
    Proof. rewrite <- sq_all. destruct lin as (P & _). split; apply Permutation_in; auto using Permutation_sym. Qed.
    (* ... and all conflicting pairs in program order. *)
    Lemma l_ord i j p : i < j -> touches (i, p) -> touches (j, p) -> gen i p = gen j p -> conflict i j -> before l (i, p) (j, p).
    Proof. apply ordered; [apply l_nd|]. apply lin. Qed.

    (* NO READ IS STALE: the writes that are not overwritten before an access are live mutates, and those were checked to be fully known. *)
    Lemma never_stale pre n post : l = pre ++ n :: post -> kn n <> WR -> ~ stale pre n.
    Proof.
      intros E Kn (w & Iw & Ep & Kw & NA & Last & NF).
      destruct w as [i p], n as [j p']. unfold loc in Ep, Last. simpl in Ep. injection Ep as <- Ge. simpl in *. unfold kn in *. simpl in *.
      assert (Bw : before l (i, p) (j, p)) by (rewrite E; apply before_app; [auto|now left]).
      assert (Ti : touches (i, p)) by (apply l_all; now apply before_in in Bw).
      assert (Tj : touches (j, p)) by (apply l_all; now apply before_in in Bw).
      assert (Cf : conflict i j) by (split; [intros [? _]; auto|auto]).
      assert (L : i < j).
      { destruct (Nat.lt_trichotomy i j) as [H|[H|H]]; auto; exfalso.
        - subst j. eapply before_asym; [apply l_nd|exact Bw|exact Bw].
        - eapply before_asym; [apply l_nd|exact Bw|]. apply l_ord; auto. destruct Cf as [C1 C2]. split; intros [? ?]; [apply C1|apply C2]; auto. }
      assert (Mi : isMut i) by (apply (mut_kind i p); [apply Ti|auto]).
      assert (Ai : accesses true (ev i) p) by (destruct (acc_kind i p (proj2 Ti)) as [[_ A]|[A _]]; auto; contradiction).
      destruct (live_or_cleared true i j p L Ai) as [Lv|(k & K & Cl)].
      - apply NF. unfold fully. pose proof (chk_mut i j p Tj Lv) as H. unfold need in H.
        destruct (kindof j) eqn:Kj; auto; [contradiction|]. apply visF_fa_ff; auto. apply kind_nonatomic; auto.
      - destruct (clears_mut i k j true p K Ge Cl) as (Ak & Nk & G1 & G2).
        assert (Tk : touches (k, p)) by (split; simpl; auto; destruct Tj; simpl in *; lia).
        assert (B1 : before l (i, p) (k, p)) by (apply l_ord; auto; [lia|now apply conflict_l; auto]).
        assert (B2 : before l (k, p) (j, p)) by (apply l_ord; auto; [lia|now apply conflict_r]).
        assert (Ik : In (k, p) pre) by (apply (before_split pre (j, p) post (k, p)); rewrite <- E; [apply l_nd|exact B2]).
        assert (B3 : before pre (i, p) (k, p)).
        { destruct (before_total pre (i, p) (k, p)) as [H|H]; auto. { intros X; injection X; lia. }
          exfalso. eapply before_asym; [apply l_nd|exact B1|]. rewrite E.
          destruct H as (a & b & c & ->). exists a, b, (c ++ (j, p) :: post). rewrite <- app_assoc. simpl. now rewrite <- app_assoc. }
        destruct (Last (k, p) B3) as [X|X]; [simpl; congruence| |]; simpl in X; destruct (nonatomic_kind k Nk); congruence.
    Qed.

    (* So every parallel run along a linearisation is the deterministic run along it ... *)
    Lemma prun_run : forall r pre s s', l = pre ++ r -> prun pre s r s' -> s' = run act r s.
    Proof.
      induction r as [|n r IH]; intros pre s s' E H.
      - inversion_clear H. reflexivity.
      - inversion_clear H as [|? ? ? ? v ? Hv Hr].
        assert (Ev : act' n v s = act n s).
        { unfold act. destruct (kind_eq_dec (kn n) WR) as [Kw|Kw].
          - unfold act'. destruct s as [mm o]. rewrite Kw. simpl. now rewrite (f_wr n o v (mm (loc n)) Kw).
          - destruct Hv as [-> |[Hv|Hv]]; [reflexivity|contradiction|]. now apply (never_stale pre n r E Kw) in Hv. }
        rewrite Ev in Hr. simpl. apply (IH (pre ++ [n]) (act n s) s'); [|exact Hr]. rewrite E. now rewrite <- app_assoc.
    Qed.

    (* ... and that equals the sequential run. SEQUENTIAL = PARALLEL. *)
    Theorem sequential_parallel_equivalence s s' : prun [] s l s' -> eqv s' (run act sq s).
    Proof.
      intros H. rewrite (prun_run l [] s s' eq_refl H).
      apply (linear_extensions act eqv eqv_refl eqv_trans act_eqv).
      - apply l_nd.
      - apply Permutation_sym, lin.
      - intros a b B1 B2.
        assert (D : a <> b) by (intros ->; eapply before_asym; [apply l_nd|exact B1|exact B1]).
        pose proof (before_in _ _ _ B1) as [Ia Ib]. pose proof (before_in _ _ _ B2) as [Ib' Ia'].
        apply commutes; auto.
        + intros I. eapply before_asym; [exact sq_nd|exact B2|]. auto.
        + intros I. eapply before_asym; [apply l_nd|exact B1|]. destruct lin as (_ & _ & Dl). auto.
        + destruct (loc_eq_dec a b) as [Ep|]; [right|now left]. intros C.
          destruct a as [i p], b as [j p']. unfold loc in Ep. simpl in *. injection Ep as <- Ge.
          destruct (Nat.lt_trichotomy i j) as [X|[X|X]].
          * pose proof (sq_sorted _ _ B2). simpl in *. lia.
          * subst. auto.
          * eapply before_asym; [apply l_nd|exact B1|]. apply l_ord; auto; try now apply l_all.
            destruct C as [C1 C2]. split; intros [? ?]; [apply C1|apply C2]; auto.
    Qed.
  End Run.
End SeqPar.
