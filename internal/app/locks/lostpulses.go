package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A lostPulse is a group of threads that wait for a pulse in a method which waits only while a collection is empty. The collection has more items than
// threads wait, and nobody holds the monitor: the pulse came before the wait, or never.
type lostPulse struct {
	lock       *lock
	waits      []*wait
	collection objects.Object
	items      uint64
}

// waitMethod is the method that waits for a pulse, as calls name it.
const waitMethod = "Monitor.Wait"

// findLostPulses sets lostPulses. It concludes nothing where a thread could not be read: it may be about to take the items.
func (s *survey) findLostPulses() error {
	type place struct {
		lock   *lock
		method target.Addr
	}
	var order []place
	of := map[place][]*wait{}
	frames := map[place]stackwalk.Frame{}
	in, calling := map[target.Addr][]*stackwalk.Thread{}, map[target.Addr][]*stackwalk.Thread{} // by method
	if s.lost || !slices.ContainsFunc(s.waits, func(w *wait) bool { return w.pulse && w.lock != nil }) {
		return nil
	}
	known := map[target.Addr]*methodCalls{}
	pulsed := map[*stackwalk.Thread]*wait{}
	for _, w := range s.waits {
		if w.pulse && w.lock != nil {
			pulsed[w.thread] = w
		}
	}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		w := pulsed[t]
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if f.Missing() != nil {
				return s.ctx.Err()
			}
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md == nil {
				continue
			}
			var m *methodCalls
			if err == nil {
				m, err = s.calls(f.Runtime, md, known, func(name string) bool { return name == waitMethod })
			}
			if err == nil {
				err = s.reaches(m)
			}
			if err != nil {
				return s.ctx.Err() // the thread may be in any method
			}
			for _, other := range m.reach.Methods {
				calling[other] = append(calling[other], t)
			}
			if len(m.list) == 0 {
				continue
			}
			in[md.Addr] = append(in[md.Addr], t)
			if w != nil && w.timeout < 0 {
				p := place{w.lock, md.Addr}
				if of[p] == nil {
					order, frames[p] = append(order, p), f
				}
				of[p] = append(of[p], w)
			}
			w = nil // its callers do not stand in this wait
		}
	}
	for _, p := range order {
		waits := func(t *stackwalk.Thread) bool {
			return slices.ContainsFunc(of[p], func(w *wait) bool { return w.thread == t })
		}
		others := slices.ContainsFunc(slices.Concat(in[p.method], calling[p.method]), func(t *stackwalk.Thread) bool { return !waits(t) })
		if p.lock.Held || p.lock.owner != nil || others {
			continue
		}
		f := frames[p]
		md, err := f.Method()
		if err != nil {
			continue
		}
		o, n, err := s.emptyWhile(of[p][0].thread, &f, md)
		if err != nil {
			s.gaps.Note(err)
		}
		if n > uint64(len(of[p])) && !s.mayPulse(of[p]) {
			s.lostPulses = append(s.lostPulses, lostPulse{p.lock, of[p], o, n})
		}
	}
	return s.ctx.Err()
}

// mayPulse reports whether code outside of waits may pulse: another thread, suspended code, a callback, or an item of the thread pool.
func (s *survey) mayPulse(waits []*wait) bool {
	if s.pool == nil && s.queued() != nil || len(s.items) > 0 {
		return true
	}
	pulses := func(method string) bool { return method == "Monitor.Pulse" || method == "Monitor.PulseAll" }
	for m, err := range s.set.Suspended(s.ctx, pulses, nil) {
		if err != nil || m.Err != nil || len(m.Calls)+len(m.Later) > 0 {
			return true
		}
	}
	group := map[*stackwalk.Thread]bool{}
	for _, w := range waits {
		group[w.thread] = true
	}
	return s.fromOutside(group, pulses)
}

