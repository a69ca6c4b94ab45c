package locks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A waiters is operations that wait at one place for one thing.
type waiters struct {
	answer.OperationWait
	thing *thing
	ops   []*operation
}

// listedOperations is how many operations of a group the answer names.
const listedOperations = 5

// grouped counts equal operations, the most frequent first. Those whose wait is normal are counted in idle.
func (g *grapher) grouped(idle *idleCount) []*waiters {
	type key struct {
		thing                    target.Addr
		kind, words              string
		method, file, from, name string
		request                  string
		line                     int
	}
	known := map[key]*waiters{}
	var out []*waiters
	for _, op := range g.s.ops {
		if reason := op.idle(); reason != "" && !g.holding[op.box] {
			if !g.counted[op.leaf] {
				idle.add(reason, op.method, op.box)
			}
			continue
		}
		t := op.thing
		k := key{t.addr, t.kind, t.words, op.method.String(), op.file, op.from, g.s.names[t.source], op.request, op.line}
		w := known[k]
		if w == nil {
			w = &waiters{thing: t, OperationWait: answer.OperationWait{Method: op.method, File: op.file, Line: op.line, From: op.from, Request: op.request, Kind: t.kind, Object: cmp.Or(t.addr, t.source),
				Type: t.typ, State: t.state, Name: g.nameOf(t), Text: "waits for " + g.thingText(t)}}
			known[k] = w
			out = append(out, w)
		}
		w.Count++
		w.ops = append(w.ops, op)
		if len(w.First) < listedOperations {
			w.First = append(w.First, op.box)
		}
	}
	slices.SortStableFunc(out, func(a, b *waiters) int { return cmp.Compare(b.Count, a.Count) })
	for _, w := range out {
		if u := g.s.uses[w.thing.lock]; u != nil {
			w.Holders = g.holders(u)
		}
	}
	return out
}

// nameOf returns the field that holds what code waits for, or "".
func (g *grapher) nameOf(t *thing) string {
	return cmp.Or(g.s.names[t.addr], g.s.names[t.source])
}

// holders describes who has entered a semaphore.
func (g *grapher) holders(u *semaphoreUse) (out []answer.OperationHolder) {
	for i := range u.holders {
		h := &u.holders[i]
		d := answer.OperationHolder{Object: h.box, Method: h.method, Strength: h.strength}
		if h.place != nil {
			d.File, d.Line = h.place.File, h.place.Line
		}
		if op := g.s.byBox[h.box]; op != nil {
			d.Waits = g.thingText(op.thing)
		}
		if out = append(out, d); len(out) == listedHolders {
			break
		}
	}
	return out
}

// listedHolders is how many holders of a semaphore the answer names.
const listedHolders = 16

// thingText describes what code waits for, with its name or its address.
func (g *grapher) thingText(t *thing) string {
	name := g.nameOf(t)
	switch {
	case t.lock != nil:
		return g.lockText(t.lock)
	case t.channel != nil:
		if name == "" {
			name = addressText(t.addr)
		}
		return t.words + " (" + name + ")"
	case t.kind == answer.WaitLimiter && name != "":
		return "the rate limiter " + name
	case t.kind == answer.WaitLimiter:
		return "the rate limiter " + addressText(t.addr)
	case t.kind == answer.WaitPromise && t.addr != 0 && name != "":
		return "a promise in " + name
	case t.kind == answer.WaitPromise && t.addr != 0:
		return "a promise in " + t.typ.String() + " " + addressText(t.addr)
	case t.kind == answer.WaitPromise && name != "":
		return "a promise in " + name
	}
	return t.words
}

// lockText describes a lock by the field that holds it, or by its type and address.
func (g *grapher) lockText(l *lock) string {
	if name := g.s.names[l.Address]; name != "" {
		return name + " (" + l.Kind + ")"
	}
	return l.Kind + " " + addressText(l.Address)
}

func addressText(a target.Addr) string { return fmt.Sprintf("%016x", uint64(a)) }

