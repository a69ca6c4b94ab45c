package locks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A stand is the position of a thread: the top of its stack and the program's methods on it.
type stand struct {
	thread   *stackwalk.Thread
	activity threads.ThreadActivity
	method   *dac.MethodDesc // the innermost method of the program
	frame    stackwalk.Frame // of method
	entry    *dac.MethodDesc // the outermost method of the program
	name     string          // of method
	called   string          // the class library's method that method called, or empty
	pool     bool            // a worker of the thread pool
	spins    bool            // the loop that it is in only reads, and gives way to others
}

// Thresholds for threads at equal positions.
const (
	manyThreads   = 100 // threads that wait at one place, beside the workers of the pool
	manyFollowing = 3   // threads that follow references in one loop, if no times are recorded
	manyRunning   = 4   // threads that run one method, if no times are recorded
	longCPU       = 10 * time.Second
	mostFrames    = 1 << 12 // of a stack that are read
)

// stood returns the positions of the threads that are in a method of the program.
func (s *survey) stood() (out []stand) {
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.OS == nil || t.Managed == nil || t.Managed.Finalizer || s.ctx.Err() != nil {
			continue
		}
		if at, ok := s.standOf(t); ok {
			out = append(out, at)
		}
	}
	return out
}

// standOf reads the stack of a thread. ok is false if the stack can't be read to its end.
func (s *survey) standOf(t *stackwalk.Thread) (out stand, ok bool) {
	out.thread = t
	frames := s.frames[:0]
	defer func() { s.frames = frames }()
	last := ""
	var f stackwalk.Frame
	for f = range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if len(frames) == mostFrames || f.Missing() != nil {
			return out, false
		}
		frames = append(frames, f)
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || md == nil && err == nil {
			if md != nil && err == nil && out.method == nil && last == "" { // the call of a method that the compiler has inlined
				last = inlinedYield(&f, md)
			}
			continue
		}
		class := ""
		if err == nil {
			class, err = f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		}
		if err != nil {
			return out, false
		}
		if answer.LibraryMethod(class) || strings.HasPrefix(class, "Interop") || md.Kind == dac.MethodDynamic {
			out.pool = out.pool || strings.HasPrefix(class, "System.Threading.PortableThreadPool") || strings.HasPrefix(class, "System.Threading.ThreadPoolWorkQueue") ||
				strings.HasPrefix(class, "System.Threading._ThreadPoolWaitCallback") || strings.HasPrefix(class, "System.Threading.WindowsThreadPool")
			if out.method == nil {
				last, _ = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
			}
			continue
		}
		if out.entry = md; out.method == nil {
			out.method, out.frame, out.called = md, f, last
			if out.name, err = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified); err != nil {
				return out, false
			}
		}
	}
	out.activity = threads.ActivityOf(t, slices.Values(frames))
	return out, out.method != nil
}

