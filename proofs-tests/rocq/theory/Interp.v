(* The executable machine: records are grant lists over symbolic thread sets, the per-thread records of a
   non-convergent access are one family.  Nothing is enumerated per thread. *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base Amir Rules.
Import ListNotations.

Record grant := { gK : tset; gQ : mask; gF : mask }.
Definition pend := (elem * bool * Z)%type.
Record xrec := { xq : qtl; xfam : bool; xown : tset; xini : mask; xat : mask; xgr : list grant; xP : list pend }.
Record xcell := { xR : list xrec; xM : list xrec; xa : Z; xw : Z }.
Definition xst := list (elem * xcell).
Definition cell0 : xcell := {| xR := []; xM := []; xa := 0; xw := 0 |}.
Definition xst0 : xst := [].
Fixpoint get (x : xst) (p : elem) : xcell := match x with [] => cell0 | (k, c) :: r => if eeqb p k then c else get r p end.
Fixpoint has (x : xst) (p : elem) : bool := match x with [] => false | (k, _) :: r => eeqb p k || has r p end.
Definition ensure (es : list elem) (x : xst) : xst := fold_right (fun p x => if has x p then x else (p, cell0) :: x) x es.
Definition mapk (f : elem -> xcell -> xcell) (x : xst) : xst := map (fun kc => (fst kc, f (fst kc) (snd kc))) x.
Definition xsel (mut : bool) (c : xcell) := if mut then xM c else xR c.

Fixpoint ts_eqb (a b : tset) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => N.eqb x y && ts_eqb a' b' | _, _ => false end.
Definition g_eqb (a b : grant) := if N.eqb (gQ a) (gQ b) then if N.eqb (gF a) (gF b) then ts_eqb (gK a) (gK b) else false else false.
Definition add_grant (K : tset) (Q F : mask) (l : list grant) : list grant :=
  let g := {| gK := K; gQ := Q; gF := F |} in
  if N.eqb Q 0 || N.eqb F 0 || anyb (g_eqb g) l then l else g :: l.
Definition p_dom (b : elem) (s : bool) (k : Z) (e : pend) : bool :=
  let '(b', s', k') := e in if Bool.eqb s s' then if (k' <=? k)%Z then eeqb b b' else false else false.
Definition add_pend (b : elem) (s : bool) (k : Z) (l : list pend) : list pend :=
  if anyb (p_dom b s k) l then l else (b, s, k) :: l.

Definition with_own (x : xrec) (o : tset) : xrec :=
  {| xq := xq x; xfam := xfam x; xown := o; xini := xini x; xat := xat x; xgr := xgr x; xP := xP x |}.
Definition with_gr (x : xrec) (g : list grant) : xrec :=
  {| xq := xq x; xfam := xfam x; xown := xown x; xini := xini x; xat := xat x; xgr := g; xP := xP x |}.
Definition with_P (x : xrec) (p : list pend) : xrec :=
  {| xq := xq x; xfam := xfam x; xown := xown x; xini := xini x; xat := xat x; xgr := xgr x; xP := p |}.

