package locks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/tasks"
	"github.com/sosgo/sosgo/threadpool"
	"github.com/sosgo/sosgo/threads"
)

// Waits says what each thread waits for, and where that leads: circles of threads, and threads that block until a task
// completes. What can't be read is noted. The error is the context's.
func (r *Reader) Waits(ctx context.Context, o Options) (*answer.Waits, error) {
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
	for _, w := range s.waits {
		s.follow(w)
	}
	if err := s.queued(); err != nil {
		return nil, err
	}
	g := &grapher{s: s, rows: map[*threads.Thread]*answer.ThreadWait{}, circled: map[*lock]bool{}}
	if err := g.describe(o); err != nil {
		return nil, err
	}
	for _, w := range s.waits {
		out.Threads = append(out.Threads, *g.rows[w.thread])
	}
	out.Verdicts = append(g.circles(), g.chains()...)
	return out, ctx.Err()
}

// follow finds the threads that another one waits for.
func (s *survey) follow(w *wait) {
	switch {
	case w.lock != nil && !w.pulse:
		w.runners = w.lock.holders()
	case w.task != 0:
		if t := s.runs(w.task); t != nil {
			w.runners = []*threads.Thread{t}
		}
	}
}

// runs is the thread that runs a task: the one that names it as its current one.
func (s *survey) runs(a target.Addr) *threads.Thread {
	for k, err := range shapes.Loaded[task](s.r.b) {
		if err != nil || !k.Current.Has() {
			continue
		}
		for i := range s.r.threads {
			t := &s.r.threads[i]
			if t.OS == nil || t.Managed == nil {
				continue
			}
			if at, err := k.Current.Of(t.Managed).Addr(); err == nil && at == a {
				return t
			}
		}
	}
	return nil
}

// queued reads what waits in the thread pool, if a thread waits for a task.
func (s *survey) queued() error {
	if !slices.ContainsFunc(s.waits, func(w *wait) bool { return w.task != 0 }) {
		return nil
	}
	p, err := threadpool.New(s.r.b, s.r.walker, s.r.threads).Describe(s.ctx, threadpool.Options{Items: true})
	if err != nil {
		return err
	}
	s.pool, s.items = p, map[target.Addr]bool{}
	for i := range p.Queues.Queues {
		for _, item := range p.Queues.Queues[i].Items {
			s.items[item.Address] = true
		}
	}
	return nil
}

// A grapher describes waits and where they lead.
type grapher struct {
	s       *survey
	rows    map[*threads.Thread]*answer.ThreadWait
	circled map[*lock]bool // the locks of circles
}

// describe makes the row of each wait.
func (g *grapher) describe(o Options) error {
	for _, w := range g.s.waits {
		row := &answer.ThreadWait{Thread: w.thread.Describe(g.s.gaps), How: w.how}
		g.rows[w.thread] = row
		g.place(row, w)
		if len(w.runners) > 0 {
			d := w.runners[0].Describe(g.s.gaps)
			row.Owner = &d
		}
		switch {
		case w.lock != nil:
			row.Kind, row.Object, row.Type = w.lock.Kind, w.lock.Address, w.lock.Type
			row.Text = "waits for " + kindOf(w.lock)
			if w.pulse {
				row.Text = "waits for a pulse of " + w.lock.Type.String()
			}
		case w.join:
			row.Kind, row.Text = "thread", "waits for the end of "+g.ended(w)
			if w.object.Addr != 0 {
				row.Object, row.Type = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName())
			}
		case w.object.Addr != 0:
			row.Object, row.Type = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName())
			row.Kind, row.Text = "wait handle", "waits for "+article(row.Type.String())
			if ok, err := shapes.Is[mutex](g.s.r.b, w.object.Type); ok && err == nil && w.more == 0 {
				row.Text += ", whose owner is kept outside of managed memory and not known"
			}
			if w.more > 0 {
				row.Text = fmt.Sprintf("waits for %d wait handles, the first %s", w.more+1, article(row.Type.String()))
			}
		case w.class != 0:
			row.Kind, row.Object = "static constructor", w.class
			row.Type = g.s.gaps.Text(g.s.r.rt.TypeName(w.class, dac.NameManaged))
			row.Text = "waits for the static constructor of " + row.Type.String()
		default:
			row.Kind, row.Object, row.Text = "task", w.task, "waits for a task that was not found"
			if w.task == 0 {
				continue
			}
			row.Type = g.s.typeOf(w.task)
			row.Text = "waits for a task to complete: " + row.Type.String()
			set, err := g.s.taskSet(o.Scan)
			if err != nil {
				return err
			}
			if set != nil {
				g.async(row, set, w)
			}
		}
	}
	return nil
}