// standing describes threads at equal positions: threads that spin, threads that run one method, and many threads that
// wait at one place.
func (g *grapher) standing() []answer.Verdict {
	type place struct {
		method, entry target.Addr
		called, text  string
		runs, pool    bool
	}
	of := map[place][]stand{}
	var order []place
	for _, at := range g.s.stood() {
		p := place{method: at.method.Addr, pool: at.pool}
		switch {
		case spinWait(at.called):
			p.called = at.called
		case at.activity.Activity.Runs(), g.s.yields(&at):
			p.runs = true
		case waitsAlone(at.activity.Activity) && !at.pool:
			if w := g.of[at.thread]; w != nil && (len(w.runners) > 0 || len(w.tasks) > 0 || g.circled[w]) {
				continue // its wait is described
			}
			p.entry, p.text = at.entry.Addr, at.activity.Text
		default:
			continue
		}
		if of[p] == nil {
			order = append(order, p)
		}
		of[p] = append(of[p], at)
	}
	var out []answer.Verdict
	for _, p := range order {
		list := of[p]
		switch {
		case p.text != "" && (len(list) < manyThreads || g.allDescribed(list)):
		case p.text != "":
			out = append(out, g.manyThreads(list))
		default:
			out = append(out, g.running(list)...)
		}
	}
	slices.SortStableFunc(out, func(a, b answer.Verdict) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// allDescribed reports whether the waits of all of the threads are described.
func (g *grapher) allDescribed(list []stand) bool {
	return !slices.ContainsFunc(list, func(at stand) bool { w := g.of[at.thread]; return w == nil || !g.described[w] })
}

// spinWait reports whether a method of the class library spins until a condition changes.
func spinWait(called string) bool { return strings.HasPrefix(called, "System.Threading.SpinWait.") }

// waitsAlone reports whether an activity is a wait.
func waitsAlone(a threads.Activity) bool {
	switch a {
	case threads.ActivityUnknown, threads.ActivityRunning, threads.ActivityNative, threads.ActivityRuntime, threads.ActivityCollecting, threads.ActivitySuspended:
		return false
	}
	return true
}

// manyThreads describes threads that began in one method and wait at one place.
func (g *grapher) manyThreads(list []stand) answer.Verdict {
	at := &list[0]
	entry, err := dac.CodeOf(g.s.r.rt).MethodName(at.entry, dac.MethodQualified)
	g.s.gaps.Note(err)
	where := answer.Statement{}
	if at.entry != at.method {
		where = words.InMethod.Of(words.Method(compilernames.Pretty(at.name)))
	}
	v := answer.Conclude(answer.FindingThreads, words.ManyThreads.Of(words.N(len(list)), words.Method(compilernames.Pretty(entry)), words.Text(at.activity.Text), where), answer.StrengthProved,
		words.StacksOf.Of(words.N(len(list)), g.name(at.thread)))
	v.Count, v.Show = len(list), showThread(at.thread.Describe(g.s.gaps))
	v.Sites = []answer.Site{{Method: answer.Text{S: entry}, Does: at.activity.Text}}
	return v
}

// running describes threads that run one method, apart those that match with a regular expression and those that go round a circle of objects. A
// loop that compares its references with another ends at that one, in a circle by design.
func (g *grapher) running(list []stand) (out []answer.Verdict) {
	matches, list := g.s.matches(list)
	for i := range matches {
		out = append(out, matches[i].conclude(g))
	}
	if len(list) == 0 {
		return out
	}
	rings, rest, unread := g.s.rings(list)
	add := func(v *answer.Verdict) {
		if v != nil {
			out = append(out, *v)
		}
	}
	for i := range rings {
		if !rings[i].Compares {
			add(g.spinning(rings[i].threads, &rings[i], nil))
		}
	}
	spinners, others := g.s.spinners(rest)
	if len(spinners) > 0 {
		add(g.spinning(spinners, nil, unread))
	}
	if len(others) > 0 {
		add(g.spinning(others, nil, unread))
	}
	return out
}

// spinning describes threads that run one method, and the circle that they go round there. unread is why a circle may be missing. It returns nil unless the threads only wait there, have used much
// processor time, or are many.
func (g *grapher) spinning(list []stand, ring *circle, unread error) *answer.Verdict {
	at := &list[0]
	var used, listed, all, least time.Duration
	if t := g.s.r.process.Process().Times; t != nil {
		all = t.User + t.Kernel
	}
	for i := range g.s.r.threads {
		if t := &g.s.r.threads[i]; t.OS != nil {
			listed += t.OS.User + t.OS.Kernel
		}
	}
	all = max(all, listed)
	for i := range list {
		n := list[i].thread.OS.User + list[i].thread.OS.Kernel
		if used += n; i == 0 || n < least {
			least = n
		}
	}
	busy := least >= longCPU && 2*used >= all
	spins, follows, err := spinWait(at.called), false, error(nil)
	why := words.ItCalls.Of(words.Method(at.called))
	if !spins {
		spins, follows, err = g.s.onlySpins(at.method)
		why = words.SpinsIL.Of()
	}
	if err == nil && !spins && len(list) > 1 && !slices.ContainsFunc(list, func(at stand) bool { return !at.spins }) {
		spins, why = true, words.SpinsLoop.Of()
	}
	g.s.gaps.Note(err)
	one, method := len(list) == 1, words.Method(compilernames.Pretty(at.name))
	said := func(single, several *words.Sentence, rest ...answer.Statement) answer.Statement {
		if one {
			return single.Of(append([]answer.Statement{g.name(at.thread)}, rest...)...)
		}
		return several.Of(append([]answer.Statement{words.N(len(list)), g.name(at.thread)}, rest...)...)
	}
	cpu := answer.Statement{}
	if used > 0 {
		says := words.HaveUsed
		if one {
			says = words.HasUsed
		}
		cpu = says.Of(words.Duration(used.Round(100*time.Millisecond)), words.Percent(100*float64(used)/float64(all)))
	}
	conclude := func(strength answer.Strength, says answer.Statement, facts ...answer.Statement) *answer.Verdict {
		if used == 0 {
			facts = append(facts, words.NoCPUTimes.Of())
		}
		v := answer.Conclude(answer.FindingSpin, says, strength, facts...)
		v.Count, v.Show = len(list), showThread(at.thread.Describe(g.s.gaps))
		v.Sites = []answer.Site{{Method: answer.Text{S: at.name}, Does: "runs", Count: len(list)}}
		return &v
	}
	if !slices.ContainsFunc(list, func(at stand) bool {
		return at.called != "" || !nativecode.Endless(g.s.r.rt.Memory(), &at.thread.OS.Registers)
	}) {
		v := conclude(answer.StrengthProved, words.NeverEnds.Of(said(words.IsThread, words.AreThreads), method, cpu), words.NativeLoop.Of())
		v.Severity = answer.SeverityHigh
		return v
	}
	if err == nil { // else it is the same error
		g.s.gaps.Note(unread)
	}
	switch {
	case ring != nil && (ring.OnlyNull || ring.absent || follows && (busy || len(list) >= manyFollowing)):
		return ring.conclude(conclude, busy, method, said(words.IsThread, words.AreThreads), cpu)
	case follows && len(list) < manyFollowing && !busy:
		return nil
	case follows && busy:
		return conclude(answer.StrengthLikely, words.FollowsLoop.Of(said(words.IsThread, words.AreThreads), method, cpu), words.FollowsIL.Of())
	case follows:
		return conclude(answer.StrengthPossible, words.FollowsLoop.Of(said(words.IsThread, words.AreThreads), method, cpu), words.FollowsIL.Of())
	case spins && (len(list) > 1 || busy):
		return conclude(answer.StrengthLikely, said(words.ThreadSpins, words.ThreadsSpin, method, cpu), why)
	case busy && len(list) > 1:
		return conclude(answer.StrengthRecorded, words.ThreadsRun.Of(said(words.AThread, words.FirstOf), method, cpu))
	case !at.pool && used == 0 && len(list) >= max(manyRunning, g.s.r.process.Platform().CPUs) && slices.ContainsFunc(list, g.s.mayNotEnd):
		return conclude(answer.StrengthPossible, words.ThreadsRan.Of(said(words.AThread, words.FirstOf), method))
	}
	return nil
}

// onlySpins reports whether a method loops and only reads, compares and waits, and whether the loop follows references,
// as from one element of a list to the next.
func (s *survey) onlySpins(md *dac.MethodDesc) (spins, follows bool, err error) {
	body, err := dac.CodeOf(s.r.rt).IL(md)
	if err != nil {
		return false, false, err
	}
	loops, follows, err := ilflow.ReadsOnly(body.Code)
	if !loops || err != nil {
		return false, false, err
	}
	calls, err := s.found.tasks.CallsOf(md)
	if err != nil {
		return false, false, err
	}
	if slices.ContainsFunc(calls, func(name string) bool { return !ilflow.OnlyWaits(name) }) {
		return false, false, nil
	}
	return true, follows, nil
}