// emptyWhile returns the collection that must be empty where a method waits, with the number of its items, which is 0 if the code shows no such collection.
func (s *survey) emptyWhile(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc) (none objects.Object, n uint64, err error) {
	body, err := dac.CodeOf(f.Runtime).IL(md)
	if err != nil {
		return none, 0, err
	}
	around, err := s.around(t, f, md)
	if err != nil {
		return none, 0, nil //nolint:nilerr // without a place in the code nothing is concluded
	}
	wait, tests := -1, map[int]target.Addr{} // the offsets of calls
	for _, c := range slices.Concat(around.Before, around.Later) {
		switch {
		case c.Through != "":
		case c.Method == waitMethod && wait >= 0 && wait != c.Offset:
			return none, 0, nil
		case c.Method == waitMethod:
			wait = c.Offset
		case c.Object != 0 && strings.HasSuffix(c.Method, ".get_Count"):
			tests[c.Offset] = c.Object
		}
	}
	if wait < 0 || len(tests) == 0 {
		return none, 0, nil
	}
	g, err := readFlow(&body)
	if err != nil {
		return none, 0, err
	}
	for _, a := range sortedValues(tests) {
		if !g.zeroAt(wait, func(call int) bool { return tests[call] == a }) {
			continue
		}
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			return none, 0, err
		}
		n, _, err := objects.NewCollections(s.r.b).CountOf(o)
		return o, n, err
	}
	return none, 0, nil
}

// sortedValues returns the distinct values of a map in order.
func sortedValues(m map[int]target.Addr) (out []target.Addr) {
	for _, a := range m {
		out = append(out, a)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A flow is the control flow of a method.
type flow struct {
	code    []metadata.Instruction
	at      map[int]int // index by offset
	entries []int       // offsets at which the method and its handlers begin
}

func readFlow(body *metadata.MethodBody) (*flow, error) {
	g := &flow{at: map[int]int{}, entries: []int{0}}
	for in, err := range metadata.Instructions(body.Code) {
		if err != nil {
			return nil, err
		}
		g.at[in.Offset] = len(g.code)
		g.code = append(g.code, in)
	}
	for i := range body.Clauses {
		g.entries = append(g.entries, int(body.Clauses[i].HandlerOffset))
	}
	return g, nil
}

// zeroAt reports whether no path leads to the instruction at an offset but through the branch of a test that its number is 0. isTest reports whether
// the call at an offset returns the number. A path that goes through the instruction counts from there on.
func (g *flow) zeroAt(offset int, isTest func(call int) bool) bool {
	zero := map[[2]int]bool{} // the edges, by offsets
	for i := range g.code {
		if isTest(g.code[i].Offset) {
			if from, to, ok := g.zeroBranch(i + 1); ok {
				zero[[2]int{from, to}] = true
			}
		}
	}
	if len(zero) == 0 {
		return false
	}
	seen := map[int]bool{}
	todo := slices.Clone(g.entries)
	if i, ok := g.at[offset]; ok && i+1 < len(g.code) {
		todo = append(todo, g.code[i+1].Offset)
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok || seen[at] {
			continue
		}
		if at == offset {
			return false
		}
		seen[at] = true
		for _, to := range g.next(i) {
			if !zero[[2]int{at, to}] {
				todo = append(todo, to)
			}
		}
	}
	return true
}

// endless reports whether the innermost method of the program on a thread's stack has no way out of the loop that it is in: it neither ends nor
// leaves a block, and calls nothing that could release a lock. An exception may end it all the same.
func (s *survey) endless(t *stackwalk.Thread) bool {
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err == nil && answer.LibraryMethod(name) {
			continue
		}
		if err != nil {
			return false
		}
		body, err := dac.CodeOf(f.Runtime).IL(md)
		if err != nil {
			return false
		}
		around, err := s.around(t, &f, md)
		if err != nil {
			return false
		}
		at, err := ilOffset(&f)
		if err != nil {
			return false
		}
		g, err := readFlow(&body)
		if err != nil {
			return false
		}
		reached, ends := g.from(at)
		return !ends && !slices.ContainsFunc(slices.Concat(around.Before, around.Later), func(c tasks.Call) bool {
			return reached[c.Offset] && (c.Unknown || strings.HasPrefix(c.Method, "Monitor.") || strings.Contains(c.Method, "Exit") || strings.Contains(c.Method, "Release"))
		})
	}
	return false
}

// from returns the offsets that may be reached from an offset on, and whether the method, or a protected block, may be left there. It may if the
// offset is no instruction's.
func (g *flow) from(offset int) (reached map[int]bool, ends bool) {
	reached = map[int]bool{}
	for todo := []int{offset}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, ok := g.at[at]
		if !ok {
			return reached, true
		}
		if reached[at] {
			continue
		}
		reached[at] = true
		next := g.next(i)
		if len(next) == 0 || strings.HasPrefix(g.code[i].Opcode.String(), "leave") {
			return reached, true
		}
		todo = append(todo, next...)
	}
	return reached, false
}

