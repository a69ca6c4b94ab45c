package locks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An unreadCodeError is the reason why waits could not be judged: only the program's code says whether they end, and its IL is neither in the dump nor in a module
// file. It stands for the errors about the IL of single methods.
type unreadCodeError struct {
	Threads    int             // waiting threads that could not be judged
	Operations int             // suspended operations that could not be judged
	Where      string          // a method in which one of them waits
	Missing    tasks.MissingIL // what is missing
}

// Error names the waits, the methods without IL and their modules.
func (e *unreadCodeError) Error() string {
	var waits []string
	if e.Threads > 0 {
		waits = append(waits, counted(e.Threads, "thread"))
	}
	if e.Operations > 0 {
		waits = append(waits, counted(e.Operations, "suspended operation"))
	}
	says := "what the waiting code does"
	if n := e.Threads + e.Operations; n > 0 {
		says = "whether the waits of " + strings.Join(waits, " and ") + " end"
		if n == 1 {
			says = "whether the wait of " + waits[0] + " ends"
		}
		if e.Where != "" {
			says += ", the first in " + e.Where
		}
	}
	m := &e.Missing
	return fmt.Sprintf("%s: the IL of %d of %d methods of %s is not in the dump", says, m.Methods, m.Of, e.files())
}

// Unwrap returns the error of one of the methods.
func (e *unreadCodeError) Unwrap() error { return e.Missing.Err }

// Advice names the files with the IL.
func (e *unreadCodeError) Advice() string {
	return "the IL is in " + e.files() + ": --modules DIR adds the folder with the program's files as they were when the dump was taken"
}

// files names the modules without IL.
func (e *unreadCodeError) files() string {
	list := e.Missing.Modules
	if more := len(list) - mostFiles; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:mostFiles], ", "), more)
	}
	return strings.Join(list, ", ")
}

// mostFiles is how many files without IL are named.
const mostFiles = 3

// counted returns a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// unjudged notes the waits that no conclusion is about and that only code which can't be read would end, in one error in place of those about the IL of methods. It
// notes nothing if all waits could be judged without that code.
func (g *grapher) unjudged(out *answer.Waits) {
	missing := g.s.found.tasks.MissingIL()
	if missing.Methods == 0 {
		return
	}
	threads, ops := g.undecided(out.Verdicts)
	noted := slices.ContainsFunc(out.Noted(), func(err error) bool { return errors.Is(err, dac.ErrILMissing) })
	if len(threads)+len(ops) == 0 && !noted {
		return
	}
	e := &unreadCodeError{Threads: len(threads), Operations: len(ops), Missing: missing}
	switch {
	case len(threads) > 0:
		e.Where = g.rows[threads[0].thread].Method.String()
	case len(ops) > 0:
		e.Where = ops[0].method.String()
	}
	if !noted {
		out.Note(e)
		return
	}
	out.NoteOnce(dac.ErrILMissing)
	out.Reword(func(err error) error {
		if err == dac.ErrILMissing {
			return e
		}
		return err
	})
}

