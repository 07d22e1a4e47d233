(* Sequential-parallel equivalence for every trip count, from one computation on a (collapsed) program. *)
From Coq Require Import NArith ZArith List Bool Lia Arith.
From Exocheck Require Import Tset Base Amir Rules Interp InterpCorrect Graph Linear SeqPar EndToEnd Disc Fast Param Collapse.
Import ListNotations.
Local Open Scope Z_scope.

Section AllK.
  Variables (stride : Z) (pro : stmt) (y : N) (body epi : stmt).
  Variable tiles : list (N * (nat * list Z)).       (* dropped tile dimensions *)
  Variables (tbl : list (N * Z)) (kmin k0 : Z) (p : nat).

  Definition all_k_ok : bool :=
    match col tiles pro, col tiles body, col tiles epi with
    | Some pro', Some body', Some epi' => param_ok default_mode stride pro' y body' epi' tbl kmin k0 p && disciplined_prog (prog pro y body epi 0)
    | _, _, _ => false
    end.
  (* One evaluation on the collapsed program: accepted, and sequential = parallel, FOR EVERY TRIP COUNT. *)
  Theorem sequential_for_all_K : all_k_ok = true -> forall K, kmin <= K ->
    accepts default_mode stride (prog pro y body epi K) /\
    seq_par_equivalent default_mode (fst (unroll stride (prog pro y body epi K) 0 [])).
  Proof.
    unfold all_k_ok. destruct (col tiles pro) as [pro'|] eqn:E1; [|discriminate]. destruct (col tiles body) as [body'|] eqn:E2; [|discriminate].
    destruct (col tiles epi) as [epi'|] eqn:E3; [|discriminate]. rewrite andb_true_iff. intros [Pk D] K HK.
    assert (A : accepts default_mode stride (prog pro y body epi K)).
    { apply (collapse_accepts default_mode tiles stride _ (prog pro' y body' epi' K)).
      - unfold prog. simpl. now rewrite E1, E2, E3.
      - eapply accepted_for_all_K; eauto. }
    split; auto. apply checked_programs_are_sequential; auto.
  Qed.

  (* one size *)
  Definition one_ok (s : stmt) : bool :=
    match col tiles s with
    | Some s' => is_okb (interp default_mode stride s' 0 [] xst0) && disciplined_prog s
    | None => false
    end.
  (* The same for one size. *)
  Theorem sequential_for_one s : one_ok s = true ->
    accepts default_mode stride s /\ seq_par_equivalent default_mode (fst (unroll stride s 0 [])).
  Proof.
    unfold one_ok. destruct (col tiles s) as [s'|] eqn:E; [|discriminate]. rewrite andb_true_iff. intros [H D].
    assert (A : accepts default_mode stride s) by (apply (collapse_accepts default_mode tiles stride s s' E); now apply cert_checked).
    split; auto. apply checked_programs_are_sequential; auto.
  Qed.
End AllK.