// ended is the thread whose end a thread waits for.
func (g *grapher) ended(w *wait) string {
	switch {
	case w.object.Addr == 0:
		return "a thread that is not known"
	case len(w.runners) == 0:
		return "a thread that has ended"
	}
	return "thread " + g.name(w.runners[0])
}

// kindOf is what a lock is, in words.
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

// place names the method of the program that waits, with file and line.
func (g *grapher) place(row *answer.ThreadWait, w *wait) {
	for f := range g.s.r.walker.Walk(g.s.ctx, w.thread.Managed, w.thread.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		md, err := f.Method()
		if err != nil || md == nil {
			continue
		}
		class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		if err != nil || strings.HasPrefix(class, "System.") || strings.HasPrefix(class, "Interop") || strings.HasPrefix(class, "Microsoft.Win32.") {
			continue
		}
		row.Method = g.s.gaps.Text(code.Of(f.Runtime).MethodName(md, code.MethodQualified))
		if line, err := f.SourceLine(); err == nil {
			row.File, row.Line = line.File, line.Line
		}
		return
	}
}

// async tells of a task which async methods stand between it and what they wait for.
func (g *grapher) async(row *answer.ThreadWait, set *tasks.Set, w *wait) {
	for stack, err := range set.Stacks(g.s.ctx, tasks.StackOptions{Address: w.task, Tasks: true}) {
		if err != nil {
			g.s.gaps.Note(err)
			return
		}
		frames := stack.Awaited(w.task)
		if frames == nil {
			continue
		}
		row.Chain = nil
		for _, f := range frames {
			row.Chain = append(row.Chain, frameName(f))
		}
		if stack.Reason.Err == nil {
			row.Until = stack.Reason.S
		}
		if g.waitsInPool(w, stack) {
			row.Until = inPool
		}
		return
	}
	if g.s.items[w.task] {
		row.Until = inPool
	}
}

// inPool is what a queued task waits for.
const inPool = "a worker of the thread pool, in whose queue it is"

// waitsInPool reports whether what a stack waits for is an item of the thread pool.
func (g *grapher) waitsInPool(w *wait, stack *answer.AsyncStack) bool {
	if g.s.items[w.task] {
		return true
	}
	for i := range stack.Waits {
		if g.s.items[stack.Waits[i].Object] {
			return true
		}
	}
	return len(stack.Frames) > 0 && g.s.items[stack.Frames[0].Object]
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

// circles are the threads that wait for each other, each circle once: it closes where the search comes back to a wait
// that it is still behind.
func (g *grapher) circles() []answer.Verdict {
	of := map[*threads.Thread]*wait{}
	for _, w := range g.s.waits {
		of[w.thread] = w
	}
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
		for _, t := range w.runners {
			if next := of[t]; next != nil {
				visit(next)
			}
		}
		path = path[:len(path)-1]
		done[w] = true
	}
	for _, w := range g.s.waits {
		visit(w)
	}
	return out
}

// circle says of a circle who waits for whom.
func (g *grapher) circle(path []*wait) answer.Verdict {
	v := answer.Verdict{Strength: answer.StrengthProved}
	var words []string
	for i, w := range path {
		before := path[(i+len(path)-1)%len(path)]
		words = append(words, fmt.Sprintf("thread %s holds %s and waits for %s", g.name(w.thread), g.what(before), g.what(w)))
		if w.how != answer.HowRecorded {
			v.Strength = answer.StrengthLikely
		}
		v.Evidence = append(v.Evidence, g.evidence(w))
		g.circled[w.lock] = true
	}
	v.Text = "deadlock: " + strings.Join(words, ", ")
	return v
}

