(* Syntactic discipline: every record statement directly follows the checks of its own access.  The translator need not be
   trusted to emit the checks: this is decided on the exported program. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Linear SeqPar EndToEnd.
Import ListNotations.

Definition cx_eq_dec (a b : cx) : {a = b} + {a <> b}.
Proof. decide equality; apply Z.eq_dec || apply N.eq_dec. Defined.
Definition win_eq_dec (a b : win) : {a = b} + {a <> b}.
Proof. decide equality; apply cx_eq_dec. Defined.
Definition acx_eq_dec (a b : acx) : {a = b} + {a <> b}.
Proof. decide equality; (apply bool_dec || apply N.eq_dec || apply (list_eq_dec cx_eq_dec) || apply (list_eq_dec win_eq_dec)). Defined.
Definition dim_eq_dec (a b : tdim) : {a = b} + {a <> b}.
Proof. decide equality; (apply Z.eq_dec || apply cx_eq_dec). Defined.
Definition tmap_eq_dec (a b : tmap) : {a = b} + {a <> b}.
Proof. decide equality. apply (list_eq_dec dim_eq_dec). Defined.
Definition eqd {A} (d : forall a b : A, {a = b} + {a <> b}) (a b : A) : bool := if d a b then true else false.

Definition prev := option (tmap * leaf).
Definition is_chk (mut cvg : bool) (f : tmap) (a : acx) (ok : flag -> bool) (p : prev) : bool :=
  match p with
  | Some (f', LChk mut' cvg' need a' _) => Bool.eqb mut mut' && Bool.eqb cvg cvg' && eqd tmap_eq_dec f f' && eqd acx_eq_dec a a' && ok need
  | _ => false
  end.
Definition same_q (p p' : prev) : bool :=
  match p, p' with Some (_, LChk _ _ _ _ Q), Some (_, LChk _ _ _ _ Q') => N.eqb Q Q' | _, _ => false end.
Definition okl (p2 p1 : prev) (f : tmap) (l : leaf) : bool :=
  match l with
  | LRec false cvg _ a _ _ _ => is_chk true cvg f a (N.eqb ff) p1
  | LRec true cvg _ a _ Qa _ => same_q p1 p2 && is_chk false cvg f a (N.eqb ft) p1 &&
      is_chk true cvg f a (fun n => if N.eqb Qa 0 then N.eqb ft n || N.eqb ff n else N.eqb fa n) p2
  | _ => true
  end.
Fixpoint dsc (s : stmt) (st : prev * prev) : option (prev * prev) :=
  match s with
  | Skip => Some st
  | IncTask => Some (None, None)
  | Seq a b => match dsc a st with Some st' => dsc b st' | None => None end
  | For _ _ _ b | If _ b => match dsc b (None, None) with Some _ => Some (None, None) | None => None end
  | Leaf _ f l => let (p2, p1) := st in if okl p2 p1 f l then Some (p1, Some (f, l)) else None
  end.
Definition disciplined_prog (s : stmt) : bool := match dsc s (None, None) with Some _ => true | None => false end.

Fixpoint last2 (o2 o1 : op) (l : list op) : op * op := match l with [] => (o2, o1) | o :: r => last2 o1 o r end.
(* The discipline of a concatenation. *)
Lemma discb_app2 l1 : forall o2 o1 l2, discb o2 o1 (l1 ++ l2) = discb o2 o1 l1 && (let (x, y) := last2 o2 o1 l1 in discb x y l2).
Proof.
  induction l1 as [|o l1 IH]; intros o2 o1 l2; [reflexivity|].
  change (disc1 o2 o1 o && discb o1 o (l1 ++ l2) = disc1 o2 o1 o && discb o1 o l1 && (let (x, y) := last2 o1 o l1 in discb x y l2)).
  rewrite IH. now rewrite andb_assoc.
Qed.
(* Its last two events. *)
Lemma last2_app l1 : forall o2 o1 l2, last2 o2 o1 (l1 ++ l2) = let (x, y) := last2 o2 o1 l1 in last2 x y l2.
Proof. induction l1 as [|o l1 IH]; intros; [reflexivity|]. exact (IH o1 o l2). Qed.

Definition ops (t : trace) : list op := map snd t.
(* Operations of a concatenation. *)
Lemma ops_app t1 t2 : ops (t1 ++ t2) = ops t1 ++ ops t2. Proof. apply map_app. Qed.

Section Disc.
  Variable stride : Z.
  Definition fits (i : Z) (sg : cenv) (p : prev) (o : op) : Prop := match p with Some (f, l) => o = leval stride i sg f l | None => True end.
  (* The equality tests accept equal things. *)
  Lemma es_eqb_refl l : es_eqb l l = true. Proof. induction l; simpl; auto. now rewrite eeqb_refl. Qed.
  Lemma ts_eqb_refl l : ts_eqb l l = true. Proof. induction l; simpl; auto. now rewrite N.eqb_refl. Qed.
  (* A statement that looks like the check of an access evaluates to one. *)
  Lemma is_chk_spec i sg mut cvg f a ok p o C es : fits i sg p o -> is_chk mut cvg f a ok p = true -> teval stride i sg f = Some C -> aeval sg a = Some es ->
    chk_matches mut cvg C es ok o = true.
  Proof.
    unfold is_chk, fits. destruct p as [[f' l]|]; [|discriminate]. destruct l; try discriminate. intros -> H EC EA.
    rewrite !andb_true_iff in H. destruct H as [[[[A B] D] E] G]. apply eqb_prop in A, B. unfold eqd in *.
    destruct (tmap_eq_dec f f') as [<-|]; [|discriminate]. destruct (acx_eq_dec a a0) as [<-|]; [|discriminate]. subst.
    unfold leval. rewrite EC, EA. simpl. now rewrite !eqb_reflx, ts_eqb_refl, es_eqb_refl, G.
  Qed.
  (* Both checks look at the same timelines. *)
  Lemma same_q_spec i sg p p' o o' : fits i sg p o -> fits i sg p' o' -> same_q p p' = true -> (o = EBad \/ o' = EBad) \/ sameQ o o' = true.
  Proof.
    unfold same_q, fits. destruct p as [[f l]|]; [|discriminate]. destruct l; try discriminate. destruct p' as [[f' l']|]; [|discriminate]. destruct l'; try discriminate.
    intros -> -> H. unfold leval. destruct (teval stride i sg f); auto. destruct (aeval sg a); auto.
    destruct (teval stride i sg f'); auto. destruct (aeval sg a0); auto.
  Qed.
  (* One statement. *)
  Lemma okl_spec i sg p2 p1 f l o2 o1 : fits i sg p2 o2 -> fits i sg p1 o1 -> okl p2 p1 f l = true -> discb o2 o1 [leval stride i sg f l] = true.
  Proof.
    intros F2 F1 H. unfold leval. destruct (teval stride i sg f) as [C|] eqn:EC; [|reflexivity].
    destruct l; try (simpl; repeat match goal with |- context [match ?e with _ => _ end] => destruct e end; reflexivity).
    destruct (aeval sg a) as [es|] eqn:EA; [|reflexivity]. destruct (aevals sg Zs) as [zs|]; [|reflexivity]. simpl in H. cbn [discb disc1]. rewrite andb_true_r.
    destruct mut.
    - rewrite !andb_true_iff in H. destruct H as [[Hq H1] H2].
      pose proof (is_chk_spec _ _ _ _ _ _ _ _ _ _ _ F1 H1 EC EA) as K1. pose proof (is_chk_spec _ _ _ _ _ _ _ _ _ _ _ F2 H2 EC EA) as K2.
      destruct (same_q_spec i sg p1 p2 o1 o2 F1 F2 Hq) as [[-> | ->]|S]; [discriminate K1|discriminate K2|].
      apply andb_true_iff; split; [apply andb_true_iff; split; [exact S|exact K1]|exact K2].
    - eapply is_chk_spec; eauto.
  Qed.

  (* A program, by induction over its statements. *)
  Theorem dsc_spec s : forall st st', dsc s st = Some st' -> forall i sg o2 o1, fits i sg (fst st) o2 -> fits i sg (snd st) o1 ->
    let T := ops (fst (unroll stride s i sg)) in
    discb o2 o1 T = true /\ fits (snd (unroll stride s i sg)) sg (fst st') (fst (last2 o2 o1 T)) /\ fits (snd (unroll stride s i sg)) sg (snd st') (snd (last2 o2 o1 T)).
  Proof.
    induction s as [|a IHa b IHb|y lo hi b IHb|c b IHb| |lab f l]; intros st st' H i sg o2 o1 F2 F1; cbv zeta.
    - injection H as <-. simpl. auto.
    - simpl in H. destruct (dsc a st) as [sa|] eqn:Ea; [|discriminate].
      destruct (IHa st sa Ea i sg o2 o1 F2 F1) as (A1 & A2 & A3). simpl. destruct (unroll stride a i sg) as [t1 i1]. simpl in *.
      destruct (last2 o2 o1 (ops t1)) as [x y] eqn:L. simpl in *.
      destruct (IHb sa st' H i1 sg x y A2 A3) as (B1 & B2 & B3). destruct (unroll stride b i1 sg) as [t2 i2]. simpl in *.
      rewrite ops_app, discb_app2, last2_app, A1, L. auto.
    - simpl in H. destruct (dsc b (None, None)) as [sb|] eqn:Eb; [|discriminate]. injection H as <-. rewrite unroll_for. split; [|simpl; auto].
      generalize (Z.to_nat (cev sg hi - cev sg lo)) as n. generalize (cev sg lo) as v. intros v n. clear F1 F2. revert i v o2 o1.
      induction n as [|n IHn]; intros i v o2 o1; [reflexivity|]. simpl.
      destruct (IHb (None, None) sb Eb i ((y, v) :: sg) o2 o1 I I) as (B1 & _). destruct (unroll stride b i ((y, v) :: sg)) as [t1 i1]. simpl in B1.
      destruct (last2 o2 o1 (ops t1)) as [x z] eqn:L. specialize (IHn i1 (v + 1)%Z x z).
      destruct (unroll_loop stride b y sg n (v + 1) i1) as [t2 i2]. simpl in *. rewrite ops_app, discb_app2, B1, L. exact IHn.
    - simpl in H. destruct (dsc b (None, None)) as [sb|] eqn:Eb; [|discriminate]. injection H as <-. split; [|simpl; auto].
      simpl. destruct (bev sg c); [|reflexivity]. now destruct (IHb (None, None) sb Eb i sg o2 o1 I I) as (B1 & _).
    - injection H as <-. simpl. auto.
    - destruct st as [p2 p1]. simpl in *. destruct (okl p2 p1 f l) eqn:E; [|discriminate]. injection H as <-. simpl.
      split; [|auto]. eapply okl_spec; eauto.
  Qed.
  (* A program that passes the syntactic test has disciplined traces, whatever its sizes. *)
  Theorem disciplined_trace s i sg : disciplined_prog s = true -> disc_trace (fst (unroll stride s i sg)) = true.
  Proof.
    unfold disciplined_prog. destruct (dsc s (None, None)) as [st'|] eqn:E; [|discriminate]. intros _.
    now destruct (dsc_spec s (None, None) st' E i sg EBad EBad I I) as (H & _).
  Qed.
End Disc.

(* ACCEPTED AND DISCIPLINED PROGRAMS ARE SEQUENTIAL. *)
Theorem checked_programs_are_sequential stride s :
  accepts default_mode stride s -> disciplined_prog s = true -> seq_par_equivalent default_mode (fst (unroll stride s 0%Z [])).
Proof.
  intros A D. apply accepted_traces_are_sequential; auto using default_sound.
  - now apply accepts_srun.
  - now apply disciplined_trace.
Qed.
