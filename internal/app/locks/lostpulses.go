package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A lostPulse is a group of threads that wait for a pulse in a method which waits only while a collection is empty. The collection has more items than
// threads wait, nobody holds the monitor, and no code that can still run pulses or takes the items: the pulse came before the wait, or never.
type lostPulse struct {
	lock       *lock
	waits      []*wait
	collection objects.Object
	items      uint64
}

// waitMethod is the method that waits for a pulse, as calls name it.
const waitMethod = "Monitor.Wait"

// findLostPulses sets lostPulses. It concludes nothing where code could not be read: it may be about to take the items.
func (s *survey) findLostPulses() error {
	type place struct {
		lock   *lock
		method target.Addr
	}
	var order []place
	of := map[place][]*wait{}
	frames := map[place]*reach.Frame{}
	for _, w := range s.waits {
		if !w.pulse || w.lock == nil || w.timeout >= 0 || w.lock.Held || w.lock.owner != nil {
			continue
		}
		f, err := s.waitsIn(w.thread)
		if f == nil || err != nil {
			continue
		}
		p := place{w.lock, f.Method.Addr}
		if of[p] == nil {
			order, frames[p] = append(order, p), f
		}
		of[p] = append(of[p], w)
	}
	for _, p := range order {
		f := frames[p]
		o, n, err := s.emptyWhile(of[p][0].thread, &f.Frame, f.Method)
		if err != nil {
			s.gaps.Note(err)
		}
		if n <= uint64(len(of[p])) {
			continue
		}
		class, err := s.r.b.Definition(o.Type)
		if err != nil {
			s.gaps.Note(err)
			continue
		}
		class, _, _ = strings.Cut(class[strings.LastIndexAny(class, ".+")+1:], "`")
		again, err := s.code.Callers(func(method string) (target.Addr, bool) {
			switch {
			case method == f.Name:
				return 0, true
			case method == "Monitor.Pulse", method == "Monitor.PulseAll":
				return p.lock.Address, true
			}
			return o.Addr, removes(method, class)
		})
		if err != nil {
			return err
		}
		if again == nil || again.Outside {
			continue
		}
		waits := func(t *stackwalk.Thread) bool {
			return slices.ContainsFunc(of[p], func(w *wait) bool { return w.thread == t })
		}
		frames, _ := s.code.Frames() // they were read
		others := slices.ContainsFunc(frames, func(other *reach.Frame) bool { return other.Method == f.Method && !waits(other.Thread) })
		for t := range again.Threads {
			others = others || !waits(t)
		}
		if !others {
			s.lostPulses = append(s.lostPulses, lostPulse{p.lock, of[p], o, n})
		}
	}
	return s.ctx.Err()
}

// removes reports whether a method has a name by which collections of a class give items away, or their interfaces.
func removes(method, collection string) bool {
	class, name, _ := strings.Cut(method, ".")
	if class != collection && (len(class) < 2 || class[0] != 'I' || class[1] < 'A' || 'Z' < class[1]) {
		return false
	}
	for _, verb := range []string{"Dequeue", "TryDequeue", "Pop", "TryPop", "Take", "TryTake", "Remove", "TryRemove", "Clear"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// waitsIn returns the innermost frame of a thread with a method of the program that calls Monitor.Wait, or nil.
func (s *survey) waitsIn(t *stackwalk.Thread) (*reach.Frame, error) {
	if _, err := s.code.Frames(); err != nil {
		return nil, err
	}
	for _, f := range s.code.Of(t) {
		calls, err := s.found.tasks.CallsOf(f.Method)
		if err != nil || slices.Contains(calls, waitMethod) {
			return f, err
		}
	}
	return nil, nil
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
	g, err := ilflow.ReadFlow(&body)
	if err != nil {
		return none, 0, err
	}
	for _, a := range sortedValues(tests) {
		if !g.ZeroAt(wait, func(call int) bool { return tests[call] == a }) {
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
