package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// site returns where w waits.
func (g *grapher) site(w *wait) answer.Site {
	var s answer.Site
	if w.op != nil {
		s.Method, s.Does = w.op.method, string(w.op.thing.kind)
	} else {
		row := g.rows[w.thread]
		s.Method, s.Does, s.Thread = row.Method, string(row.Kind), row.Thread.OSID
	}
	if l := w.lock; l != nil && (l.Kind == answer.LockMonitor || l.Kind == answer.LockThin) {
		s.Does = string(answer.LockMonitor) + " of " + l.Type.S
	}
	return s
}

// sites returns where the listed waits are.
func (g *grapher) sites(list []*wait) []answer.Site {
	out := make([]answer.Site, len(list))
	for i, w := range list {
		out[i] = g.site(w)
	}
	return out
}

// who names the waiting thread or method.
func (g *grapher) who(w *wait) answer.Statement {
	if w.op != nil {
		return words.MethodObject.Of(words.Method(w.op.method.String()), words.Object(w.op.box))
	}
	return words.AThread.Of(g.name(w.thread))
}

// show returns the commands that show a wait.
func (g *grapher) show(w *wait) []string {
	if w.op != nil {
		return []string{"dumpasync -address " + addressText(w.op.box)}
	}
	return showThread(w.thread.Describe(g.s.gaps))
}

// holderOf returns the holder of a semaphore that stands in the wait w, or nil.
func (g *grapher) holderOf(l *lock, w *wait) *holder {
	u := g.s.uses[l]
	if u == nil {
		return nil
	}
	for i := range u.holders {
		if g.waitOf(&u.holders[i]) == w {
			return &u.holders[i]
		}
	}
	return nil
}

// waitOf returns the wait in which the holder of a semaphore stands, or nil.
func (g *grapher) waitOf(h *holder) *wait {
	if h.thread != nil {
		return g.of[h.thread]
	}
	if op := g.s.standing[h.box]; op != nil {
		return op.wait
	}
	return nil
}

// evidence states where a thread waits and how that is known.
func (g *grapher) evidence(w *wait) answer.Statement {
	if w.op != nil {
		return words.OperationWaits.Of(g.who(w), lineOf(w.op.file, w.op.line), g.thingText(w.op.thing))
	}
	row := g.rows[w.thread]
	var object, note answer.Statement
	if row.Object != 0 {
		object = words.BehindSpace.Of(g.addressName(row.Object))
	}
	if row.Note != "" {
		note = words.Note.Of(words.Text(row.Note))
	}
	return words.ThreadWaits.Of(g.name(w.thread), g.does(w, true), object, note, g.placeOf(w), endsWords(w), words.Text(w.how))
}

// endsWords states how a wait can end by itself, or returns the zero Statement.
func endsWords(w *wait) answer.Statement {
	if w.ends.IsZero() {
		return answer.Statement{}
	}
	return words.CommaEnds.Of(w.ends)
}

// lineOf names a line of source code in parentheses, if it is known.
func lineOf(file string, line int) answer.Statement {
	if file == "" {
		return answer.Statement{}
	}
	return words.AtPlace.Of(words.Place(file, line))
}

// evidences states where threads wait. Equal waits share a line.
func (g *grapher) evidences(list []*wait) []answer.Statement {
	var order []string
	by := map[string][]*wait{}
	for _, w := range list {
		row := g.rows[w.thread]
		key := fmt.Sprint(row.Text, row.Object, g.placeOf(w).Text, w.ends.Text, w.how)
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], w)
	}
	var out []answer.Statement
	for _, key := range order {
		alike := by[key]
		if len(alike) == 1 {
			out = append(out, g.evidence(alike[0]))
			continue
		}
		w, row := alike[0], g.rows[alike[0].thread]
		out = append(out, words.ThreadsAlike.Of(words.N(len(alike)), g.name(w.thread), g.does(w, true), g.addressName(row.Object), g.placeOf(w), endsWords(w), words.Text(w.how)))
	}
	return out
}

// evidencesOf states where threads wait for something, or for one thing each in a field of one name.
func (g *grapher) evidencesOf(d *dependent) []answer.Statement {
	if !d.together() {
		return g.evidences(d.waits)
	}
	first := d.waits[0]
	if i := slices.IndexFunc(d.waits, func(w *wait) bool { return endsWords(w).Text != endsWords(first).Text || w.how != first.how }); i >= 0 {
		return g.evidences(d.waits)
	}
	field := inField(g.s.names[d.object])
	return []answer.Statement{words.ThreadsWaitForOwn.Of(words.N(len(d.waits)), g.name(first.thread), d.kind, field, words.Object(d.object), g.placeOf(first), endsWords(first), words.Text(first.how))}
}

// showRunner returns the commands that show the thread for which w waits.
func (g *grapher) showRunner(w *wait) []string {
	if len(w.runners) == 0 {
		return nil
	}
	return showThread(w.runners[0].Describe(g.s.gaps))
}

