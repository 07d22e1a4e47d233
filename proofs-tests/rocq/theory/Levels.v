(* The flags of mode paper_exact are the five visibility levels of the paper. *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir Rules.
Import ListNotations.

Inductive level := INVIS | ATOM | UNORD | TEMP | FULL.
Definition rank (l : level) : nat := match l with INVIS => 0 | ATOM => 1 | UNORD => 2 | TEMP => 3 | FULL => 4 end.
Definition lmax (a b : level) : level := if Nat.leb (rank a) (rank b) then b else a.
Definition lge (a b : level) : Prop := (rank b <= rank a)%nat.
(* the level that each flag tests *)
Definition tests (f : flag) (l : level) : Prop :=
  if N.eqb f fa then lge l ATOM else if N.eqb f fI then lge l UNORD else if N.eqb f ft then lge l TEMP else if N.eqb f ff then lge l FULL else False.
(* a record of the flag machine holds exactly the flags of the levels W *)
Definition holds (r : srec) (W : tid -> qtl -> level) : Prop := forall g q f, V r g q f <-> tests f (W g q).

(* A maximum of levels passes the tests that either passes. *)
Lemma tests_lmax f a b : tests f (lmax a b) <-> tests f a \/ tests f b.
Proof.
  unfold tests, lge, lmax. destruct (Nat.leb_spec (rank a) (rank b));
  repeat match goal with |- context [if ?c then _ else _] => destruct c end; lia || tauto.
Qed.
(* Bits of a mask written as a list. *)
Lemma msk_bit l f : bit (msk l) f = existsb (N.eqb f) l.
Proof.
  induction l as [|a l IH]; [exact (N.bits_0 f)|]. change (msk (a :: l)) with (N.lor (single a) (msk l)). cbn [existsb]. rewrite <- IH.
  unfold bit. rewrite N.lor_spec. f_equal. apply (bit_single a f).
Qed.
Ltac flags := intros; cbn [paper_exact m_in m_ooo m_sf m_st]; rewrite ?msk_bit; unfold tests, lge; simpl;
  repeat match goal with |- context [N.eqb ?f ?c] => destruct (N.eqb_spec f c); [subst; simpl|] end;
  simpl; try (split; intros; (discriminate || reflexivity || lia || contradiction)).
(* The flag masks of mode paper_exact are the levels FULL, UNORD and TEMP. *)
Lemma in_full f : bit (m_in paper_exact) f = true <-> tests f FULL. Proof. flags. Qed.
Lemma ooo_unord f : bit (m_ooo paper_exact) f = true <-> tests f UNORD. Proof. flags. Qed.
Lemma sf_full f : bit (m_sf paper_exact) f = true <-> tests f FULL. Proof. flags. Qed.
Lemma st_temp f : bit (m_st paper_exact) f = true <-> tests f TEMP. Proof. flags. Qed.
(* Nothing is known of an invisible access. *)
Lemma invis_none f : ~ tests f INVIS. Proof. unfold tests, lge. simpl. repeat destruct (N.eqb _ _); lia. Qed.
(* ATOM is the atomic flag alone. *)
Lemma atom_fa f : f = fa <-> tests f ATOM. Proof. unfold tests, lge. simpl. split; [intros ->; simpl; lia|].
  destruct (N.eqb_spec f fa); auto. repeat destruct (N.eqb _ _); lia. Qed.

(* 4.3 new records *)
Theorem new_level K q (ooo : bool) Qa Zs cnt (K_dec : forall g, {K g} + {~ K g}) :
  holds (NewRec paper_exact K q ooo Qa Zs cnt)
    (fun g q' => lmax (if K_dec g then if N.eqb q' q then (if ooo then UNORD else FULL) else INVIS else INVIS)
                      (if bit Qa q' then ATOM else INVIS)).
Proof.
  intros g q' f. simpl. rewrite tests_lmax. pose proof (invis_none f). destruct (K_dec g) as [Kg|Kg], (N.eqb_spec q' q) as [Eq|Eq], (bit Qa q') eqn:B;
    destruct ooo; rewrite ?ooo_unord, ?in_full, <- ?atom_fa; intuition congruence.
Qed.
(* 4.5 checks, 4.6 witness *)
Theorem check_level r W f l g q : holds r W -> In (f, l) [(fa, ATOM); (ft, TEMP); (ff, FULL)] -> (V r g q f <-> lge (W g q) l).
Proof. intros H I. rewrite (H g q f). simpl in I. destruct I as [I|[I|[I|[]]]]; injection I as <- <-; reflexivity. Qed.
(* A record is picked up at level UNORD or better; there is no weak issue. *)
Theorem witness_level r W : holds r W ->
  (forall g q, V r g q (wfl true) <-> lge (W g q) UNORD) /\ (forall g q, ~ V r g q (wfl false)).
Proof. intros H. split; intros g q; rewrite (H g q _); [reflexivity|]. exact (fun x => x). Qed.
(* 4.6 augment (fence and await) *)
Definition augment (C : tset) (F T : mask) (W : tid -> qtl -> level) : tid -> qtl -> level :=
  fun g q => lmax (lmax (W g q) (if mem g C && bit F q then FULL else INVIS)) (if mem g C && bit T q then TEMP else INVIS).
(* Augmenting raises to the maximum, as in the paper. *)
Theorem augment_level s r W o C F T :
  (exists tr Q1, o = EFence tr C Q1 F T) \/ (exists b n one, o = EAwait C b F T n one) ->
  holds r W -> (forall q, bit F q = true -> bit T q = true) ->
  (wit o s true r -> holds (upd paper_exact o s r) (augment C F T W)) /\ (~ wit o s true r -> holds (upd paper_exact o s r) W).
Proof.
  intros Ho H FT.
  assert (E : forall str g q f, effV paper_exact o str g q f <->
    (str = true /\ mem g C = true /\ ((bit F q = true /\ tests f FULL) \/ (bit T q = true /\ bit F q = false /\ tests f TEMP)))).
  { intros str g q f. assert (B0 : bit (m_wt paper_exact) f = false) by exact (N.bits_0 f).
    destruct Ho as [(tr & Q1 & ->)|(b & n & one & ->)]; cbn [effV]; destruct str; rewrite ?sf_full, ?st_temp, ?B0;
      (split; [intros X; decompose [and or] X; try discriminate; auto 8|intros X; decompose [and or] X; try discriminate; auto 8]). }
  assert (Tm : forall f, tests f TEMP -> tests f FULL) by (intros f; unfold tests, lge; simpl; repeat destruct (N.eqb _ _); lia).
  split; intros Wt g q f; simpl.
  - unfold augment. rewrite !tests_lmax, <- (H g q f). split.
    + intros [X|(str & X & Ef)]; [auto|]. apply E in Ef as (_ & G & [(Fq & X2)|(Tq & Fq & X2)]); rewrite G, ?Fq, ?Tq; simpl; auto.
    + intros [[X|X]|X]; [auto| |]; right; exists true; (split; [exact Wt|]); apply E; (split; [reflexivity|]);
        destruct (mem g C); simpl in X; try (now apply invis_none in X); (split; [reflexivity|]).
      * destruct (bit F q); simpl in X; [auto|now apply invis_none in X].
      * destruct (bit T q); simpl in X; [|now apply invis_none in X]. destruct (bit F q); auto.
  - rewrite <- (H g q f). setoid_rewrite E. split; [|auto]. intros [X|(str & X & -> & _)]; [exact X|contradiction].
Qed.
