(* What a certificate imports: the words it is written in, and the theorems that turn one evaluation into a verdict. *)
From Coq Require Export NArith ZArith List Bool Lia.
From Exocheck Require Export Tset Base Amir Rules Interp InterpCorrect Graph SeqPar EndToEnd Disc Fast Param Collapse Defects AllK.
Export ListNotations.
Local Open Scope Z_scope.

(* ---- words of the exporter ---- *)
Definition seqs (l : list stmt) : stmt := fold_right Seq Skip l.
Definition access (v : N) (ext : list Z) (ws : list win) : acx := {| av := v; aext := map CK ext; awin := ws; aclip := false |}.
Definition clipped (v : N) (ext : list Z) (ws : list win) : acx := {| av := v; aext := map CK ext; awin := ws; aclip := true |}.

(* ---- accepted, after dropping the tiles; any mode ---- *)
Theorem accepted_collapsed m stride tiles s :
  match col tiles s with Some s' => is_okb (interp m stride s' 0 [] xst0) | None => false end = true -> accepts m stride s.
Proof.
  destruct (col tiles s) as [s'|] eqn:E; [|discriminate]. intros H.
  apply (collapse_accepts m tiles stride s s' E). now apply cert_checked.
Qed.

(* ---- rejected: the statement, the kind of error, the element ---- *)
Definition kind_eqb (a b : ekind) : bool :=
  match a, b with KMut, KMut | KRead, KRead | KBar, KBar | KProg, KProg | KBad, KBad => true | _, _ => false end.
Definition err_eqb (a b : err) : bool :=
  let '(l, k, p) := a in let '(l', k', p') := b in
  N.eqb l l' && kind_eqb k k' && match p, p' with None, None => true | Some x, Some y => eeqb x y | _, _ => false end.
Lemma err_eqb_eq a b : err_eqb a b = true -> a = b.
Proof.
  destruct a as [[l k] p], b as [[l' k'] p']. simpl. rewrite !andb_true_iff, N.eqb_eq. intros [[-> K] E].
  assert (k = k') as -> by (destruct k, k'; try discriminate; reflexivity).
  destruct p, p'; try discriminate; [|reflexivity]. now apply eeqb_spec in E as ->.
Qed.
Definition is_errb (o : xout) (e : err) : bool := match o with XOK _ => false | XER e' => err_eqb e' e end.
Theorem rejected_by_evaluation m stride s e : is_errb (interp m stride s 0 [] xst0) e = true -> rejects m stride s e.
Proof.
  destruct (interp m stride s 0 [] xst0) as [x|e'] eqn:E; [discriminate|]. simpl. intros H. apply err_eqb_eq in H as <-.
  now apply cert_err.
Qed.

(* ---- rejected, after dropping the tiles: the statement and the kind of error ---- *)
Definition is_kindb (o : xout) (l : N) (k : ekind) : bool :=
  match o with XOK _ => false | XER (l', k', _) => if N.eqb l l' then kind_eqb k k' else false end.
Theorem rejected_collapsed m stride tiles s l k :
  match col tiles s with Some s' => is_kindb (interp m stride s' 0 [] xst0) l k | None => false end = true -> exists p, rejects m stride s (l, k, p).
Proof.
  destruct (col tiles s) as [s'|] eqn:E; [|discriminate]. intros H.
  destruct (interp m stride s' 0 [] xst0) as [x|[[l' k'] p']] eqn:I; simpl in H; [discriminate|].
  destruct (N.eqb_spec l l') as [<-|]; [|discriminate].
  assert (k = k') as <- by (destruct k, k'; try discriminate; reflexivity).
  apply (collapse_rejects m tiles stride s s' l k p' E). now apply cert_err.
Qed.

(* ---- verdicts of traces, for the batches of random ones ---- *)
Definition trace_verdict (m : mode) (t : trace) : option err := match xrun m xst0 t with XOK _ => None | XER e => Some e end.
Definition verdict_is (m : mode) (t : trace) (v : option err) : bool :=
  match trace_verdict m t, v with None, None => true | Some e, Some e' => err_eqb e e' | _, _ => false end.
Theorem verdict_is_rejected m t e : verdict_is m t (Some e) = true -> srun m sst0 t (ER e).
Proof.
  unfold verdict_is, trace_verdict. destruct (xrun_correct m t xst0 sst0 rep0) as (o & R & O).
  destruct (xrun m xst0 t) as [x|e'], o; simpl in O; try contradiction; try discriminate.
  intros H. apply err_eqb_eq in H as <-. now subst.
Qed.
Theorem verdict_is_accepted m t : verdict_is m t None = true -> exists s, srun m sst0 t (OK s).
Proof.
  unfold verdict_is, trace_verdict. destruct (xrun_correct m t xst0 sst0 rep0) as (o & R & O).
  destruct (xrun m xst0 t) as [x|e'], o as [s|]; simpl in O; try contradiction; try discriminate. intros _. eauto.
Qed.