// showThread returns the commands that show a thread.
func showThread(d answer.Thread) []string {
	if d.Index == nil {
		return nil
	}
	return []string{fmt.Sprintf("clrstack %d", *d.Index)}
}

// what describes what a wait is for.
func (g *grapher) what(w *wait) answer.Statement {
	if w.op != nil {
		return g.thingText(w.op.thing)
	}
	row := g.rows[w.thread]
	switch {
	case w.class != 0:
		return words.StaticConstructor.Of(words.Type(row.Type.String()))
	case w.outside != nil:
		return w.outside.Says
	case w.join:
		return g.ended(w)
	case w.unread != "":
		return words.Text(w.unread)
	case w.serves != "":
		return words.TheFinalizer.Of()
	case w.callback == callbackOfToken:
		return words.EndOfCallback.Of(words.Text(w.callback))
	case len(w.tasks) > 1:
		return words.SeveralTasks.Of(words.N(len(w.tasks)))
	case w.lock == nil && w.object.Addr == 0:
		return words.TaskAt.Of(words.Object(row.Object))
	}
	return words.ObjectOfType.Of(words.Type(row.Type.String()), g.addressName(row.Object))
}

// addressName returns an address with the field that holds the object.
func (g *grapher) addressName(a target.Addr) answer.Statement {
	if name := g.s.names[a]; name != "" {
		return words.NamedObject.Of(words.Object(a), words.Field(name))
	}
	return words.Object(a)
}

// name names a thread.
func (g *grapher) name(t *stackwalk.Thread) answer.Statement {
	d := t.Describe(g.s.gaps)
	if d.Index == nil && t.OS == nil && t.Managed != nil {
		return words.ManagedThread(d)
	}
	return words.Thread(d)
}

// placeOf names the program's method in which a thread waits, with file and line, after " in ".
func (g *grapher) placeOf(w *wait) answer.Statement {
	row := g.rows[w.thread]
	if row.Method.IsZero() {
		return answer.Statement{}
	}
	return words.PlaceOfWait.Of(words.Method(compilernames.Pretty(row.Method.String())), lineOf(row.File, row.Line))
}

// doing describes the activity of a thread that does not wait for another.
func (g *grapher) doing(t *stackwalk.Thread) answer.Statement {
	if t.OS == nil || t.Managed == nil {
		return answer.Statement{}
	}
	does, where := g.activity(t)
	return words.ThreadDoes.Of(g.name(t), does, where)
}

// activity returns what a thread does, and in which method of the program.
func (g *grapher) activity(t *stackwalk.Thread) (does, where answer.Statement) {
	activity := threads.ActivityOf(t, g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	tasks.NamePeer(g.s.ctx, g.s.r.b, g.s.r.walker, t, g.s.gaps, &activity)
	tasks.NameFile(g.s.ctx, g.s.r.b, g.s.r.walker, t, g.s.gaps, &activity)
	a := threads.DescribeActivity(t, g.s.gaps, activity)
	does = words.Text(activity.Text)
	if activity.Activity == threads.ActivityIdle {
		does = words.IsIdle.Of(does)
	}
	if !a.Caller.IsZero() {
		where = words.InMethod.Of(words.Method(compilernames.Pretty(a.Caller.String())))
	}
	return does, where
}

// lockName names a lock by its kind, its address and the field that holds it.
func (g *grapher) lockName(l *lock) answer.Statement {
	return words.DoesObject.Of(kindOf(l), g.addressName(l.Address))
}

// waiting names one of several threads that wait alike.
func (g *grapher) waiting(alike []*wait) answer.Statement {
	if len(alike) == 1 {
		return words.OneWaits.Of(g.name(alike[0].thread))
	}
	return words.TheFirstWaits.Of(words.N(len(alike)), g.name(alike[0].thread))
}

// moreThan returns the number of items beyond the listed ones as text.
func moreThan(n, listed int) answer.Statement {
	if n <= listed {
		return answer.Statement{}
	}
	return words.AndMore.Of(words.N(n - listed))
}

// listedWaiters is how many threads that wait for a lock are named.
const listedWaiters = 16

// taskName returns a readable name for a task's type. The box of an async method is named after the method.
func taskName(class string) string {
	_, args, ok := strings.Cut(class, "StateMachineBox<")
	if !ok {
		return class
	}
	args = strings.TrimSuffix(args, ">")
	depth, from := 0, 0
	for i := range len(args) {
		switch args[i] {
		case '<', '[':
			depth++
		case '>', ']':
			depth--
		case ',':
			if depth == 0 {
				from = i + 1
			}
		}
	}
	machine := strings.TrimSpace(args[from:])
	method := compilernames.Method(machine)
	if method == machine {
		return class
	}
	return "that of " + compilernames.Pretty(method)
}
