package locks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// Waits describes what each thread waits for and where that leads: to cycles of threads, and to
// threads that block until a task completes. It records what could not be read. The error is ctx's.
func (r *Reader) Waits(ctx context.Context, o Options) (*answer.Waits, error) {
	ctx = absent.Context(ctx)
	out := &answer.Waits{Verdicts: []answer.Verdict{}, Threads: []answer.ThreadWait{}}
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
	// The names of the locks of threads alone are not worth a walk of the heap.
	if err := s.nameObjects(s.waitedFor(), s.found.suspended, o.Scan); err != nil {
		return nil, err
	}
	g := newGrapher(s)
	g.nodes()
	g.describe()
	out.Looked = s.looked
	var idle idleCount
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
		out.Threads = append(out.Threads, *g.rows[w.thread])
	}
	groups := g.grouped(&idle)
	for _, w := range groups {
		out.Operations = append(out.Operations, w.OperationWait)
	}
	out.Idle = idle.sorted()
	out.Verdicts = g.circles()
	rest := slices.Concat(g.chains(), g.suspended(groups), g.rings(), g.standing())
	slices.SortStableFunc(rest, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
	out.Verdicts = append(out.Verdicts, rest...)
	return out, ctx.Err()
}

// byStrength orders verdicts, the strongest first.
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
	named := map[string]bool{}
	for _, op := range s.ops {
		if op.idle() != "" {
			continue
		}
		t := op.thing
		switch {
		case t.addr != 0:
			out[t.addr] = true
		case t.source != 0 && !named[op.method.S]: // the promises of a method have one kind of holder
			out[t.source], named[op.method.S] = true, true
		}
	}
	for l := range s.uses {
		out[l.Address] = true
	}
	return out
}

// incomplete reports whether parts of the heap or of the threads could not be read.
func (s *survey) incomplete() bool { return s.lost }

func newGrapher(s *survey) *grapher {
	return &grapher{s: s, rows: map[*threads.Thread]*answer.ThreadWait{}, of: map[*threads.Thread]*wait{}, circled: map[*wait]bool{}, described: map[*wait]bool{},
		entered: map[*lock][]*wait{}, holding: map[target.Addr]bool{}, counted: map[target.Addr]bool{}}
}

// A grapher describes waits and where they lead.
type grapher struct {
	s         *survey
	rows      map[*threads.Thread]*answer.ThreadWait
	of        map[*threads.Thread]*wait // what each thread waits for
	circled   map[*wait]bool            // the waits in cycles
	described map[*wait]bool            // the waits already described where they block another thread
	ops       []*wait                   // the waits of suspended code
	entered   map[*lock][]*wait         // the waits of those who have entered a semaphore; nil for one who does not wait
	counted   map[target.Addr]bool      // what the entry point waits for where that is normal
	holding   map[target.Addr]bool      // the suspended methods that hold, or may hold, a semaphore
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
			row.Text = "waits for " + kindOf(w.lock)
			if w.pulse {
				row.Text = "waits for a pulse of " + w.lock.Type.String()
			}
		case w.unread != "":
			row.Kind, row.Text = answer.LockMonitor, "waits for "+w.unread
		case w.serves != "":
			row.Kind, row.Text = "finalizer", "waits for the finalizer thread"
		case w.join:
			row.Kind, row.Text = "thread", "waits for "+g.ended(w)
			if w.object.Addr != 0 {
				row.Object, row.Type = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName())
			}
		case w.async:
			row.Kind, row.Object, row.Text = "task", w.tasks[0], "waits for an async of F# to complete"
			row.Chain, row.Until = w.chain, w.until
		case w.object.Addr != 0:
			row.Object, row.Type, row.Name = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName()), g.s.names[w.object.Addr]
			row.Kind, row.Text = "wait handle", "waits for "+article(row.Type.String())
			if ok, err := shapes.Is[*mutex](g.s.r.b, w.object.Type); ok && err == nil && w.more == 0 && len(w.runners) == 0 {
				row.Note = "its owner " + g.s.ownedElsewhere()
			}
			if w.more > 0 {
				row.Text = fmt.Sprintf("waits for %d wait handles, the first %s", w.more+1, article(row.Type.String()))
			}
		case w.class != 0:
			row.Kind, row.Object = "static constructor", w.class
			row.Type = g.s.gaps.Text(g.s.r.rt.TypeName(w.class, dac.NameManaged))
			row.Text = "waits for the static constructor of " + row.Type.String()
		default:
			row.Kind, row.Object, row.Text = "task", w.event, "waits for a task that was not found"
			if len(w.tasks) == 0 {
				continue
			}
			row.Object, row.Type = w.tasks[0], g.s.typeOf(w.tasks[0])
			row.Text = "waits for a task to complete: " + taskName(row.Type.String())
			if n := len(w.tasks); n > 1 {
				row.Text = fmt.Sprintf("waits for %d tasks to complete, the first a %s", n, row.Type)
			}
			row.Chain, row.Until = w.chain, w.until
		}
		if w.remote != "" {
			row.Kind, row.Text = w.remote, remoteTexts[w.remote]+", with "+strings.TrimPrefix(row.Text, "waits for ")
		}
	}
}