// nodes makes the nodes of the graph for the operations that wait for a semaphore, for running code, or that hold a semaphore.
func (g *grapher) nodes() {
	for _, op := range g.s.ops {
		w := &wait{op: op, how: answer.HowRecorded, timeout: -1, lock: op.thing.lock, proved: true}
		if slices.Contains(op.library, timedWait) {
			w.ends = "waits for a limited time, or can be canceled"
		}
		if op.thing.cause == tasks.CauseRunning {
			if t := g.s.runs(op.leaf); t != nil {
				w.runners = []*threads.Thread{t}
			}
		}
		if op.wait = w; w.lock != nil || len(w.runners) > 0 {
			g.ops = append(g.ops, w)
		}
	}
	leaves := map[target.Addr]*operation{}
	for _, op := range g.s.ops {
		if leaves[op.leaf] == nil {
			leaves[op.leaf] = op
		}
	}
	for _, w := range g.s.waits {
		for _, l := range w.leaves {
			if op := leaves[l.addr]; op != nil && (op.thing.lock != nil || len(op.wait.runners) > 0) {
				w.behind = append(w.behind, op.wait)
			}
		}
	}
	for l, u := range g.s.uses {
		var list []*wait
		for _, h := range u.holders {
			g.holding[h.box] = true
			if op := g.s.byBox[h.box]; op != nil && h.strength == answer.StrengthLikely {
				list = append(list, op.wait)
			} else {
				list = append(list, nil)
			}
		}
		if l.most < math.MaxInt32 && int64(len(list)) < l.most {
			list = nil // another holder, who was not found, may give a permit back
		}
		g.entered[l] = list
	}
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		if list := g.entered[w.lock]; len(list) == 1 && list[0] != nil && list[0] != w {
			w.behind = append(w.behind, list[0])
		}
	}
	// Of several holders one is enough to go on: they belong to a circle if each of them leads back to it.
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		if list := g.entered[w.lock]; len(list) > 1 && !slices.ContainsFunc(list, func(h *wait) bool { return h == nil || h == w || !g.reaches(h, w.lock) }) {
			w.behind = append(w.behind, list...)
		}
	}
}

// timedWait is the method of SemaphoreSlim that waits with a timeout or a token.
const timedWait = "System.Threading.SemaphoreSlim.WaitUntilCountOrTimeoutAsync"

// reaches reports whether a wait leads, by whatever way, to a lock.
func (g *grapher) reaches(from *wait, l *lock) bool {
	seen := map[*wait]bool{}
	todo := []*wait{from}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w == nil || seen[w] {
			continue
		}
		if seen[w] = true; w.lock == l {
			return true
		}
		todo = append(append(todo, g.next(w)...), g.entered[w.lock]...)
	}
	return false
}

// next returns the waits of those for whom w waits.
func (g *grapher) next(w *wait) (out []*wait) {
	for _, t := range w.runners {
		if n := g.of[t]; n != nil {
			out = append(out, n)
		}
	}
	return append(out, w.behind...)
}

// suspended concludes from the waits of suspended code that are in no circle.
func (g *grapher) suspended(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	type subject struct {
		thing  *thing
		groups []*waiters
		count  int
	}
	var list []*subject
	known := map[target.Addr]*subject{}
	for _, w := range groups {
		t := w.thing
		if t.addr == 0 {
			continue
		}
		s := known[t.addr]
		if s == nil {
			s = &subject{thing: t}
			known[t.addr] = s
			list = append(list, s)
		}
		s.groups = append(s.groups, w)
		for _, op := range w.ops {
			if op.wait == nil || !g.circled[op.wait] {
				s.count++
			}
		}
	}
	out = append(out, g.onePromise(groups)...)
	for _, s := range list {
		t := s.thing
		v := answer.Verdict{Kind: answer.FindingPermits, Show: []string{"dumpobj " + addressText(t.addr)}}
		for _, w := range s.groups[:min(len(s.groups), listedOperations)] {
			v.Evidence = append(v.Evidence, g.groupText(w))
			v.Show = append(v.Show, "dumpasync -address "+addressText(w.First[0]))
		}
		for _, w := range s.groups {
			v.Sites = append(v.Sites, answer.Site{Method: w.Method, Does: t.kind, Count: w.Count})
		}
		start := fmt.Sprintf("%s %s for %s", operations(s.count), verb(s.count, "waits", "wait"), g.thingText(t))
		if t.state != "" {
			start += ", " + t.state
		}
		told := s.count > 0
		switch {
		case !told:
		case t.lock != nil:
			told = g.permits(&v, start, t.lock)
		case t.channel != nil && t.writes:
			g.channel(&v, start, t.channel)
		case t.kind == answer.WaitLimiter:
			v.Strength, v.Text = answer.StrengthRecorded, start
		case t.kind == answer.WaitPromise && s.count > 1 && isQueue(t.typ.S):
			v.Kind, v.Strength, v.Text = answer.FindingPromises, answer.StrengthRecorded, start+"; the dump does not record who completes them"
		default:
			told = false
		}
		if told {
			out = append(out, v)
		}
	}
	return out
}