// next returns the offsets of the instructions that may follow the instruction at index i.
func (g *flow) next(i int) (out []int) {
	in := &g.code[i]
	name := in.Opcode.String()
	switch {
	case name == "ret", name == "jmp", strings.HasSuffix(name, "throw"), strings.HasPrefix(name, "endf"):
		return nil
	case name == "switch":
		out = slices.AppendSeq(out, in.Targets())
	case isBranch(in):
		if out = append(out, in.Target()); name == "br" || name == "br.s" || strings.HasPrefix(name, "leave") {
			return out
		}
	}
	if i+1 < len(g.code) {
		out = append(out, g.code[i+1].Offset)
	}
	return out
}

// zeroBranch returns the edge of the branch that is taken where a number on the stack is 0 before the instruction at index i.
func (g *flow) zeroBranch(i int) (from, to int, ok bool) {
	name := func(i int) string {
		if i >= len(g.code) {
			return ""
		}
		return strings.TrimSuffix(g.code[i].Opcode.String(), ".s")
	}
	jumps, falls := []string{"brfalse"}, []string{"brtrue"} // where the number is 0
	switch name(i) {
	case "ldc.i4.1": // less than 1
		i, jumps, falls = i+1, []string{"blt"}, []string{"bge"}
	case "ldc.i4.0":
		jumps, falls = []string{"beq", "ble"}, []string{"bne.un", "bgt", "bgt.un"}
		switch i++; name(i) {
		case "ceq":
			i, jumps, falls = i+1, []string{"brtrue"}, []string{"brfalse"}
		case "cgt", "cgt.un":
			i, jumps, falls = i+1, []string{"brfalse"}, []string{"brtrue"}
		}
		if strings.HasPrefix(name(i), "stloc") && strings.HasPrefix(name(i+1), "ldloc") { // as without optimization
			i += 2
		}
	}
	switch {
	case slices.Contains(jumps, name(i)):
		return g.code[i].Offset, g.code[i].Target(), true
	case slices.Contains(falls, name(i)) && i+1 < len(g.code):
		return g.code[i].Offset, g.code[i+1].Offset, true
	}
	return 0, 0, false
}

// lostPulses describes the threads that wait for a pulse although there is what they wait for.
func (g *grapher) lostPulses() (out []answer.Verdict) {
	for _, p := range g.s.lostPulses {
		class := g.s.gaps.Text(p.collection.Type.ManagedName())
		first := p.waits[0]
		v := answer.Conclude(answer.FindingWait, words.LostPulse.Of(g.waiting(p.waits), words.PulseOf.Of(words.Type(p.lock.Type.String())), g.addressName(p.lock.Address), g.placeOf(first),
			words.Type(class.String()), g.addressName(p.collection.Addr), words.N(p.items)), answer.StrengthLikely, g.evidences(p.waits)...)
		v.Because(words.EmptyIL.Of())
		v.Count, v.Sites, v.Thing = len(p.waits), g.sites(p.waits), g.lockName(p.lock).Text
		v.Show = append([]string{"dumpobj " + addressText(p.collection.Addr)}, g.show(first)...)
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b answer.Verdict) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
