(* The repaired mode never accepts what the paper's rules reject. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Fast Param.
Import ListNotations.
Local Open Scope Z_scope.

Definition up (f : flag) : flag := if N.eqb f fi then fI else f.
Definition mask_le (a b : mask) : Prop := forall f, bit a f = true -> bit b (up f) = true.
Record mode_le (m1 m2 : mode) : Prop := {
  le_in : mask_le (m_in m1) (m_in m2); le_ooo : mask_le (m_ooo m1) (m_ooo m2); le_sf : mask_le (m_sf m1) (m_sf m2);
  le_st : mask_le (m_st m1) (m_st m2); le_wf : mask_le (m_wt m1) (m_sf m2); le_wt : mask_le (m_wt m1) (m_st m2);
  le_keep : m_keep m2 = true -> m_keep m1 = true; le_zero : N.land (m_zero m1) (m_zero m2) = m_zero m2; le_prog : m_prog m2 = true -> m_prog m1 = true; le_shared : m_shared m1 = m_shared m2 }.

Section LE.
  Variables m1 m2 : mode.
  Hypothesis L : mode_le m1 m2.
  Definition rle (r1 r2 : srec) : Prop :=
    q0 r1 = q0 r2 /\ (forall g q f, V r1 g q f -> V r2 g q (up f)) /\ (forall b s z, Ple r1 b s z -> Ple r2 b true z).
  Definition sle (S1 S2 : srec -> Prop) : Prop := forall r2, S2 r2 -> exists r1, S1 r1 /\ rle r1 r2.
  Definition stle (s1 s2 : sst) : Prop :=
    (forall b, sa s1 b = sa s2 b) /\ (forall b, sw s1 b = sw s2 b) /\ forall mut p, sle (sel mut s1 p) (sel mut s2 p).

  (* the weaker mode forgets at least what the stronger one forgets *)
  Lemma keeps_le mut q Qa : keeps m2 mut q Qa = true -> keeps m1 mut q Qa = true.
  Proof.
    unfold keeps. rewrite !orb_true_iff, !andb_true_iff. intros [[A B]|A]; [left; split; auto; destruct mut; auto; now apply (le_keep _ _ L)|right].
    rewrite <- (le_zero _ _ L), bit_land in A. now apply andb_true_iff in A.
  Qed.

  (* Both strengths of issue become the strong one. *)
  Lemma up_wfl str : up (wfl str) = wfl true. Proof. destruct str; reflexivity. Qed.
  Lemma up_fa : up fa = fa. Proof. reflexivity. Qed.
  (* The paper's machine picks up whatever the repaired one does ... *)
  Lemma wit_le s1 s2 o str r1 r2 : stle s1 s2 -> rle r1 r2 -> wit o s1 str r1 -> wit o s2 true r2.
  Proof.
    intros (A & W & _) (Q & VV & PP) H. destruct o; simpl in *; try contradiction.
    - destruct H as (g & q & X & Y & Z0 & H). exists g, q. rewrite <- Q. repeat split; auto. apply VV in H. now rewrite up_wfl in H.
    - destruct H as (g & q & X & Y & Z0 & H). exists g, q. rewrite <- Q. repeat split; auto. apply VV in H. now rewrite up_wfl in H.
    - unfold amax in *. rewrite <- A, <- W. apply (PP b str). exact H.
  Qed.
  (* ... gives at least as much ... *)
  Lemma eff_le o str g q f : (match o with EFence _ _ _ F T | EAwait _ _ F T _ _ => forall q, bit F q = true -> bit T q = true | _ => True end) ->
    effV m1 o str g q f -> effV m2 o true g q (up f).
  Proof.
    intros FT H. destruct o; simpl in *; try contradiction; destruct H as [G H]; split; auto; destruct str.
    - destruct H as [(A & B)|(A & B & C0)]; [left; split; auto; now apply (le_sf _ _ L)|right; repeat split; auto; now apply (le_st _ _ L)].
    - destruct H as [A B]. destruct (bit F q) eqn:E; [left; split; auto; now apply (le_wf _ _ L)|right; repeat split; auto; now apply (le_wt _ _ L)].
    - destruct H as [(A & B)|(A & B & C0)]; [left; split; auto; now apply (le_sf _ _ L)|right; repeat split; auto; now apply (le_st _ _ L)].
    - destruct H as [A B]. destruct (bit F q) eqn:E; [left; split; auto; now apply (le_wf _ _ L)|right; repeat split; auto; now apply (le_wt _ _ L)].
  Qed.
  Definition ft_ok (o : op) : Prop := match o with EFence _ _ _ F T | EAwait _ _ F T _ _ => forall q, bit F q = true -> bit T q = true | _ => True end.
  (* ... so its records know at least as much ... *)
  Lemma upd_le s1 s2 o r1 r2 : ft_ok o -> stle s1 s2 -> rle r1 r2 -> rle (upd m1 o s1 r1) (upd m2 o s2 r2).
  Proof.
    intros FT Hs R. pose proof R as (Q & VV & PP). split; [exact Q|]. split.
    - intros g q f [H|(str & W & E)]; [left; auto|right]. exists true. split; [eapply wit_le; eauto|]. now apply (eff_le o str).
    - intros b s z (k & [H|[W E]] & Lk).
      + destruct (PP b s z) as (k' & H' & L'); [exists k; auto|]. exists k'. split; auto. now left.
      + exists k. split; auto. right. split; [eapply wit_le; eauto|]. destruct o; simpl in *; auto. destruct Hs as (A & _). now rewrite <- A.
  Qed.
  (* ... in every cell ... *)
  Lemma sle_lift s1 s2 o S1 S2 : ft_ok o -> stle s1 s2 -> sle S1 S2 ->
    sle (fun r => exists r0, S1 r0 /\ r = upd m1 o s1 r0) (fun r => exists r0, S2 r0 /\ r = upd m2 o s2 r0).
  Proof. intros FT Hs H r (r2 & I & ->). destruct (H r2 I) as (r1 & J & R). exists (upd m1 o s1 r1). split; [eauto|]. now apply upd_le. Qed.

  (* ... after every event ... *)
  Lemma step_le s1 s2 o : ft_ok o -> stle s1 s2 -> stle (sapply m1 s1 o) (sapply m2 s2 o).
  Proof.
    intros FT Hs. pose proof Hs as (A & W & R). destruct o; simpl; auto.
    - split; [intros b; simpl; now rewrite A|]. split; [intros b; simpl; now rewrite W|].
      intros mut p. specialize (R mut p). destruct mut; simpl in *; intros r2 [N (r0 & I & ->)]; destruct (R r0 I) as (r1 & J & (Q & VV & PP));
        (exists (dropP es r1); split; [eauto|]; split; [exact Q|]; split; [exact VV|]; intros b s z (k & [H X] & Lk);
         destruct (PP b s z) as (k' & H' & L'); [exists k; auto|]; exists k'; split; auto; split; auto).
    - split; [exact A|]. split; [exact W|]. intros mut0 p.
      assert (NN : sle (NewRecs m1 cvg C q ooo Qa Zs (sa s1)) (NewRecs m2 cvg C q ooo Qa Zs (sa s2))).
      { assert (K : forall K, rle (NewRec m1 K q ooo Qa Zs (sa s1)) (NewRec m2 K q ooo Qa Zs (sa s2))).
        { intros K. split; [reflexivity|]. split.
          - intros g q' f [(X & Y & Z0)|(X & ->)]; simpl; [left|right; rewrite up_fa; auto]. repeat split; auto.
            destruct ooo; [now apply (le_ooo _ _ L)|now apply (le_in _ _ L)].
          - intros b s z (k & [I ->] & Lk). exists (sa s2 b). simpl. rewrite <- A. auto. }
        unfold NewRecs, grouped. rewrite (le_shared _ _ L). destruct (cvg || bit (m_shared m2) q).
        - intros r ->. eauto.
        - intros r (g & G & ->). eauto 8. }
      pose proof (R true p) as RM. pose proof (R false p) as RR. simpl in RM, RR. destruct mut, mut0; simpl.
      + destruct (inE p es); [|exact RM]. intros r [[X I]|I]; [destruct (RM r I) as (r1 & J & K); apply keeps_le in X|destruct (NN r I) as (r1 & J & K)]; eauto.
      + destruct (inE p es); [|exact RR]. intros r (X & I). destruct (RR r I) as (r1 & J & K). exists r1. split; [|exact K]. split; [now apply keeps_le|exact J].
      + exact RM.
      + intros r [I|[X I]]; [destruct (RR r I) as (r1 & J & K)|destruct (NN r I) as (r1 & J & K)]; eauto.
    - split; [exact A|]. split; [exact W|]. intros mut p. specialize (R mut p). destruct mut; simpl in *; now apply sle_lift.
    - split; [|split]; [intros b; simpl; unfold set; now rewrite !A|exact W|]. intros mut p. specialize (R mut p). destruct mut; simpl in *; now apply sle_lift.
    - split; [exact A|]. split; [intros b'; simpl; unfold set, wnext; now rewrite A, !W|]. intros mut p. specialize (R mut p). destruct mut; simpl in *; now apply sle_lift.
  Qed.
  (* ... and pass the same checks. *)
  Lemma good_le s1 s2 o : (match o with EChk _ _ _ f _ _ => f <> fi | _ => True end) -> stle s1 s2 -> good m1 s1 o -> good m2 s2 o.
  Proof.
    intros Nf (A & W & R) H. destruct o; simpl in *; auto.
    - intros p I r2 I2. destruct (R mut p r2 I2) as (r1 & I1 & (_ & VV & _)). specialize (H p I r1 I1). unfold vis in *.
      assert (U : up need = need) by (unfold up; destruct (N.eqb_spec need fi); congruence).
      destruct cvg; [destruct H as (g & G & q & B & X)|intros g G; destruct (H g G) as (q & B & X)].
      + exists g. split; auto. exists q. split; auto. apply VV in X. now rewrite U in X.
      + exists q. split; auto. apply VV in X. now rewrite U in X.
    - intros p I. rewrite <- A, <- W. auto.
    - unfold prog_bad, progZ in *. rewrite <- A, <- W. destruct (m_prog m2) eqn:E; auto. rewrite (le_prog _ _ L E) in H. exact H.
  Qed.
  Definition wf_op (o : op) : Prop := ft_ok o /\ match o with EChk _ _ _ f _ _ => f <> fi | _ => True end.
  (* For traces. *)
  Theorem goods_le T : (forall o, In o T -> wf_op o) -> forall s1 s2, stle s1 s2 -> goods m1 s1 T -> goods m2 s2 T.
  Proof.
    induction T as [|o T IH]; intros WF s1 s2 Hs H; simpl in *; auto. destruct (WF o (or_introl eq_refl)) as [F1 F2]. destruct H as [G H].
    split; [eapply good_le; eauto|]. eapply IH; [|eapply step_le; eauto|exact H]. intros o' I. apply WF. now right.
  Qed.
End LE.

(* The two modes are in this relation, by computation. *)
Lemma default_le_paper : mode_le default_mode paper_exact.
Proof.
  assert (K : forall l b, forallb (fun f => bit b (up f)) l = true -> mask_le (msk l) b).
  { intros l b H f Hf. rewrite forallb_forall in H. apply H. clear H. induction l as [|a l IH].
    - unfold bit in Hf. change (msk []) with 0%N in Hf. rewrite N.bits_0 in Hf. discriminate.
    - change (msk (a :: l)) with (N.lor (single a) (msk l)) in Hf. unfold bit in Hf, IH. rewrite N.lor_spec in Hf.
      apply orb_true_iff in Hf as [Hf|Hf]; [|right; auto]. pose proof (bit_single a f) as E. unfold bit in E. rewrite E in Hf. apply N.eqb_eq in Hf. now left. }
  split; try (apply K; vm_compute; reflexivity); try discriminate; reflexivity.
Qed.
(* REPAIRS ONLY ADD REPORTS: what mode default accepts, the paper's rules accept. *)
Theorem default_accepts_less t : (forall o, In o (map snd t) -> wf_op o) ->
  (exists s, srun default_mode sst0 t (OK s)) -> exists s, srun paper_exact sst0 t (OK s).
Proof.
  intros WF (s & H). apply srun_goods in H as [G _]. eexists. apply goods_accept.
  eapply (goods_le default_mode paper_exact default_le_paper); eauto. split; auto. split; auto. intros mut p r. now destruct mut.
Qed.