// ended names the end of the thread that a thread waits for.
func (g *grapher) ended(w *wait) string {
	switch {
	case w.object.Addr == 0:
		return "the end of an unknown thread"
	case len(w.runners) == 0:
		return "the end of a thread that has ended"
	case w.runners[0] == w.thread:
		return "its own end"
	}
	return "the end of thread " + g.name(w.runners[0])
}

// kindOf returns the kind of a lock in words.
func kindOf(l *lock) string {
	switch l.Kind {
	case answer.LockLazy:
		return "the value of a " + l.Type.String()
	case answer.LockSpin:
		return "the SpinLock " + l.Type.String()
	}
	if l.Kind == answer.LockMonitor || l.Kind == answer.LockThin {
		return "the monitor of a " + l.Type.String()
	}
	if strings.HasSuffix(l.Type.S, "."+l.Kind) {
		return article(l.Kind)
	}
	return article(l.Kind) + ", a " + l.Type.String() + ","
}

func article(kind string) string {
	if strings.ContainsRune("aeiouAEIOU", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
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
		if err != nil || strings.HasPrefix(class, "System.") || strings.HasPrefix(class, "Interop") || strings.HasPrefix(class, "Microsoft.Win32.") || strings.HasPrefix(class, fsharpControl) || isStub(&f, md) {
			called, _ = code.Of(f.Runtime).MethodName(md, code.MethodFull)
			continue
		}
		g.program(row, &f)
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
	row.Ends = w.ends
}

// isStub reports whether a method is one that reflection makes to call another.
func isStub(f *stackwalk.Frame, md *code.MethodDesc) bool {
	name, err := code.Of(f.Runtime).MethodName(md, code.MethodQualified)
	return err == nil && strings.HasPrefix(name, reflectionStub)
}

// reflectionStub begins the names of methods that reflection makes to call others.
const reflectionStub = "DynamicClass.InvokeStub_"

// program sets the method of a row to that of a frame, with file and line.
func (g *grapher) program(row *answer.ThreadWait, f *stackwalk.Frame) {
	md, err := f.Method()
	if err != nil || md == nil {
		return
	}
	row.Method = g.s.gaps.Text(code.Of(f.Runtime).MethodName(md, code.MethodQualified))
	row.File, row.Line = "", 0
	if line, err := f.SourceLine(); err == nil {
		row.File, row.Line = line.File, line.Line
	}
}

// waitsForSignal reports whether a wait is for an event or a handle, by which a client library waits for what a server sends.
func (w *wait) waitsForSignal() bool {
	if w.lock != nil {
		return w.lock.Kind == answer.LockEvent || w.lock.Kind == answer.LockSemaphore
	}
	return w.object.Addr != 0 && !w.join
}

// remoteTexts describe what client libraries wait for.
var remoteTexts = map[string]string{answer.WaitConnection: "waits for a connection", answer.WaitServer: "waits for the server's answer"}

// entryPoints are the names that compilers give to the method that the host calls.
var entryPoints = []string{"Main", "<Main>", "<Main>$"}

// endsByItself describes how a wait can end by itself: by the time that is recorded or, by the method of the class library that the program
// called, by a cancellation or by another task. It is empty if nothing says that it can.
func endsByItself(w *wait, called string) string {
	if w.timeout >= 0 && w.how == answer.HowRecorded {
		return fmt.Sprintf("waits for at most %v", time.Duration(w.timeout)*time.Millisecond)
	}
	name, arguments, _ := strings.Cut(called, "(")
	switch {
	case strings.Contains(name, ".WaitAny"):
		return "waits for any of several"
	case strings.Contains(arguments, "System.Threading.CancellationToken"):
		return "can be canceled if its token can"
	case w.serves == "" && (w.how != answer.HowRecorded || w.steps) && (strings.Contains(arguments, "Int32") || strings.Contains(arguments, "System.TimeSpan")):
		return "may wait for a limited time, which is unknown"
	}
	return ""
}

func frameName(f *answer.AsyncFrame) string {
	if f.AsyncPlace != nil && f.Method.Err == nil && f.Method.S != "" {
		name := f.Method.S
		if f.File != "" {
			name += fmt.Sprintf(" (%s:%d)", f.File, f.Line)
		}
		return name
	}
	if f.AsyncName != nil {
		return f.Name.String()
	}
	return f.Kind
}

// circles finds the cycles of threads that wait for each other, each once. A cycle closes where the
// search returns to a wait on its path.
func (g *grapher) circles() []answer.Verdict {
	out := []answer.Verdict{}
	var path []*wait
	done := map[*wait]bool{}
	var visit func(*wait)
	visit = func(w *wait) {
		if from := slices.Index(path, w); from >= 0 {
			out = append(out, g.circle(path[from:]))
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
	slices.SortStableFunc(out, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
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

// circle describes who waits for whom in a cycle.
func (g *grapher) circle(path []*wait) answer.Verdict {
	v := answer.Verdict{Kind: answer.FindingDeadlock, Strength: answer.StrengthProved}
	var words, ends []string
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		words = append(words, fmt.Sprintf("%s %s and waits for %s", g.who(w), g.keeps(before, w), g.what(w)))
		if w.op != nil && before.lock != nil {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely) // a semaphore does not record who has entered
			v.Evidence = append(v.Evidence, g.keepsEvidence(before.lock, w.op))
		}
		if w.how != answer.HowRecorded || !w.proved || w.ends != "" {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
		if w.ends != "" {
			ends = append(ends, fmt.Sprintf("%s %s", g.who(w), w.ends))
		}
		v.Evidence = append(v.Evidence, g.evidence(w))
		v.Show = append(v.Show, g.show(w)...)
		v.Sites = append(v.Sites, g.site(w))
		g.circled[w] = true
	}
	v.Text = "deadlock: " + strings.Join(words, ", ")
	v.Text += g.alsoWait(path)
	if len(ends) > 0 {
		v.Kind = answer.FindingCircle
		v.Text = "circle of waits that can end by itself: " + strings.Join(words, ", ") + "; " + strings.Join(ends, ", ")
	}
	return v
}

// alsoWait counts the suspended code outside a circle that waits for what is held in it.
func (g *grapher) alsoWait(path []*wait) string {
	var text strings.Builder
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
			fmt.Fprintf(&text, "; %d more %s for %s", n, verb(n, "waits", "wait"), g.lockText(w.lock))
		}
	}
	return text.String()
}

// site returns where w waits.
func (g *grapher) site(w *wait) answer.Site {
	var s answer.Site
	if w.op != nil {
		s.Method, s.Does = w.op.method, w.op.thing.kind
	} else {
		row := g.rows[w.thread]
		s.Method, s.Does, s.Thread = row.Method, row.Kind, row.Thread.OSID
	}
	if l := w.lock; l != nil && (l.Kind == answer.LockMonitor || l.Kind == answer.LockThin) {
		s.Does = answer.LockMonitor + " of " + l.Type.S
	}
	return s
}

// sites returns where several wait.
func (g *grapher) sites(list []*wait) []answer.Site {
	out := make([]answer.Site, len(list))
	for i, w := range list {
		out[i] = g.site(w)
	}
	return out
}

// who names who waits.
func (g *grapher) who(w *wait) string {
	if w.op != nil {
		return fmt.Sprintf("%s %s", w.op.method, addressText(w.op.box))
	}
	return "thread " + g.name(w.thread)
}

// show returns the commands that show a wait.
func (g *grapher) show(w *wait) []string {
	if w.op != nil {
		return []string{"dumpasync -address " + addressText(w.op.box)}
	}
	return showThread(w.thread.Describe(g.s.gaps))
}

// keepsEvidence states why suspended code holds a semaphore.
func (g *grapher) keepsEvidence(l *lock, op *operation) string {
	u := g.s.uses[l]
	for i := range u.holders {
		if u.holders[i].box == op.box {
			return g.holderEvidence(&u.holders[i], l)
		}
	}
	return ""
}

// keeps describes what by does that makes w wait.
func (g *grapher) keeps(w, by *wait) string {
	switch {
	case by.op != nil && w.lock != nil:
		return "has likely entered " + g.lockText(w.lock)
	case w.op != nil && w.lock == nil:
		return "runs what " + g.who(w) + " waits for"
	case w.join:
		return "has not ended"
	case w.serves != "":
		return w.serves
	case w.class != 0:
		return "runs " + g.what(w)
	case w.lock == nil && len(w.chain) > 1:
		return "runs what " + g.what(w) + " waits for"
	case w.lock == nil:
		return "runs " + g.what(w)
	}
	return "holds " + g.what(w)
}

// evidence states where a thread waits, and how that is known.
func (g *grapher) evidence(w *wait) string {
	if w.op != nil {
		text := g.who(w)
		if w.op.file != "" {
			text += fmt.Sprintf(" (%s:%d)", w.op.file, w.op.line)
		}
		return text + " waits for " + g.thingText(w.op.thing) + " [recorded]"
	}
	row := g.rows[w.thread]
	text := fmt.Sprintf("thread %s %s", g.name(w.thread), row.Text)
	if row.Object != 0 {
		text += " " + g.addressName(row.Object)
	}
	if row.Note != "" {
		text += " (" + row.Note + ")"
	}
	if text += g.placeOf(w); w.ends != "" {
		text += ", " + w.ends
	}
	return text + " [" + w.how + "]"
}

// evidences states where threads wait, equal waits together.
func (g *grapher) evidences(list []*wait) []string {
	var order []string
	by := map[string][]*wait{}
	for _, w := range list {
		row := g.rows[w.thread]
		key := fmt.Sprint(row.Text, row.Object, g.placeOf(w), w.ends, w.how)
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], w)
	}
	var out []string
	for _, key := range order {
		alike := by[key]
		if len(alike) == 1 {
			out = append(out, g.evidence(alike[0]))
			continue
		}
		w, row := alike[0], g.rows[alike[0].thread]
		text := fmt.Sprintf("%d threads, the first %s, alike: each %s %s%s", len(alike), g.name(w.thread), row.Text, g.addressName(row.Object), g.placeOf(w))
		if w.ends != "" {
			text += ", " + w.ends
		}
		out = append(out, text+" ["+w.how+"]")
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

// what describes what a thread waits for.
func (g *grapher) what(w *wait) string {
	if w.op != nil {
		return g.thingText(w.op.thing)
	}
	row := g.rows[w.thread]
	switch {
	case w.class != 0:
		return "the static constructor of " + row.Type.String()
	case w.join:
		return g.ended(w)
	case w.unread != "":
		return w.unread
	case w.serves != "":
		return "the finalizer thread"
	case w.lock == nil && w.object.Addr == 0:
		return fmt.Sprintf("task %016x", uint64(row.Object))
	}
	return fmt.Sprintf("%s %s", row.Type, g.addressName(row.Object))
}

// addressName returns an address with the field that holds the object.
func (g *grapher) addressName(a target.Addr) string {
	if name := g.s.names[a]; name != "" {
		return addressText(a) + " (" + name + ")"
	}
	return addressText(a)
}

func (g *grapher) name(t *threads.Thread) string {
	d := t.Describe(g.s.gaps)
	words := fmt.Sprintf("%#x", d.OSID)
	switch {
	case d.Index != nil:
		words = fmt.Sprint(*d.Index)
	case t.OS == nil && t.Managed != nil:
		words = fmt.Sprintf("managed %d", d.ManagedID)
	}
	if d.Name != "" {
		words += fmt.Sprintf(" %q", d.Name)
	}
	return words
}

// chains describes the threads that block until a task completes, the awaited locks with known owners,
// and the threads that wait for others in other ways.
func (g *grapher) chains() []answer.Verdict {
	var out []answer.Verdict
	for _, alike := range g.blocked() {
		out = append(out, g.blocks(alike...))
	}
	out = slices.Concat(out, g.held(), g.unheld(), g.others(), g.sharedHandles(), g.fullSemaphores())
	for _, w := range g.s.waits {
		if (len(w.tasks) > 0 || w.event != 0) && !g.circled[w] && w.entry && !w.entryIdles() {
			out = append(out, g.blocks(w))
		}
	}
	return out
}

// blocked groups the threads that block until a task completes: those that do so at one place, for the same async methods, where no thread is
// known to run them.
func (g *grapher) blocked() [][]*wait {
	var out [][]*wait
	at := map[string]int{}
	for _, w := range g.s.waits {
		if len(w.tasks) == 0 && w.event == 0 || g.circled[w] || w.entry {
			continue
		}
		row := g.rows[w.thread]
		key := fmt.Sprintf("%s|%q|%s|%s|%t|%s|%d", g.placeOf(w), w.chain, row.Until, w.ends, w.proved, w.how, len(w.tasks))
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

// blocks describes a thread that blocks until a task completes, with the async methods between, or several that do alike.
func (g *grapher) blocks(alike ...*wait) answer.Verdict {
	w := alike[0]
	row := g.rows[w.thread]
	text := fmt.Sprintf("sync over async: thread %s blocks%s until ", g.name(w.thread), g.placeOf(w))
	if len(alike) > 1 {
		text = fmt.Sprintf("sync over async: %d threads, the first %s, block%s, each until ", len(alike), g.name(w.thread), g.placeOf(w))
	}
	if w.entry { // as an async Main does
		text = fmt.Sprintf("the program's entry point, usual in a service: thread %s waits%s until ", g.name(w.thread), g.placeOf(w))
	}
	switch {
	case len(w.tasks) > 1:
		text += fmt.Sprintf("%d tasks complete", len(w.tasks))
	case w.async:
		text += "an async of F# completes"
	default:
		text += "a task completes"
	}
	if len(w.chain) > 0 {
		text += ": " + strings.Join(w.chain, " awaits ")
	}
	v := answer.Verdict{Kind: answer.FindingBlocked, Strength: answer.StrengthProved, Evidence: g.evidences(alike), Show: g.show(w)}
	if len(alike) > 1 {
		v.Count = len(alike)
	}
	if w.entry {
		v.Kind = answer.FindingEntryPoint
	}
	switch {
	case len(w.runners) > 0:
		text += ", which thread " + g.name(w.runners[0]) + " runs"
	case row.Until != "":
		text += ", which waits for " + row.Until
	case w.ready:
		text += ", which can go on: what it awaits has completed"
		if name := g.s.postsTo(w.thread); name != "" && w.ends == "" {
			v.Kind = answer.FindingDeadlock
			text = "deadlock: " + strings.TrimPrefix(text, "sync over async: ") + "; it likely has to go on in this thread, whose SynchronizationContext is a " + name
			v.Evidence = append(v.Evidence, "the SynchronizationContext of thread "+g.name(w.thread)+": await goes on by it, in this thread, unless ConfigureAwait(false) is called")
			w.proved = false
		}
	}
	if n := g.sameScheduler(alike); n > 0 {
		text += fmt.Sprintf("; %s a task of that scheduler meanwhile", verb(n, "thread "+g.name(w.thread)+" runs", fmt.Sprintf("%d of these threads run", n)))
		v.Evidence = append(v.Evidence, "the current tasks of the threads, and their schedulers")
	}
	if !w.proved {
		v.Strength = answer.StrengthLikely // concluded from the awaited objects
	}
	if g.s.pool != nil && len(g.s.pool.Verdicts) > 0 && row.Until == inPool {
		v.Strength = g.s.pool.Verdicts[0].Strength
		v.Evidence = append(v.Evidence, g.s.pool.Verdicts[0].Text)
	}
	v.Sites = g.sites(alike)
	v.Text = text + g.onward(w.runners, w)
	return v
}

// sameScheduler counts the threads that run a task of the TaskScheduler in which the task has its turn for which they wait.
func (g *grapher) sameScheduler(alike []*wait) (n int) {
	if g.s.running == nil {
		return 0
	}
	for _, w := range alike {
		if _, name, ok := strings.Cut(w.until, tasks.TurnIn); ok {
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
func (g *grapher) placeOf(w *wait) string {
	row := g.rows[w.thread]
	if row.Method.IsZero() {
		return ""
	}
	text := " in " + compilernames.Pretty(row.Method.String())
	if row.File != "" {
		text += fmt.Sprintf(" (%s:%d)", row.File, row.Line)
	}
	return text
}

// onward describes what the threads wait for that from waits for, one after another. It ends at a
// thread that waits for no other, or at a wait already described.
func (g *grapher) onward(list []*threads.Thread, from *wait) string {
	var text strings.Builder
	seen := map[*wait]bool{from: true}
	for len(list) > 0 {
		at := max(slices.IndexFunc(list, func(t *threads.Thread) bool { return g.of[t] != nil }), 0)
		w := g.of[list[at]]
		if w == nil {
			text.WriteString(g.doing(list[at]))
			break
		}
		if seen[w] {
			break
		}
		seen[w], g.described[w] = true, true
		fmt.Fprintf(&text, "; thread %s ", g.name(w.thread))
		if g.circled[w] {
			text.WriteString("is in a circle described above")
			break
		}
		fmt.Fprintf(&text, "itself %s%s%s", g.waits(w), g.placeOf(w), g.end(w))
		list = w.runners
	}
	return text.String()
}

// waits describes what a thread waits for, with the address where it helps.
func (g *grapher) waits(w *wait) string {
	row := g.rows[w.thread]
	switch {
	case len(w.chain) > 0:
		return strings.TrimSuffix(row.Text, ": "+taskName(row.Type.String())) + " (" + strings.Join(w.chain, " awaits ") + ")"
	case w.join || w.serves != "":
		return row.Text
	}
	return row.Text + " " + g.addressName(row.Object)
}

// end describes what must happen before a thread can proceed, as far as it is known.
func (g *grapher) end(w *wait) string {
	switch {
	case len(w.runners) > 0 && w.lock != nil:
		return fmt.Sprintf(", which thread %s %s", g.name(w.runners[0]), holdsVerb(w.lock))
	case w.join:
		return ""
	case w.serves != "":
		return fmt.Sprintf(", thread %s, which %s", g.name(w.runners[0]), w.serves)
	case len(w.runners) > 0:
		return fmt.Sprintf(", which thread %s runs", g.name(w.runners[0]))
	case w.until != "":
		return ", which waits for " + w.until
	case w.lock != nil && w.lock.Kind == answer.LockSemaphore:
		if u := g.s.uses[w.lock]; u != nil && len(u.holders) > 0 {
			return fmt.Sprintf(" (%s; %s %s %s)", w.lock.State, u.holders[0].method, addressText(u.holders[0].box), entered(u.holders[0].strength))
		}
		return fmt.Sprintf(" (%s; it does not record who has entered)", w.lock.State)
	}
	return ""
}

// doing describes the activity of a thread that waits for no other.
func (g *grapher) doing(t *threads.Thread) string {
	if t.OS == nil || t.Managed == nil {
		return ""
	}
	a := t.DescribeActivity(g.s.gaps, t.Activity(g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{})))
	does := a.Text
	if strings.HasPrefix(does, "idle ") {
		does = "is " + does
	}
	text := fmt.Sprintf("; thread %s %s", g.name(t), does)
	if !a.Caller.IsZero() {
		text += " in " + compilernames.Pretty(a.Caller.String())
	}
	return text
}

// others describes where the waits for a thread's end or for a static constructor lead.
func (g *grapher) others() []answer.Verdict {
	var out []answer.Verdict
	for _, w := range g.s.waits {
		if g.circled[w] || g.described[w] || w.lock != nil || len(w.tasks) > 0 || !slices.ContainsFunc(w.runners, func(t *threads.Thread) bool { return g.of[t] != nil }) {
			continue
		}
		text := fmt.Sprintf("thread %s %s%s%s%s", g.name(w.thread), g.rows[w.thread].Text, g.placeOf(w), g.end(w), g.onward(w.runners, w))
		out = append(out, answer.Verdict{Kind: answer.FindingWait, Statement: answer.Statement{Text: text}, Strength: answer.StrengthLikely, Evidence: []string{g.evidence(w)}, Show: g.show(w),
			Sites: []answer.Site{g.site(w)}})
	}
	return out
}

// held describes each lock that is held, and who waits for it.
func (g *grapher) held() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		var names []string
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
		text := fmt.Sprintf("%s %s, for which ", g.holds(l, first), g.lockName(l))
		if len(names) == 1 {
			text += fmt.Sprintf("thread %s waits", names[0])
		} else {
			text += fmt.Sprintf("%d threads wait: %s", len(names), strings.Join(names[:min(len(names), listedWaiters)], ", "))
			if more := len(names) - listedWaiters; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
		}
		text += limitOf(alike)
		kind := answer.FindingHeld
		switch {
		case len(first.runners) == 1 && first.runners[0].OS == nil:
			kind = answer.FindingAbandoned
			text += g.onward(first.runners, first)
		case len(first.runners) == 1 && l.Kind != answer.LockLazy && g.idles(first.runners[0]):
			kind, strength = answer.FindingAbandoned, answer.Weakest(strength, answer.StrengthLikely)
			text += fmt.Sprintf("; thread %s waits for work of the thread pool: what took the lock has returned and still holds it", g.name(first.runners[0]))
		default:
			text += g.onward(first.runners, first) + g.perhapsMutual(first.runners, alike)
		}
		out = append(out, answer.Verdict{Kind: kind, Statement: answer.Statement{Text: text}, Strength: strength, Count: len(names), Evidence: g.evidences(alike),
			Show: append([]string{"dumpobj " + addressText(l.Address)}, g.showRunner(first)...), Sites: g.sites(alike), Thing: g.lockName(l)})
	}
	return out
}

// perhapsMutual says if the holder of a lock waits for a semaphore that one of those who wait for the lock may have entered: a method that it is in
// releases a semaphore later. A semaphore does not record who has entered.
func (g *grapher) perhapsMutual(holders []*threads.Thread, waiters []*wait) string {
	if len(holders) != 1 {
		return ""
	}
	w := g.of[holders[0]]
	if w == nil || w.lock == nil || w.lock.Kind != answer.LockSemaphore || w.lock.count > 0 || len(w.runners) > 0 || g.s.uses[w.lock] != nil {
		return ""
	}
	for _, other := range waiters {
		if g.releases(other) != nil {
			return fmt.Sprintf("; perhaps a deadlock: thread %s releases a semaphore in the method in which it waits, and may have entered this one", g.name(other.thread))
		}
	}
	return ""
}

// lockName names a lock by its kind, its address and the field that holds it.
func (g *grapher) lockName(l *lock) string { return kindOf(l) + " " + g.addressName(l.Address) }

// idles reports whether a thread is a worker of the thread pool that waits for work: none of the program's code is on its stack.
func (g *grapher) idles(t *threads.Thread) bool {
	if t.OS == nil || t.Managed == nil || t.Managed.Finalizer || g.of[t] != nil {
		return false
	}
	a := t.Activity(g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	return a.Activity == threads.ActivityIdle && a.Caller == nil && a.Err == nil
}

// unheld describes the ReaderWriterLockSlims that readers hold without a reader that was found: they have ended, or went on in another thread, and only
// the thread that entered can leave.
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
		who := fmt.Sprintf("thread %s waits", g.name(alike[0].thread))
		if len(alike) > 1 {
			who = fmt.Sprintf("%d threads, the first %s, wait", len(alike), g.name(alike[0].thread))
		}
		v := answer.Verdict{Kind: answer.FindingAbandoned, Strength: answer.StrengthLikely, Count: len(alike), Sites: g.sites(alike), Thing: g.lockName(l),
			Show:      append([]string{"dumpobj " + addressText(l.Address)}, g.show(alike[0])...),
			Statement: answer.Statement{Text: fmt.Sprintf("%s for %s, %s%s; no thread of the process has it among the locks that it reads: a thread that has ended never left it", who, g.lockName(l), l.State, limitOf(alike))}}
		v.Evidence = append(g.evidences(alike), "the lists of entered locks of all threads")
		out = append(out, v)
	}
	return out
}

// limitOf says how waits end by themselves, if all of them do.
func limitOf(list []*wait) string {
	longest := int32(-1)
	for _, w := range list {
		switch {
		case w.ends == "":
			return ""
		case w.timeout < 0:
			return ", in waits that can end by themselves"
		}
		longest = max(longest, w.timeout)
	}
	return fmt.Sprintf(", for at most %v", time.Duration(longest)*time.Millisecond)
}

// listedWaiters is how many threads that wait for a lock are named.
const listedWaiters = 16

// holdsVerb returns the verb for what the owner of a lock does.
func holdsVerb(l *lock) string {
	if l.Kind == answer.LockLazy {
		return "makes"
	}
	return "holds"
}

// holds describes who holds a lock that a thread waits for.
func (g *grapher) holds(l *lock, w *wait) string {
	list := w.runners
	if len(list) == 1 && list[0].OS == nil {
		return fmt.Sprintf("thread %s has ended and still %s", g.name(list[0]), holdsVerb(l))
	}
	if len(list) == 1 {
		return fmt.Sprintf("thread %s %s", g.name(list[0]), holdsVerb(l))
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = g.name(t)
	}
	text := strings.Join(names[:min(len(names), listedWaiters)], ", ")
	if more := len(names) - listedWaiters; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d threads (%s) hold", len(list), text)
}

// taskName returns a task's type as people say it: for the box of an async method, that method.
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
