(* AMIR: control expressions, thread maps, statements; concrete events and unrolling (control never depends on data). *)
From Coq Require Import NArith ZArith List Bool Lia.
From Exocheck Require Import Tset Base.
Import ListNotations.

(* ---- control ---- *)
Inductive cx := CK (z : Z) | CV (y : N) | CAdd (a b : cx) | CSub (a b : cx) | CMul (a b : cx) | CDiv (a b : cx) | CMod (a b : cx).
Inductive bx := BT | BLe (a b : cx) | BLt (a b : cx) | BEq (a b : cx) | BNot (a : bx) | BAnd (a b : bx) | BOr (a b : bx).
Definition cenv := list (N * Z).
Fixpoint look (s : cenv) (y : N) : Z := match s with [] => 0%Z | (x, z) :: s' => if N.eqb x y then z else look s' y end.
Fixpoint cev (s : cenv) (e : cx) : Z :=
  match e with
  | CK z => z | CV y => look s y
  | CAdd a b => cev s a + cev s b | CSub a b => cev s a - cev s b | CMul a b => cev s a * cev s b
  | CDiv a b => cev s a / cev s b | CMod a b => cev s a mod cev s b
  end%Z.
Fixpoint bev (s : cenv) (e : bx) : bool :=
  match e with
  | BT => true | BLe a b => (cev s a <=? cev s b)%Z | BLt a b => (cev s a <? cev s b)%Z | BEq a b => (cev s a =? cev s b)%Z
  | BNot a => negb (bev s a) | BAnd a b => bev s a && bev s b | BOr a b => bev s a || bev s b
  end.

(* ---- windowed accesses ---- *)
Inductive win := Pt (c : cx) | Rg (lo hi : cx).      (* point | inclusive range *)
Record acx := { av : N; aext : list cx; awin : list win; aclip : bool }.
Fixpoint zrange (lo : Z) (n : nat) : list Z := match n with O => [] | S k => lo :: zrange (lo + 1) k end.
Definition weval s w := match w with Pt c => [cev s c] | Rg lo hi => zrange (cev s lo) (Z.to_nat (cev s hi - cev s lo + 1)) end.
Fixpoint prod (l : list (list Z)) : list (list Z) :=
  match l with [] => [[]] | xs :: r => let pr := prod r in flat_map (fun x => map (cons x) pr) xs end.
Fixpoint inside (ext idx : list Z) : bool :=
  match ext, idx with
  | [], [] => true
  | e :: ext', i :: idx' => (0 <=? i)%Z && (i <? e)%Z && inside ext' idx'
  | _, _ => false
  end.
Definition aeval (s : cenv) (a : acx) : option (list elem) :=
  let ext := map (cev s) (aext a) in
  let all := prod (map (weval s) (awin a)) in
  if aclip a then Some (map (pair (av a)) (filter (inside ext) all))
  else if forallb (inside ext) all then Some (map (pair (av a)) all) else None.
Fixpoint aevals s (l : list acx) : option (list elem) :=
  match l with
  | [] => Some []
  | a :: r => match aeval s a, aevals s r with Some x, Some y => Some (x ++ y) | _, _ => None end
  end.

(* ---- thread maps (cuboids) ---- *)
(* One dimension: coordinates [t_lo, t_lo + t_box) of [0, t_ext).  The start is an affine function of iterators. *)
Record tdim := { t_ext : Z; t_lo : cx; t_box : Z }.
Inductive tmap := TAll | TCub (dims : list tdim).
Definition dim (ext : Z) (lo : cx) (box : Z) : tdim := {| t_ext := ext; t_lo := lo; t_box := box |}.
Definition all_of (ext : Z) : tdim := dim ext (CK 0) ext.
Fixpoint ranges s (dims : list tdim) : option (list (Z * Z * Z)) :=
  match dims with
  | [] => Some []
  | d :: r =>
      let lo := cev s (t_lo d) in
      if ((0 <=? lo) && (0 <? t_box d) && (lo + t_box d <=? t_ext d))%Z
      then match ranges s r with Some l => Some ((lo, t_box d, t_ext d) :: l) | None => None end
      else None
  end.
Definition prodD (l : list (Z * Z * Z)) : Z := fold_right (fun x a => snd x * a)%Z 1%Z l.
Definition full (l : list (Z * Z * Z)) : bool := forallb (fun x => (fst (fst x) =? 0)%Z && (snd (fst x) =? snd x)%Z) l.
Fixpoint cub (base : Z) (l : list (Z * Z * Z)) : tset :=
  match l with
  | [] => itv (Z.to_N base) (Z.to_N (base + 1))
  | (off, box, _) :: r =>
      let str := prodD r in
      if full r then itv (Z.to_N (base + off * str)) (Z.to_N (base + (off + box) * str))
      else flat_map (fun c => cub (base + c * str) r) (zrange off (Z.to_nat box))
  end.
