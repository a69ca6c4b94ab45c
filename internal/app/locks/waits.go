package locks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Waits describes what each thread waits for and where that leads: to cycles of threads, and to threads that block
// until a task completes. It records what could not be read. The error is ctx's.
func (r *Reader) Waits(ctx context.Context, o Options) (*answer.Waits, error) {
	out := &answer.Waits{Verdicts: []answer.Verdict{}, Threads: []answer.ThreadWait{}}
	out.RewordTexts(r.texts)
	lose := func(err error) {
		out.Note(err)
		if out.Lost == nil {
			out.Lost = err
		}
	}
	s, err := r.survey(ctx, &out.Gaps, lose, o.Scan)
	if err != nil {
		return nil, err
	}
	s.graph = o.graph
	if err := s.follow(o.Scan); err != nil {
		return nil, err
	}
	if err := s.operations(o.Scan); err != nil {
		return nil, err
	}
	if err := s.semaphores(); err != nil {
		return nil, err
	}
	s.promiseOwners()
	if err := s.forgotten(ctx, o.graph); err != nil {
		return nil, err
	}
	if err := s.findLostPulses(); err != nil {
		return nil, err
	}
	// Names of locks that only threads use do not justify a walk of the heap.
	if err := s.nameObjects(s.waitedFor(), s.found.suspended, o.Scan); err != nil {
		return nil, err
	}
	s.consumers()
	g := newGrapher(s)
	g.nodes()
	g.describe()
	out.Looked = s.looked
	var idle idleCount
	var listed []*wait
	for _, w := range s.waits {
		if w.entryIdles() {
			idle.add(entryWaits, g.rows[w.thread].Method, 0)
			for _, l := range w.leaves {
				g.counted[l.addr] = true
			}
			continue
		}
		if w.libraryIdles() {
			idle.add("a library's own thread waits for work", g.rows[w.thread].Method, 0)
			continue
		}
		listed = append(listed, w)
	}
	groups := g.grouped(&idle)
	for _, w := range groups {
		out.Operations = append(out.Operations, w.OperationWait)
	}
	out.Idle = idle.sorted()
	out.Verdicts = g.circles()
	met, err := g.meetings()
	if err != nil {
		return nil, err
	}
	rest := slices.Concat(met, g.lostPulses(), g.chains(), g.suspended(groups), g.rings(), g.abandonedWaiters(), g.standing())
	slices.SortStableFunc(rest, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
	out.Verdicts = append(out.Verdicts, rest...)
	queued, err := g.queuedItems()
	if err != nil {
		return nil, err
	}
	out.Verdicts = append(out.Verdicts, queued...)
	for _, w := range listed {
		out.Threads = append(out.Threads, *g.rows[w.thread]) // the conclusions say which of them go on soon
	}
	return out, ctx.Err()
}

// byStrength orders verdicts by strength, the strongest first.
func byStrength(a, b answer.Verdict) int {
	if a.Strength == b.Strength {
		return 0
	}
	if answer.Weakest(a.Strength, b.Strength) == b.Strength {
		return -1
	}
	return 1
}

// waitedFor returns the objects that threads and suspended code wait for.
func (s *survey) waitedFor() map[target.Addr]bool {
	out := map[target.Addr]bool{}
	for _, w := range s.waits {
		if w.lock != nil {
			out[w.lock.Address] = true
		} else if !w.join {
			out[w.object.Addr] = true
		}
	}
	for i := range s.lostPulses {
		out[s.lostPulses[i].collection.Addr] = true
	}
	named := map[string]bool{}
	for _, op := range s.ops {
		if op.idle() != "" {
			continue
		}
		t := op.thing
		switch {
		case t.addr != 0:
			out[t.addr] = true
		case t.source != 0 && !t.removed && !named[op.method.S]: // the promises of one method have the same kind of holder
			out[t.source], named[op.method.S] = true, true
		}
	}
	for l := range s.uses {
		out[l.Address] = true
	}
	for _, l := range s.locks {
		if len(l.Async) >= manyBehind {
			out[l.Address] = true
		}
	}
	return out
}

// incomplete reports whether parts of the heap or of the threads could not be read.
func (s *survey) incomplete() bool { return s.lost }

func newGrapher(s *survey) *grapher {
	return &grapher{s: s, rows: map[*stackwalk.Thread]*answer.ThreadWait{}, of: map[*stackwalk.Thread]*wait{},
		circled: map[*wait]bool{}, described: map[*wait]bool{}, entered: map[*lock][]*wait{}, holding: map[target.Addr]bool{}, counted: map[target.Addr]bool{}}
}

// A grapher describes waits and where they lead.
type grapher struct {
	s         *survey
	rows      map[*stackwalk.Thread]*answer.ThreadWait
	of        map[*stackwalk.Thread]*wait // what each thread waits for
	circled   map[*wait]bool              // the waits in cycles
	described map[*wait]bool              // the waits already described as blocking another thread
	ops       []*wait                     // the waits of suspended code
	entered   map[*lock][]*wait           // the waits of a semaphore's holders; nil for a holder that does not wait
	counted   map[target.Addr]bool        // what the entry point waits for, if that is normal
	holding   map[target.Addr]bool        // the suspended methods that hold, or may hold, a semaphore

	completing map[target.Addr][]holder // by TaskCompletionSource: the suspended methods that complete it later
}

// describe adds a row for each wait.
func (g *grapher) describe() {
	for _, w := range g.s.waits {
		row := &answer.ThreadWait{Thread: w.thread.Describe(g.s.gaps), How: w.how}
		g.rows[w.thread], g.of[w.thread] = row, w
		g.place(row, w)
		if len(w.runners) > 0 {
			d := w.runners[0].Describe(g.s.gaps)
			row.Owner = &d
		}
		switch {
		case w.lock != nil:
			row.Kind, row.Object, row.Type, row.Name = w.lock.Kind, w.lock.Address, w.lock.Type, g.s.names[w.lock.Address]
			if row.Note = w.lock.arrived.Text; w.lock.Kind == answer.LockCountdown {
				row.Note = w.lock.Counts.Text
			}
		case w.unread != "":
			row.Kind = answer.LockMonitor
		case w.serves != "":
			row.Kind = answer.WaitFinalizer
		case w.callback == callbackOfToken:
			row.Kind = answer.WaitCallback
		case w.join:
			row.Kind = answer.WaitThread
			if w.object.Addr != 0 {
				row.Object, row.Type = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName())
			}
		case w.async:
			row.Kind, row.Object, row.Chain, row.Until = answer.WaitTask, w.tasks[0], w.chain, w.until.Text
		case w.object.Addr != 0:
			row.Kind, row.Object, row.Type, row.Name = answer.WaitHandle, w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName()), g.s.names[w.object.Addr]
			if ok, err := objects.IsShape[*mutex](g.s.r.b, w.object.Type); ok && err == nil && w.more == 0 && len(w.runners) == 0 {
				row.Note = "its owner " + g.s.ownedElsewhere()
			}
		case w.class != 0:
			row.Kind, row.Object = answer.LockConstructor, w.class
			row.Type = g.s.gaps.Text(g.s.r.rt.TypeName(w.class, dac.NameManaged))
		case len(w.tasks) == 0:
			row.Kind, row.Object = answer.WaitTask, w.event
		default:
			row.Kind, row.Object, row.Type, row.Chain, row.Until = answer.WaitTask, w.tasks[0], g.s.typeOf(w.tasks[0]), w.chain, w.until.Text
		}
		if w.remote != "" {
			row.Kind = w.remote
		}
		row.Statement, row.Soon = g.does(w, true), w.isNext()
	}
}