Section Mode.
  Variable m : mode.

  (* witness through grants / through the issuing thread(s) *)
  Definition com (x : xrec) (C : tset) (wq : mask) (s : bool) : bool :=
    anyb (fun g => if bit (gF g) (wfl s) then if mmeet (gQ g) wq then tmeet (gK g) C else false else false) (xgr x).
  Definition slf (x : xrec) (wq : mask) (s : bool) : bool := bit (xini x) (wfl s) && bit wq (xq x).

  (* effect of an event on a record picked up with strengths e *)
  Definition app (o : op) (k : Z) (e : bool -> bool) (x : xrec) : xrec :=
    match o with
    | EFence _ C _ F T | EAwait C _ F T _ _ =>
        let g := if e true then add_grant C F (m_sf m) (add_grant C (N.ldiff T F) (m_st m) (xgr x)) else xgr x in
        with_gr x (if e false then add_grant C T (m_wt m) g else g)
    | EArrive _ _ _ _ Es =>
        let p := if e true then fold_right (fun b => add_pend b true k) (xP x) Es else xP x in
        with_P x (if e false then fold_right (fun b => add_pend b false k) p Es else p)
    | _ => x
    end.
  Definition wqs (x : xrec) (tr : bool) (Q1 : mask) : mask := if tr then Q1 else N.land Q1 (single (xq x)).

  Definition xup (o : op) (k : Z) (x : xrec) : list xrec :=   (* k: arrival index, or amax *)
    match o with
    | EFence tr C Q1 _ _ | EArrive tr C Q1 _ _ =>
        let wq := wqs x tr Q1 in
        let c1 := com x C wq true in let c0 := com x C wq false in
        let s1 := slf x wq true in let s0 := slf x wq false in
        if xfam x then
          if Bool.eqb (c1 || s1) c1 && Bool.eqb (c0 || s0) c0 then [app o k (fun s => if s then c1 else c0) x]
          else let i := tinter (xown x) C in let d := tdiff (xown x) C in
               (if tempty i then [] else [app o k (fun s => if s then c1 || s1 else c0 || s0) (with_own x i)]) ++
               (if tempty d then [] else [app o k (fun s => if s then c1 else c0) (with_own x d)])
        else let t := tmeet (xown x) C in
             [app o k (fun s => if s then c1 || (s1 && t) else c0 || (s0 && t)) x]
    | EAwait _ b _ _ _ _ =>
        let f s := anyb (p_dom b s k) (xP x) in
        let f1 := f true in let f0 := f false in
        [app o k (fun s => if s then f1 else f0) x]
    | _ => [x]
    end.
  Definition xlift (o : op) (k : Z) (x : xst) : xst :=
    mapk (fun _ c => {| xR := flat_map (xup o k) (xR c); xM := flat_map (xup o k) (xM c); xa := xa c; xw := xw c |}) x.

  (* checks *)
  Definition comQ (x : xrec) (Q : mask) (f : flag) (g : tid) : bool :=
    if anyb (fun gr => if bit (gF gr) f then if mmeet (gQ gr) Q then mem g (gK gr) else false else false) (xgr x) then true else N.eqb f fa && mmeet (xat x) Q.
  Definition pts (x : xrec) (K : tset) : list N := K ++ xown x ++ flat_map gK (xgr x).
  Definition visb (x : xrec) (self : tid -> bool) (more : list N) (cvg : bool) (K : tset) (Q : mask) (f : flag) : bool :=
    let sok := bit (xini x) f && bit Q (xq x) in
    if cvg then anyp (more ++ pts x K) (fun g => if mem g K then if comQ x Q f g then true else sok && self g else false)
    else allp (more ++ pts x K) (fun g => if mem g K then if comQ x Q f g then true else sok && self g else true).
  Definition xvis (x : xrec) (cvg : bool) (K : tset) (Q : mask) (f : flag) : bool :=
    if xfam x then
      if visb x (fun _ => false) [] cvg K Q f then true else
      allp (pts x K) (fun u => if mem u (xown x) then visb x (N.eqb u) [u; N.succ u] cvg K Q f else true)
    else visb x (fun g => mem g (xown x)) [] cvg K Q f.

  Definition newx (cvg ooo : bool) (C : tset) q Qa (Zs : list elem) (x : xst) : xrec := {|
    xq := q; xfam := negb (grouped m cvg q); xown := C; xini := if ooo then m_ooo m else m_in m; xat := Qa; xgr := [];
    xP := flat_map (fun b => let k := xa (get x b) in [(b, true, k); (b, false, k)]) Zs |}.

  Definition xrecord (mut cvg ooo : bool) C (es : list elem) q Qa Zs (x : xst) : xst :=
    let N := newx cvg ooo C q Qa Zs x in
    mapk (fun p c => if inE p es then
        if mut then {| xR := if keeps m false q Qa then xR c else [];
                       xM := if keeps m true q Qa then N :: xM c else [N]; xa := xa c; xw := xw c |}
        else {| xR := N :: xR c; xM := xM c; xa := xa c; xw := xw c |}
      else c) (ensure es x).
  Definition xset (b : elem) (f : xcell -> xcell) (x : xst) : xst := mapk (fun p c => if eeqb p b then f c else c) (ensure [b] x).

  Definition xdrop (es : list elem) (r : xrec) : xrec :=
    match xP r with [] => r | _ => with_P r (filter (fun e => negb (inE (fst (fst e)) es)) (xP r)) end.
  Definition xalloc (es : list elem) (x : xst) : xst :=
    mapk (fun _ c => {| xR := map (xdrop es) (xR c); xM := map (xdrop es) (xM c); xa := xa c; xw := xw c |})
      (filter (fun kc => negb (inE (fst kc) es)) x).

  Inductive xout := XOK (x : xst) | XER (e : err).
  Fixpoint first {A} (bad : A -> bool) (l : list A) : option A :=
    match l with [] => None | a :: l' => if bad a then Some a else first bad l' end.

  Definition xstep (x : xst) (ev : event) : xout :=
    let (l, o) := ev in
    match o with
    | EAlloc es => XOK (xalloc es x)
    | ERec mut cvg ooo C es q Qa Zs => XOK (xrecord mut cvg ooo C es q Qa Zs x)
    | EChk mut cvg C f es Q =>
        match first (fun p => negb (allb (fun r => xvis r cvg C Q f) (xsel mut (get x p)))) es with
        | None => XOK x | Some p => XER (l, if mut then KMut else KRead, Some p)
        end
    | EBar es => match first (fun p => negb (Z.eqb (xa (get x p)) (xw (get x p)))) es with
                 | None => XOK x | Some p => XER (l, KBar, Some p) end
    | EFence _ _ _ _ _ => XOK (xlift o 0 x)
    | EArrive _ _ _ h _ =>
        let k := xa (get x h) in
        XOK (xset h (fun c => {| xR := xR c; xM := xM c; xa := (k + 1)%Z; xw := xw c |}) (xlift o k x))
    | EAwait _ b _ _ n one =>
        let a := xa (get x b) in let w := xw (get x b) in
        if progZ m a w n one then XER (l, KProg, Some b)
        else XOK (xset b (fun c => {| xR := xR c; xM := xM c; xa := xa c; xw := wnextZ a w n |}) (xlift o (amaxZ a w n) x))
    | EBad => XER (l, KBad, None)
    end.
  Fixpoint xrun (x : xst) (t : trace) : xout :=
    match t with [] => XOK x | e :: t' => match xstep x e with XOK x' => xrun x' t' | XER e => XER e end end.
  Definition interp (stride : Z) (s : stmt) (iota : Z) (sg : cenv) (x : xst) : xout := xrun x (fst (unroll stride s iota sg)).
End Mode.