Definition teval (stride : Z) (iota : Z) (s : cenv) (f : tmap) : option tset :=
  match f with
  | TAll => Some tall
  | TCub dims => if (prodD (map (fun d => (0, 0, t_ext d)) dims) <=? stride)%Z
                 then match ranges s dims with Some l => Some (cub (iota * stride) l) | None => None end
                 else None
  end%Z.

(* ---- statements ---- *)
Inductive leaf :=
| LAlloc (a : acx)
| LRec (mut cvg ooo : bool) (a : acx) (q : qtl) (Qa : mask) (Zs : list acx)
| LChk (mut cvg : bool) (need : flag) (a : acx) (Q : mask)
| LBar (a : acx)
| LFence (tr : bool) (Q1 F T : mask)
| LArrive (tr : bool) (Q1 : mask) (home : acx) (Es : list acx)
| LAwait (home : acx) (F T : mask) (n : Z) (one : bool).
Inductive stmt :=
| Skip | Seq (a b : stmt) | For (y : N) (lo hi : cx) (s : stmt) | If (b : bx) (s : stmt) | IncTask | Leaf (lab : N) (f : tmap) (l : leaf).

(* ---- concrete events ---- *)
Inductive op :=
| EAlloc (es : list elem)
| ERec (mut cvg ooo : bool) (C : tset) (es : list elem) (q : qtl) (Qa : mask) (Zs : list elem)
| EChk (mut cvg : bool) (C : tset) (need : flag) (es : list elem) (Q : mask)
| EBar (es : list elem)
| EFence (tr : bool) (C : tset) (Q1 F T : mask)
| EArrive (tr : bool) (C : tset) (Q1 : mask) (h : elem) (Es : list elem)
| EAwait (C : tset) (b : elem) (F T : mask) (n : Z) (one : bool)
| EBad.
Definition event := (N * op)%type.
Definition trace := list event.

Definition leval (stride iota : Z) (s : cenv) (f : tmap) (l : leaf) : op :=
  match teval stride iota s f with
  | None => EBad
  | Some C =>
    match l with
    | LAlloc a => match aeval s a with Some es => EAlloc es | None => EBad end
    | LRec mut cvg ooo a q Qa Zs =>
        match aeval s a, aevals s Zs with Some es, Some zs => ERec mut cvg ooo C es q Qa zs | _, _ => EBad end
    | LChk mut cvg need a Q => match aeval s a with Some es => EChk mut cvg C need es Q | None => EBad end
    | LBar a => match aeval s a with Some es => EBar es | None => EBad end
    | LFence tr Q1 F T => EFence tr C Q1 F T
    | LArrive tr Q1 h Es => match aeval s h, aevals s Es with Some [p], Some es => EArrive tr C Q1 p es | _, _ => EBad end
    | LAwait h F T n one => match aeval s h with Some [p] => EAwait C p F T n one | _ => EBad end
    end
  end.

Section Unroll.
  Variable stride : Z.
  Fixpoint unroll (s : stmt) (iota : Z) (sg : cenv) : trace * Z :=
    match s with
    | Skip => ([], iota)
    | Seq a b => let (t1, i1) := unroll a iota sg in let (t2, i2) := unroll b i1 sg in (t1 ++ t2, i2)
    | For y lo hi b =>
        (fix it (k : nat) (i : Z) (iota : Z) : trace * Z :=
           match k with
           | O => ([], iota)
           | S k' => let (t1, i1) := unroll b iota ((y, i) :: sg) in
                     let (t2, i2) := it k' (i + 1)%Z i1 in (t1 ++ t2, i2)
           end) (Z.to_nat (cev sg hi - cev sg lo)) (cev sg lo) iota
    | If b s => if bev sg b then unroll s iota sg else ([], iota)
    | IncTask => ([], (iota + 1)%Z)
    | Leaf lab f l => ([(lab, leval stride iota sg f l)], iota)
    end.
  Fixpoint unroll_loop (b : stmt) (y : N) (sg : cenv) (k : nat) (i iota : Z) : trace * Z :=
    match k with
    | O => ([], iota)
    | S k' => let (t1, i1) := unroll b iota ((y, i) :: sg) in
              let (t2, i2) := unroll_loop b y sg k' (i + 1)%Z i1 in (t1 ++ t2, i2)
    end.
  (* A loop unrolls like the function that counts its iterations down. *)
  Lemma unroll_for y lo hi b iota sg :
    unroll (For y lo hi b) iota sg = unroll_loop b y sg (Z.to_nat (cev sg hi - cev sg lo)) (cev sg lo) iota.
  Proof.
    simpl. generalize (Z.to_nat (cev sg hi - cev sg lo)). generalize (cev sg lo).
    intros z k. revert iota z. induction k as [|k IHk]; intros iota z; simpl; auto.
    destruct (unroll b iota ((y, z) :: sg)) as [t1 i1]. now rewrite IHk.
  Qed.
End Unroll.