// does describes what a thread waits for. typed adds the type of a task.
func (g *grapher) does(w *wait, typed bool) answer.Statement {
	thing := g.awaited(w, typed)
	switch w.remote {
	case answer.WaitConnection:
		return words.WaitsForConnection.Of(thing)
	case answer.WaitServer:
		return words.WaitsForServer.Of(thing)
	}
	return words.WaitsFor.Of(thing)
}

// awaited names what a thread waits for.
func (g *grapher) awaited(w *wait, typed bool) answer.Statement {
	class := words.Type(g.rows[w.thread].Type.String())
	switch n := len(w.tasks); {
	case w.lock != nil && w.pulse:
		return words.PulseOf.Of(words.Type(w.lock.Type.String()))
	case w.lock != nil:
		return kindOf(w.lock)
	case w.unread != "":
		return words.Text(w.unread)
	case w.serves != "":
		return words.TheFinalizer.Of()
	case w.callback == callbackOfToken:
		return words.EndOfCallback.Of(words.Text(w.callback))
	case w.join:
		return g.ended(w)
	case w.async:
		return words.AsyncToComplete.Of()
	case w.object.Addr != 0 && w.more > 0:
		return words.WaitHandles.Of(words.N(w.more+1), article(class))
	case w.object.Addr != 0:
		return article(class)
	case w.class != 0:
		return words.StaticConstructor.Of(class)
	case n == 0 && w.completed:
		return words.TaskWakes.Of()
	case n == 0:
		return words.TaskNotFound.Of()
	case n > 1:
		return words.TasksToComplete.Of(words.N(n), class)
	case typed:
		return words.TaskToComplete.Of(words.ColonType.Of(words.Type(taskName(class.Text))))
	}
	return words.TaskToComplete.Of(answer.Statement{})
}