// evidence is where a thread waits, and how that is known.
func (g *grapher) evidence(w *wait) string {
	row := g.rows[w.thread]
	text := fmt.Sprintf("thread %s %s", g.name(w.thread), row.Text)
	if row.Object != 0 {
		text += fmt.Sprintf(" %016x", uint64(row.Object))
	}
	if !row.Method.IsZero() {
		text += " in " + row.Method.String()
	}
	if row.File != "" {
		text += fmt.Sprintf(" (%s:%d)", row.File, row.Line)
	}
	return text + " [" + w.how + "]"
}

// what is what a thread waits for.
func (g *grapher) what(w *wait) string {
	row := g.rows[w.thread]
	switch {
	case w.class != 0:
		return "the static constructor of " + row.Type.String()
	case w.join:
		return "the end of " + g.ended(w)
	case w.lock == nil && w.object.Addr == 0:
		return fmt.Sprintf("task %016x", uint64(w.task))
	}
	return fmt.Sprintf("%s %016x", row.Type, uint64(row.Object))
}

func (g *grapher) name(t *threads.Thread) string {
	d := t.Describe(g.s.gaps)
	words := fmt.Sprintf("%#x", d.OSID)
	if d.Index != nil {
		words = fmt.Sprint(*d.Index)
	}
	if d.Name != "" {
		words += fmt.Sprintf(" %q", d.Name)
	}
	return words
}

// chains are the threads that block until a task completes, and the locks for which threads wait whose owner is known.
func (g *grapher) chains() []answer.Verdict {
	var out []answer.Verdict
	for _, w := range g.s.waits {
		if w.task != 0 {
			out = append(out, g.blocks(w))
		}
	}
	return append(out, g.held()...)
}

// blocks says of a thread that blocks until a task completes which methods are between.
func (g *grapher) blocks(w *wait) answer.Verdict {
	row := g.rows[w.thread]
	text := fmt.Sprintf("sync over async: thread %s blocks", g.name(w.thread))
	if !row.Method.IsZero() {
		text += " in " + row.Method.String()
	}
	if row.File != "" {
		text += fmt.Sprintf(" (%s:%d)", row.File, row.Line)
	}
	text += " until a task completes"
	if len(row.Chain) > 0 {
		text += ": " + strings.Join(row.Chain, " awaits ")
	}
	v := answer.Verdict{Strength: answer.StrengthProved, Evidence: []string{g.evidence(w)}}
	switch {
	case len(w.runners) > 0:
		text += ", which thread " + g.name(w.runners[0]) + " runs"
	case row.Until != "":
		text += ", which waits for " + row.Until
		v.Strength = answer.StrengthLikely // from what the awaited objects are
	}
	if g.s.pool != nil && len(g.s.pool.Verdicts) > 0 && row.Until == inPool {
		v.Strength = g.s.pool.Verdicts[0].Strength
		v.Evidence = append(v.Evidence, g.s.pool.Verdicts[0].Text)
	}
	v.Text = text
	return v
}

// held says of each lock that somebody holds who waits for it.
func (g *grapher) held() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		if g.circled[l] {
			continue // it is said already
		}
		var names []string
		strength := answer.StrengthProved
		var evidence []string
		for _, w := range g.s.waits {
			if w.lock != l || w.pulse || len(l.holders()) == 0 {
				continue
			}
			names = append(names, g.name(w.thread))
			evidence = append(evidence, g.evidence(w))
			if w.how != answer.HowRecorded {
				strength = answer.StrengthLikely
			}
		}
		if len(names) == 0 {
			continue
		}
		text := fmt.Sprintf("%s %s %016x, for which ", g.holds(l), kindOf(l), uint64(l.Address))
		if len(names) == 1 {
			text += fmt.Sprintf("thread %s waits", names[0])
		} else {
			text += fmt.Sprintf("%d threads wait: %s", len(names), strings.Join(names, ", "))
		}
		out = append(out, answer.Verdict{Text: text, Strength: strength, Evidence: evidence})
	}
	return out
}

// holds says who holds a lock.
func (g *grapher) holds(l *lock) string {
	list := l.holders()
	switch {
	case l.Kind == answer.LockLazy:
		return fmt.Sprintf("thread %s makes", g.name(list[0]))
	case len(list) == 1:
		return fmt.Sprintf("thread %s holds", g.name(list[0]))
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = g.name(t)
	}
	return fmt.Sprintf("%d threads (%s) hold", len(list), strings.Join(names, ", "))
}