// undecided returns the waits that no conclusion of a list is about and that only code of the program which can't be read may end.
func (g *grapher) undecided(list []answer.Verdict) (threads []*wait, ops []*operation) {
	boxed, told := map[target.Addr]bool{}, func(a target.Addr) bool { return g.isAbout(list, a) }
	for i := range list {
		for _, a := range list[i].Waiting {
			boxed[a] = list[i].Kind != answer.NoFinding || boxed[a]
		}
	}
	vague := map[string]int{} // by method: threads in waits that may be limited
	for _, w := range g.s.waits {
		if w.vague {
			vague[g.rows[w.thread].Method.S]++
		}
	}
	waits := func(w *wait) bool { return !g.circled[w] && !g.described[w] }
	for _, d := range g.dependents(true) {
		if g.lostThings[d.object] || g.ofLibrary(&d) || !g.needsCode(&d) || told(d.object) {
			continue
		}
		for _, w := range d.waits {
			if waits(w) && g.mayBeUnended(&d, w) && (!w.vague || vague[g.rows[w.thread].Method.S] >= manyLost) { // one thread alone often waits for a time, again and again
				threads = append(threads, w)
			}
		}
		for _, op := range d.ops {
			if !boxed[op.box] && g.opMayBeUnended(op) && op.idle() == "" {
				ops = append(ops, op)
			}
		}
	}
	threads = append(threads, g.blindThreads...)
	for _, op := range g.blinded {
		if !boxed[op.box] && !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	for _, w := range g.s.waits {
		if w.library || !w.ends.IsZero() && !w.vague || !waits(w) {
			continue
		}
		if c := g.s.boundedOf(w); c.collection != 0 && !c.items && !told(c.collection) && !g.course().collection(c.collection, 1).moves || g.enteredUnseen(w) && !told(w.object.Addr) {
			threads = append(threads, w)
		}
	}
	for _, list := range g.itemsTaken() {
		for _, op := range list {
			if (len(list) > 1 || op.request != "") && !boxed[op.box] && g.opMayBeUnended(op) {
				ops = append(ops, op)
			}
		}
	}
	return threads, ops
}

// isAbout reports whether a finding among conclusions names an object.
func (g *grapher) isAbout(list []answer.Verdict, a target.Addr) bool {
	name := g.s.names[a]
	return slices.ContainsFunc(list, func(v answer.Verdict) bool {
		return v.Kind != answer.NoFinding && (strings.Contains(v.Text, addressText(a)) || name != "" && strings.Contains(v.Text, name))
	})
}

// needsCode reports whether waits for a thing may be a finding if no code can end them, as far as that is known without the code.
func (g *grapher) needsCode(d *dependent) bool {
	switch {
	case d.meets():
		return d.lock.signaled
	case d.atEntry(g.s.mainCalls):
		return false
	case d.pulse:
		return !d.lock.Held && d.lock.owner == nil && g.s.nonePulsed(d)
	case d.lock != nil && d.lock.Kind == answer.LockSemaphore:
		u := g.s.uses[d.lock]
		return u == nil || len(u.holders) == 0
	case len(d.waits) > 0 && d.waits[0].lock == nil && d.waits[0].object.Addr != 0:
		return g.s.unnamedHandle(d.waits[0].object)
	}
	return d.lasts
}

// mayBeUnended reports whether the wait of a thread would be a finding if no code can end it. Code that can't be read may not wait again and again.
func (g *grapher) mayBeUnended(d *dependent, w *wait) bool {
	if w.set() || !w.ofSystem() && !d.awaited {
		return false
	}
	if d.awaited || d.meets() {
		return true
	}
	if d.pulse {
		if f, err := g.s.waitsIn(w.thread); err == nil && f != nil {
			if o, _, err := g.s.emptyWhile(w.thread, &f.Frame, f.Method); err == nil && o.Addr != 0 {
				return false
			}
		}
	}
	takes, _ := g.s.knownToTakeNext(w)
	return !takes
}

// opMayBeUnended is mayBeUnended for an operation.
func (g *grapher) opMayBeUnended(op *operation) bool {
	if op.entry || op.forgotten || g.failed[op] || op.wait != nil && g.circled[op.wait] {
		return false
	}
	for _, a := range op.path {
		if _, err := g.s.found.tasks.AwaitOf(a); err != nil {
			return true
		}
	}
	return g.s.turnOf(op, map[*tasks.AwaitPoint]ilflow.AwaitLoop{}) == noTurn
}

// itemsTaken returns the operations that take one item from an empty channel, as from a pool, by channel.
func (g *grapher) itemsTaken() map[target.Addr][]*operation {
	out := map[target.Addr][]*operation{}
	for _, op := range g.s.ops {
		if t := op.thing; t.channel != nil && t.channel.kind == &channelKind && !t.writes && t.channel.items.Value == 0 && op.own && !op.limited && !op.first && g.s.roles[op.leaf].blocked {
			out[t.addr] = append(out[t.addr], op)
		}
	}
	return out
}

// enteredUnseen reports whether a thread waits for a Mutex or Semaphore of the operating system, and code that can't be read may have entered it.
func (g *grapher) enteredUnseen(w *wait) bool {
	if w.lock != nil || w.join || w.more > 0 || w.remote != "" || w.object.Addr == 0 || len(w.runners) > 0 {
		return false
	}
	is, err := objects.IsShape[*mutex](g.s.r.b, w.object.Type)
	if !is && err == nil {
		is, err = objects.IsShape[*kernelSemaphore](g.s.r.b, w.object.Type)
	}
	return is && err == nil && g.s.anyPartly()
}

// anyPartly reports whether the code of some thread can't be read, because its IL is missing.
func (s *survey) anyPartly() bool {
	_, err := s.code.Frames()
	return errors.Is(err, dac.ErrILMissing)
}