// ended names the thread that a thread joins.
func (g *grapher) ended(w *wait) answer.Statement {
	switch {
	case w.object.Addr == 0:
		return words.EndUnknown.Of()
	case len(w.runners) == 0:
		return words.EndEnded.Of()
	case w.runners[0] == w.thread:
		return words.EndOwn.Of()
	}
	return words.EndOf.Of(g.name(w.runners[0]))
}

// kindOf names a lock by its kind and its type.
func kindOf(l *lock) answer.Statement {
	class := words.Type(l.Type.String())
	switch l.Kind {
	case answer.LockLazy:
		return words.LazyValue.Of(class)
	case answer.LockSpin:
		return words.SpinLockOf.Of(class)
	case answer.LockMonitor, answer.LockThin:
		return words.MonitorOf.Of(class)
	}
	if strings.HasSuffix(l.Type.S, "."+string(l.Kind)) {
		return article(words.Type(string(l.Kind)))
	}
	return words.LockOfType.Of(article(words.Type(string(l.Kind))), class)
}

// article returns a name behind an indefinite article.
func article(name answer.Statement) answer.Statement {
	if strings.ContainsRune("aeiouAEIOU", rune(name.Text[0])) {
		return words.An.Of(name)
	}
	return words.A.Of(name)
}

// waitsForCallers reports whether a class belongs to a library with methods that wait on behalf of their callers.
func waitsForCallers(class string) bool {
	for _, library := range []string{"System.", "Interop", "Microsoft.Win32.", fsharpControl} {
		if strings.HasPrefix(class, library) {
			return true
		}
	}
	return false
}

// place names the waiting method of the program, with file and line.
func (g *grapher) place(row *answer.ThreadWait, w *wait) {
	called := "" // method of the class library that the program called
	next := false
	remote := w.waitsForSignal() // until the program's own method is met
	var own stackwalk.Frame
	for f := range g.s.r.walker.Walk(g.s.ctx, w.thread.Managed, w.thread.OS.Registers, stackwalk.WalkOptions{}) {
		g.s.gaps.Note(f.Missing())
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		md, err := f.Method()
		if err != nil || md == nil {
			continue
		}
		class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		if remote && err == nil {
			if remote = answer.LibraryMethod(class); !remote {
				own = f
			} else if kind := tasks.Remote(class + "."); kind != "" && w.remote != answer.WaitConnection {
				w.remote = kind
			}
		}
		if !row.Method.IsZero() {
			if !next {
				next, w.entry = true, false // it has a caller
			}
			if w.library = w.library && err == nil && answer.LibraryMethod(class); !w.library && !remote {
				break
			}
			continue
		}
		if err != nil || waitsForCallers(class) || md.Kind == dac.MethodDynamic {
			called, _ = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
			continue
		}
		g.program(row, &f)
		called = g.s.inlined(&f, md, called)
		name, _ := md.Name()
		w.entry, w.library = slices.Contains(entryPoints, name), answer.LibraryMethod(class)
	}
	if row.Method.IsZero() {
		called = ""
	}
	if w.remote != "" && own.Runtime != nil {
		g.program(row, &own)
	}
	w.called = called
	w.ends = endsByItself(w, called)
	row.Ends = w.ends.Text
}

// program sets the method of a row to the frame's method, with file and line.
func (g *grapher) program(row *answer.ThreadWait, f *stackwalk.Frame) {
	md, err := f.Method()
	if err != nil || md == nil {
		return
	}
	row.Method = g.s.gaps.Text(dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified))
	row.File, row.Line = "", 0
	if line, err := f.SourceLine(); err == nil {
		row.File, row.Line = line.File, line.Line
	}
}

// waitsForSignal reports whether a wait is for an event, a semaphore or a handle, as in a client library that waits for
// its server.
func (w *wait) waitsForSignal() bool {
	if w.lock != nil {
		return w.lock.Kind == answer.LockEvent || w.lock.Kind == answer.LockSemaphore
	}
	return w.object.Addr != 0 && !w.join
}

// entryPoints are the names that compilers give to the method that the host calls.
var entryPoints = []string{"Main", "<Main>", "<Main>$"}