// rings describes the async methods that await each other.
func (g *grapher) rings() []answer.Verdict {
	var out []answer.Verdict
	for _, list := range g.s.circles {
		v := answer.Verdict{Kind: answer.FindingDeadlock, Strength: answer.StrengthProved}
		var words []string
		for _, f := range list[:min(len(list), listedOperations)] {
			method, _ := methodOf(f)
			words = append(words, fmt.Sprintf("%s %s", compilernames.Pretty(method.String()), addressText(f.Object)))
			v.Show = append(v.Show, "dumpasync -address "+addressText(f.Object))
			v.Sites = append(v.Sites, answer.Site{Method: method, Does: answer.WaitTask})
		}
		if more := len(list) - listedOperations; more > 0 {
			words = append(words, fmt.Sprintf("%d more", more))
		}
		v.Text = "deadlock: " + words[0] + " awaits itself"
		if len(list) > 1 {
			v.Text = fmt.Sprintf("deadlock: %s awaits %s, which awaits the first", words[0], strings.Join(words[1:], ", which awaits "))
		}
		v.Evidence = []string{"the continuations of the tasks of these methods [recorded]"}
		out = append(out, v)
	}
	return out
}

// manyOnOne is how many suspended operations that wait for one promise are a finding: a few wait for the end of a service, or for its start.
const manyOnOne = 10

// onePromise describes the promises that many suspended operations of the program wait for.
func (g *grapher) onePromise(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	for _, w := range groups {
		op := w.ops[0]
		if w.thing.kind != answer.WaitPromise || w.thing.addr != 0 || w.Count < manyOnOne || !op.own || slices.ContainsFunc(w.ops, func(other *operation) bool { return other.leaf != op.leaf }) {
			continue
		}
		out = append(out, answer.Verdict{Kind: answer.FindingPromises, Strength: answer.StrengthRecorded, Evidence: []string{g.groupText(w)},
			Statement: answer.Statement{Text: fmt.Sprintf("%s for one task, %s, which nothing has completed; the dump does not record who should", operations(w.Count)+" wait", g.thingText(w.thing))},
			Show:      []string{"dumpobj " + addressText(op.leaf), "dumpasync -address " + addressText(w.First[0])}, Sites: []answer.Site{{Method: w.Method, Does: w.thing.kind, Count: w.Count}}})
	}
	return out
}

// isQueue reports whether a collection hands out what it holds in turn. A dictionary of promises holds answers that are awaited.
func isQueue(collection string) bool { return !strings.Contains(collection, "Dictionary") }

func operations(n int) string {
	return answer.Count(n, "suspended operation", "suspended operations")
}

func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// groupText describes a group on a line.
func (g *grapher) groupText(w *waiters) string {
	text := fmt.Sprintf("%d × ", w.Count)
	if from := w.Caller(); from != "" {
		text += from + ": "
	}
	text += compilernames.Pretty(w.Method.String())
	if w.File != "" {
		text += fmt.Sprintf(" (%s:%d)", w.File, w.Line)
	}
	return text + " " + w.Text + fmt.Sprintf(", the first %s [recorded]", addressText(w.First[0]))
}

// permits concludes who has entered a semaphore, and reports whether there is something to say.
func (g *grapher) permits(v *answer.Verdict, start string, l *lock) bool {
	u := g.s.uses[l]
	if u == nil || l.count > 0 {
		return false // a permit is free: who waits is about to go on
	}
	var sure, perhaps []*holder
	for i := range u.holders {
		if h := &u.holders[i]; h.strength == answer.StrengthLikely {
			sure = append(sure, h)
		} else {
			perhaps = append(perhaps, h)
		}
	}
	switch {
	case g.reentered(v, start, l, u, sure):
	case len(sure) > 0:
		v.Strength, v.Text = answer.StrengthLikely, start+"; "+g.holderText(sure)
	case len(perhaps) > 0:
		v.Strength, v.Text = answer.StrengthPossible, start+"; "+g.holderText(perhaps)
	case u.inside > 0:
		v.Strength = answer.StrengthPossible
		v.Text = start + fmt.Sprintf("; %d %s in a method that uses a semaphore, and may have entered it", u.inside, verb(u.inside, "thread is", "threads are"))
	case !u.gives && !u.blindWaiters:
		return false // a signal: who waits for it never releases it
	default:
		g.nobody(v, start, u)
	}
	for _, h := range append(sure, perhaps...)[:min(len(u.holders), listedOperations)] {
		v.Evidence = append(v.Evidence, g.holderEvidence(h, l))
		v.Show = append(v.Show, "dumpasync -address "+addressText(h.box))
	}
	return true
}