// endsByItself describes how a wait can end by itself, or returns the zero Statement. A recorded time limits it, or the
// called method of the class library takes a time, a cancellation token or other tasks.
func endsByItself(w *wait, called string) answer.Statement {
	if w.timeout >= 0 && w.how == answer.HowRecorded {
		return words.EndsAtMost.Of(words.Duration(time.Duration(w.timeout) * time.Millisecond))
	}
	name, arguments, _ := strings.Cut(called, "(")
	switch {
	case strings.Contains(name, ".WaitAny"):
		return words.EndsWithAny.Of()
	case strings.Contains(arguments, "System.Threading.CancellationToken"):
		return words.EndsCanceled.Of()
	case w.serves == "" && w.callback != callbackOfToken && (w.how != answer.HowRecorded || w.steps) && (takesTime(called) || strings.Contains(arguments, "TimeoutTracker")):
		return words.EndsSometime.Of()
	}
	return answer.Statement{}
}

func frameName(f *answer.AsyncFrame) string {
	if !f.Method.IsZero() && f.Method.Err == nil && f.Method.S != "" {
		name := f.Method.S
		if f.File != "" {
			name += fmt.Sprintf(" (%s:%d)", f.File, f.Line)
		}
		return name
	}
	if !f.Name.IsZero() {
		return f.Name.String()
	}
	return string(f.Kind)
}

// circles describes the cycles of threads that wait for each other. Cycles through several tasks of one wait that differ
// only in the threads that run them are one conclusion.
func (g *grapher) circles() []answer.Verdict {
	out := []answer.Verdict{}
	for _, alike := range alikeCircles(g.cycles()) {
		out = append(out, g.circle(alike))
	}
	slices.SortStableFunc(out, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
	return out
}

// cycles finds the cycles of waits, each once. A cycle closes where the search returns to a wait on its path.
func (g *grapher) cycles() (out [][]*wait) {
	var path []*wait
	done := map[*wait]bool{}
	var visit func(*wait)
	visit = func(w *wait) {
		if from := slices.Index(path, w); from >= 0 {
			out = append(out, slices.Clone(path[from:]))
			return
		}
		if done[w] {
			return
		}
		path = append(path, w)
		for _, next := range g.next(w) {
			visit(next)
		}
		path = path[:len(path)-1]
		done[w] = true
	}
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		visit(w)
	}
	return out
}

// alikeCircles groups the cycles through one wait for several tasks, if their other waits are for the same things.
func alikeCircles(cycles [][]*wait) (out [][][]*wait) {
	at := map[string]int{}
	for _, path := range cycles {
		from := slices.IndexFunc(path, func(w *wait) bool { return len(w.tasks) > 1 })
		if from < 0 {
			out = append(out, [][]*wait{path})
			continue
		}
		path = slices.Concat(path[from:], path[:from])
		key := fmt.Sprintf("%p", path[0])
		for _, w := range path[1:] {
			key += fmt.Sprintf("|%p %x %x %x", w.lock, w.class, w.object.Addr, w.tasks)
		}
		if i, ok := at[key]; ok {
			out[i] = append(out[i], path)
			continue
		}
		at[key] = len(out)
		out = append(out, [][]*wait{path})
	}
	return out
}

// byKind orders deadlocks before all others.
func byKind(a, b answer.Verdict) int {
	switch {
	case (a.Kind == answer.FindingDeadlock) == (b.Kind == answer.FindingDeadlock):
		return 0
	case a.Kind == answer.FindingDeadlock:
		return -1
	}
	return 1
}

// circle describes the waits of a cycle, and names the threads of the others, which are alike.
func (g *grapher) circle(alike [][]*wait) answer.Verdict {
	path := alike[0]
	var says, ends []answer.Statement
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		says = append(says, words.WaitInCircle.Of(g.holdsFor(before, w), g.keeps(before, w), g.what(w)))
		if !w.ends.IsZero() {
			ends = append(ends, words.EndsIn.Of(g.who(w), w.ends))
		}
		g.circled[w] = true
	}
	others, more := g.alsoRun(alike[1:])
	v := answer.Conclude(answer.FindingDeadlock, words.Deadlock.Of(words.Join(", ", says...), words.Join("", more, g.alsoWait(path))), answer.StrengthProved)
	if len(ends) > 0 {
		v.Kind = answer.FindingCircle
		v.Statement = words.CircleOfWaits.Of(words.Join(", ", says...), words.Join(", ", ends...))
	}
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		if w.op != nil {
			v.Rests = words.Suspended
		}
		if h := g.holderOf(before.lock, w); h != nil {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely) // a semaphore does not record who has entered
			v.Because(g.holderEvidence(h, before.lock))
		}
		if w.how != answer.HowRecorded || !w.proved || !w.ends.IsZero() {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
		v.Because(g.evidence(w))
		v.Show = append(v.Show, g.show(w)...)
		v.Sites = append(v.Sites, g.site(w))
	}
	if len(others) > 0 {
		v.Because(g.evidences(others)...)
		v.Sites, v.Count = append(v.Sites, g.sites(others)...), len(others)+len(path)
	}
	return v
}

// alsoRun returns the waits of threads that run other tasks of a wait, in cycles like the one that circle describes, and names the threads.
func (g *grapher) alsoRun(alike [][]*wait) (others []*wait, says answer.Statement) {
	var names []answer.Statement
	for _, path := range alike {
		for _, w := range path[1:] {
			g.circled[w] = true
		}
		if w := path[1]; w.thread != nil && !slices.Contains(others, w) {
			others, names = append(others, w), append(names, g.name(w.thread))
		}
	}
	if len(others) == 0 {
		return nil, answer.Statement{}
	}
	return others, words.AlsoRun.Of(words.N(len(others)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
}

// alsoWait counts the suspended code outside a cycle that waits for something held in it.
func (g *grapher) alsoWait(path []*wait) answer.Statement {
	var more []answer.Statement
	var seen []*lock
	for _, w := range path {
		if w.lock == nil || slices.Contains(seen, w.lock) {
			continue
		}
		seen = append(seen, w.lock)
		n := 0
		for _, other := range g.ops {
			if other.lock == w.lock && !slices.Contains(path, other) {
				g.circled[other] = true
				n++
			}
		}
		if n > 0 {
			more = append(more, words.MoreWait.Of(words.N(n), g.lockText(w.lock)))
		}
	}
	return words.Join("", more...)
}

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

// holdsFor names the thread or method that keeps w waiting by its own wait by.
func (g *grapher) holdsFor(w, by *wait) answer.Statement {
	if h := g.holderOf(w.lock, by); h != nil {
		return g.holderName(h)
	}
	return g.who(by)
}

// keeps describes how by makes w wait.
func (g *grapher) keeps(w, by *wait) answer.Statement {
	switch {
	case g.holderOf(w.lock, by) != nil:
		return words.HasEntered.Of(g.lockText(w.lock))
	case w.op != nil && w.lock == nil:
		return words.RunsAwaited.Of(g.who(w))
	case w.join:
		return words.HasNotEnded.Of()
	case w.serves != "":
		return words.Text(w.serves)
	case w.callback != "":
		return words.Runs.Of(words.Text(w.callback))
	case w.class != 0:
		return words.Runs.Of(g.what(w))
	case len(w.tasks) > 1:
		return g.runsOneOf(w, by)
	case w.lock == nil && len(w.chain) > 1:
		return words.RunsAwaited.Of(g.what(w))
	case w.lock == nil:
		return words.Runs.Of(g.what(w))
	}
	return words.Holds.Of(g.what(w))
}

// runsOneOf names the task of those that w waits for that the thread of by runs.
func (g *grapher) runsOneOf(w, by *wait) answer.Statement {
	for _, a := range w.tasks {
		if by.thread != nil && g.s.runs(a) == by.thread {
			return words.Runs.Of(words.TaskAt.Of(words.Object(a)))
		}
	}
	return words.RunsAwaited.Of(g.who(w))
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

// chains describes the threads that block until a task completes, the awaited locks with known owners, and the threads
// that wait for others in other ways.
func (g *grapher) chains() []answer.Verdict {
	var out []answer.Verdict
	for _, alike := range g.blocked() {
		out = append(out, g.blocks(alike...))
	}
	out = slices.Concat(out, g.held(), g.unheld(), g.others(), g.sharedHandles(), g.fullSemaphores())
	for _, w := range g.s.waits {
		if (len(w.tasks) > 0 || w.event != 0) && !w.completed && !g.circled[w] && w.entry && !w.entryIdles() {
			out = append(out, g.blocks(w))
		}
	}
	return out
}

// blocked groups the threads that block until a task completes by place and awaited async methods. It skips tasks that
// a known thread runs.
func (g *grapher) blocked() [][]*wait {
	var out [][]*wait
	at := map[string]int{}
	for _, w := range g.s.waits {
		if len(w.tasks) == 0 && w.event == 0 || w.completed || g.circled[w] || w.entry {
			continue
		}
		row := g.rows[w.thread]
		key := fmt.Sprintf("%s|%q|%s|%s|%t|%s|%d", g.placeOf(w).Text, w.chain, row.Until, w.ends.Text, w.proved, w.how, len(w.tasks))
		if i, ok := at[key]; ok && len(w.runners) == 0 && !row.Method.IsZero() {
			out[i] = append(out[i], w)
			continue
		}
		if len(w.runners) == 0 {
			at[key] = len(out)
		}
		out = append(out, []*wait{w})
	}
	return out
}

// blocks describes one thread that blocks until a task completes, or several alike, with the async methods between.
func (g *grapher) blocks(alike ...*wait) answer.Verdict {
	w := alike[0]
	row := g.rows[w.thread]
	block := words.Blocks.Of(g.name(w.thread), g.placeOf(w), completes(w))
	if len(alike) > 1 {
		block = words.BlockAlike.Of(words.N(len(alike)), g.name(w.thread), g.placeOf(w), completes(w))
	}
	main := len(alike) == 1 && g.mainWaits(w)
	if main { // as an async Main does
		block = words.EntryWaits.Of(g.name(w.thread), g.placeOf(w), completes(w))
	}
	if len(w.chain) > 0 {
		block = block.Plus(awaitChain(w))
	}
	deadlock := ""
	switch {
	case len(w.runners) > 0:
		block = block.Plus(words.WhichRuns.Of(g.name(w.runners[0])))
	case row.Until != "":
		block = block.Plus(words.WhichWaitsFor.Of(w.until))
	case w.ready:
		block = block.Plus(words.CanGoOn.Of())
		if name := g.s.postsTo(w.thread); name != "" && w.ends.IsZero() {
			deadlock = name
			w.proved = false
		}
	}
	v := answer.Conclude(answer.FindingBlocked, words.SyncOverAsync.Of(block), answer.StrengthProved, g.evidences(alike)...)
	v.Show = g.show(w)
	if len(alike) > 1 {
		v.Count = len(alike)
	}
	switch {
	case deadlock != "":
		v.Kind, v.Statement = answer.FindingDeadlock, words.ContextDeadlock.Of(block, words.Type(deadlock))
		v.Because(words.ContextOf.Of(g.name(w.thread)))
	case main:
		v.Kind, v.Statement = answer.FindingEntryPoint, block
	}
	if n := g.sameScheduler(alike); n > 0 {
		meanwhile := words.ThreadsRunScheduler.Of(words.N(n))
		if n == 1 {
			meanwhile = words.ThreadRunsScheduler.Of(g.name(w.thread))
		}
		v.Statement = v.Plus(meanwhile)
		v.Because(words.CurrentTasks.Of())
	}
	if !w.proved {
		v.Strength = answer.StrengthLikely // concluded from the awaited objects
	}
	if g.s.pool != nil && len(g.s.pool.Verdicts) > 0 && w.until.Says == words.PoolWorker.Kind() {
		v.Strength = g.s.pool.Verdicts[0].Strength
		v.Because(g.s.pool.Verdicts[0].Statement)
	}
	v.Sites = g.sites(alike)
	v.Statement = v.Plus(g.onward(w.runners, w))
	return v
}

// completes describes the tasks that a blocked thread waits for.
func completes(w *wait) answer.Statement {
	switch {
	case len(w.tasks) > 1:
		return words.TasksComplete.Of(words.N(len(w.tasks)))
	case w.async:
		return words.AsyncCompletes.Of()
	}
	return words.TaskCompletes.Of()
}

// awaitChain names the async methods between a thread and what it waits for.
func awaitChain(w *wait) answer.Statement { return words.AwaitChain.Of(chainMethods(w)) }

func chainMethods(w *wait) answer.Statement {
	var list []answer.Statement
	for _, name := range w.chain {
		list = append(list, words.Method(name))
	}
	return words.Join(" awaits ", list...)
}

// sameScheduler counts the threads that run a task of a TaskScheduler while the awaited task is queued in the same one.
func (g *grapher) sameScheduler(alike []*wait) (n int) {
	if g.s.running == nil {
		return 0
	}
	for _, w := range alike {
		if name := w.scheduler; name != "" {
			for task, t := range g.s.running.tasks {
				if t != w.thread {
					continue
				}
				if own, err := g.s.found.tasks.SchedulerOf(task); err == nil && own == name {
					n++
					break
				}
			}
		}
	}
	return n
}

// placeOf names the program's method in which a thread waits, with file and line, after " in ".
func (g *grapher) placeOf(w *wait) answer.Statement {
	row := g.rows[w.thread]
	if row.Method.IsZero() {
		return answer.Statement{}
	}
	return words.PlaceOfWait.Of(words.Method(compilernames.Pretty(row.Method.String())), lineOf(row.File, row.Line))
}

// onward describes, one after another, the waits of the threads for which from waits. It ends at a thread that does not
// wait for another, or at a wait already described.
func (g *grapher) onward(list []*stackwalk.Thread, from *wait) answer.Statement {
	var out []answer.Statement
	seen := map[*wait]bool{from: true}
	for len(list) > 0 {
		at := max(slices.IndexFunc(list, func(t *stackwalk.Thread) bool { return g.of[t] != nil }), 0)
		w := g.of[list[at]]
		if w == nil {
			out = append(out, g.doing(list[at]))
			break
		}
		if seen[w] {
			break
		}
		seen[w], g.described[w] = true, true
		if g.circled[w] {
			out = append(out, words.DescribedAbove.Of(g.name(w.thread)))
			break
		}
		out = append(out, words.ItselfWaits.Of(g.name(w.thread), g.waits(w), g.placeOf(w), g.end(w)))
		list = w.runners
	}
	return words.Join("", out...)
}

// waits describes what a thread waits for, with the address where it helps.
func (g *grapher) waits(w *wait) answer.Statement {
	row := g.rows[w.thread]
	switch {
	case len(w.chain) > 0:
		return words.AwaitedChain.Of(g.does(w, false), chainMethods(w))
	case w.join || w.serves != "" || w.callback == callbackOfToken:
		return g.does(w, true)
	}
	return words.DoesObject.Of(g.does(w, true), g.addressName(row.Object))
}

// end describes what must happen before a thread can proceed, as far as it is known.
func (g *grapher) end(w *wait) answer.Statement {
	switch {
	case len(w.runners) > 0 && w.lock != nil:
		return words.WhichHolds.Of(g.name(w.runners[0]), words.Text(holdsVerb(w.lock)))
	case w.join:
		return answer.Statement{}
	case w.serves != "":
		return words.WhichServes.Of(g.name(w.runners[0]), words.Text(w.serves))
	case len(w.runners) > 0:
		return words.WhichRuns.Of(g.name(w.runners[0]))
	case !w.until.IsZero():
		return words.WhichWaitsFor.Of(w.until)
	case w.lock != nil && w.lock.Kind == answer.LockSemaphore:
		if u := g.s.uses[w.lock]; u != nil && len(u.holders) > 0 {
			return words.StateHolder.Of(w.lock.Counts, g.holderName(&u.holders[0]), entered(u.holders[0].strength))
		}
		if at, _, _ := g.collection(w, func(k *boundedCollection) *objects.RefField { return &k.Items }); at != 0 && w.lock.count == 0 {
			return words.StateItems.Of(words.Object(at))
		}
		return words.StateUnknown.Of(w.lock.Counts)
	}
	return answer.Statement{}
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

// others describes where waits for a thread's end or a static constructor lead.
func (g *grapher) others() []answer.Verdict {
	var out []answer.Verdict
	for _, w := range g.s.waits {
		if g.circled[w] || g.described[w] || w.lock != nil || len(w.tasks) > 0 || !slices.ContainsFunc(w.runners, func(t *stackwalk.Thread) bool { return g.of[t] != nil }) || g.joinsWorkers(w) {
			continue
		}
		if kind, _ := g.heldBy(w.runners, 1); w.class != 0 && kind == answer.NoFinding {
			continue // the constructor goes on in a moment
		}
		v := answer.Conclude(answer.FindingWait, words.OtherWait.Of(g.name(w.thread), g.does(w, true), g.placeOf(w), g.end(w), g.onward(w.runners, w)), answer.StrengthLikely, g.evidence(w))
		v.Show, v.Sites = g.show(w), []answer.Site{g.site(w)}
		out = append(out, v)
	}
	return out
}

// leftBehind is what it rests on that code has left a lock or a permit behind. A collector at work can look like that.
var leftBehind = []answer.Premise{answer.HeapAtRest}

// held describes each held lock and its waiters.
func (g *grapher) held() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		var names []answer.Statement
		strength := answer.StrengthProved
		var alike []*wait
		var first *wait
		for _, w := range g.s.waits {
			if w.lock != l || w.pulse || len(w.runners) == 0 || g.circled[w] {
				continue // a cycle already includes it
			}
			first = cmp.Or(first, w)
			names = append(names, g.name(w.thread))
			alike = append(alike, w)
			if w.how != answer.HowRecorded {
				strength = answer.StrengthLikely
			}
		}
		if len(names) == 0 {
			continue
		}
		if g.passing(l, first) {
			g.soon(alike)
			continue
		}
		waiting := words.ManyWait.Of(words.N(len(names)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
		if len(names) == 1 {
			waiting = words.OneWaits.Of(names[0])
		}
		var onward answer.Statement
		var kind answer.FindingKind
		var severity answer.Severity
		switch {
		case len(first.runners) == 1 && first.runners[0].OS == nil:
			kind = answer.FindingAbandoned
			onward = g.onward(first.runners, first)
		case len(first.runners) == 1 && l.Kind != answer.LockLazy && g.idles(first.runners[0]):
			kind, strength = answer.FindingAbandoned, answer.Weakest(strength, answer.StrengthLikely)
			onward = words.LeftHeld.Of(g.name(first.runners[0]))
		default:
			onward = g.onward(first.runners, first)
			if kind, severity = g.heldBy(first.runners, len(names)); kind == answer.NoFinding {
				g.soon(alike)
			}
		}
		v := answer.Conclude(kind, words.HeldLock.Of(g.holds(l, first), g.lockName(l), waiting, limitOf(alike), onward), strength, g.evidences(alike)...)
		v.Count, v.Sites, v.Thing, v.Severity = len(names), g.sites(alike), g.lockName(l).Text, severity
		v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.showRunner(first)...)
		if kind == answer.FindingAbandoned {
			v.Rests = leftBehind
		}
		out = append(out, v)
	}
	return out
}

// lockName names a lock by its kind, its address and the field that holds it.
func (g *grapher) lockName(l *lock) answer.Statement {
	return words.DoesObject.Of(kindOf(l), g.addressName(l.Address))
}

// idles reports whether a thread is a thread pool worker without work: its stack has no code of the program.
func (g *grapher) idles(t *stackwalk.Thread) bool {
	if t.OS == nil || t.Managed == nil || t.Managed.Finalizer || g.of[t] != nil {
		return false
	}
	a := threads.ActivityOf(t, g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	return a.Activity == threads.ActivityIdle && a.Caller == nil && a.Err == nil
}

// unheld describes the ReaderWriterLockSlims that readers hold although no reader was found. Those readers have ended
// or continued in another thread; only the thread that entered can leave.
func (g *grapher) unheld() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		if l.Kind != answer.LockReaderWriter || !l.Held || l.owner != nil || len(l.readers) > 0 || l.unread || g.s.r.unread != nil {
			continue
		}
		var alike []*wait
		for _, w := range g.s.waits {
			if w.lock == l && !g.circled[w] {
				alike = append(alike, w)
			}
		}
		if len(alike) == 0 {
			continue
		}
		v := answer.Conclude(answer.FindingAbandoned, words.Unheld.Of(g.waiting(alike), g.lockName(l), l.Counts, limitOf(alike)), answer.StrengthLikely, g.evidences(alike)...)
		v.Count, v.Sites, v.Thing = len(alike), g.sites(alike), g.lockName(l).Text
		v.Show = append([]string{"dumpobj " + addressText(l.Address)}, g.show(alike[0])...)
		v.Because(words.EnteredLists.Of())
		out = append(out, v)
	}
	return out
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

// limitOf states how waits end by themselves, if all of them do.
func limitOf(list []*wait) answer.Statement {
	longest := int32(-1)
	for _, w := range list {
		switch {
		case w.ends.IsZero():
			return answer.Statement{}
		case w.timeout < 0:
			return words.CanEnd.Of()
		}
		longest = max(longest, w.timeout)
	}
	return words.ForAtMost.Of(words.Duration(time.Duration(longest) * time.Millisecond))
}

// listedWaiters is how many threads that wait for a lock are named.
const listedWaiters = 16

// holdsVerb returns the verb for a lock's owner.
func holdsVerb(l *lock) string {
	if l.Kind == answer.LockLazy {
		return "makes"
	}
	return "holds"
}

// holds names the holders of a lock that a thread waits for.
func (g *grapher) holds(l *lock, w *wait) answer.Statement {
	list := w.runners
	if len(list) == 1 {
		says := words.ThreadHolds
		if list[0].OS == nil {
			says = words.EndedHolds
		}
		return says.Of(g.name(list[0]), words.Text(holdsVerb(l)))
	}
	names := make([]answer.Statement, len(list))
	for i, t := range list {
		names[i] = g.name(t)
	}
	return words.ThreadsHold.Of(words.N(len(list)), words.Join(", ", names[:min(len(names), listedWaiters)]...), moreThan(len(names), listedWaiters))
}

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