// reentered concludes that all who have entered a semaphore wait for it once more, in the methods that they await: nobody ever gives it back.
func (g *grapher) reentered(v *answer.Verdict, start string, l *lock, u *semaphoreUse, sure []*holder) bool {
	all := int64(len(sure)) >= l.most || l.most == math.MaxInt32 && u.inside == 0 // nobody else can have entered, or was found to
	if len(sure) == 0 || len(sure) < len(u.holders) || !all ||
		slices.ContainsFunc(sure, func(h *holder) bool { return !g.s.stands(h.box, l) }) {
		return false
	}
	v.Kind, v.Strength = answer.FindingDeadlock, answer.StrengthLikely
	v.Text = fmt.Sprintf("deadlock: %s %s has likely entered %s and waits for it once more, in a method that it awaits", sure[0].method, addressText(sure[0].box), g.lockText(l))
	if len(sure) > 1 {
		v.Text = fmt.Sprintf("deadlock: %s %s and %d more have likely entered %s and wait for it once more, in methods that they await", sure[0].method, addressText(sure[0].box), len(sure)-1, g.lockText(l))
	}
	v.Text += "; " + start
	return true
}

// nobody concludes from a semaphore without permits that nobody was found to have entered.
func (g *grapher) nobody(v *answer.Verdict, start string, u *semaphoreUse) {
	var unread []string
	if u.partial || g.s.incomplete() {
		unread = append(unread, "parts of the heap or of the threads")
	}
	if u.unread > 0 {
		unread = append(unread, fmt.Sprintf("%d suspended methods", u.unread))
	}
	if u.blindWaiters {
		unread = append(unread, "the code that waits")
	}
	if u.blind > 0 {
		unread = append(unread, fmt.Sprintf("methods of %d threads", u.blind))
	}
	if len(unread) > 0 {
		v.Strength, v.Text = answer.StrengthUnknown, start+"; nobody was found who has entered it, but not all could be read: "+strings.Join(unread, ", ")
		return
	}
	v.Strength = answer.StrengthLikely
	v.Text = start + "; nobody was found who can give a permit back: no suspended method is past its wait for it, and no thread is in a method that uses a semaphore"
	v.Evidence = append(v.Evidence, "who waits for it releases it afterwards, so a permit was taken and not given back")
}

// holderText names who holds a semaphore, and what the first of them waits for.
func (g *grapher) holderText(list []*holder) string {
	h := list[0]
	text := fmt.Sprintf("%s %s ", h.method, addressText(h.box))
	if len(list) > 1 {
		text += fmt.Sprintf("and %d more ", len(list)-1)
	}
	text += entered(h.strength) + verb(len(list), "", ", each")
	if op := g.s.byBox[h.box]; op != nil {
		text += ", and " + verb(len(list), "waits", "the first waits") + " for " + g.thingText(op.thing)
	}
	return text
}

// entered states, by its strength, that a method has entered a semaphore.
func entered(strength answer.Strength) string {
	if strength == answer.StrengthLikely {
		return "likely entered it"
	}
	return "may have entered it"
}

// holderEvidence states why a method holds a semaphore.
func (g *grapher) holderEvidence(h *holder, l *lock) string {
	text := fmt.Sprintf("%s %s is past its wait for %s", h.method, addressText(h.box), g.lockText(l))
	if h.place != nil && h.place.File != "" {
		text += fmt.Sprintf(", at %s:%d", h.place.File, h.place.Line)
	}
	if h.strength == answer.StrengthPossible {
		text += ", and past a release"
	}
	return text + " [inferred]"
}

// channel concludes who reads a channel that is full.
func (g *grapher) channel(v *answer.Verdict, start string, c *channelWait) {
	readers := g.readers(c)
	if len(readers) == 0 {
		v.Strength, v.Text = answer.StrengthRecorded, start+"; no suspended method was found that reads it"
		return
	}
	h := readers[0]
	v.Strength, v.Text = answer.StrengthLikely, start+fmt.Sprintf("; %s %s reads it", h.method, addressText(h.box))
	if op := g.s.byBox[h.box]; op != nil {
		v.Text += " and waits for " + g.thingText(op.thing)
	}
	v.Show = append(v.Show, "dumpasync -address "+addressText(h.box))
}

// readers returns the suspended methods that have read a channel.
func (g *grapher) readers(c *channelWait) (out []holder) {
	wanted := func(method string) bool { return strings.HasPrefix(method, "ChannelReader.") }
	for m, err := range g.s.set.Suspended(g.s.ctx, wanted) {
		if err != nil {
			return out
		}
		if m.Err != nil {
			continue
		}
		for i := range m.Calls {
			if o, err := g.s.r.b.Objects().Object(m.Calls[i].Object); err == nil {
				if k, x, is, err := shapes.Try[*channelReader](g.s.r.b, o); is && err == nil {
					if p, err := k.Parent.Addr(x); err == nil && p == c.object.Addr {
						out = append(out, holder{m.Object, m.Name, m.Place, answer.StrengthLikely})
						break
					}
				}
			}
		}
	}
	return out
}
