package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// Thresholds for waits for another process. The dump does not record when they began, so a few of them are normal:
//   - fewer than manyOutside threads and operations wait alike
//   - a build or a test runner has some children for each processor: no more than jobsPerProcessor, or fewer than manyJobs where the number of processors is
//     not known
//   - code that reads from a pipe again and again waits for messages, and not for an answer
const (
	manyOutside      = 5
	jobsPerProcessor = 2
	manyJobs         = 20
)

// An outsider is a wait for another process, of a thread or of a suspended operation.
type outsider struct {
	kind   answer.WaitKind
	target string
	says   answer.Statement
	method answer.Text
	count  int
	things int   // how many processes or pipes
	thread *wait // nil for operations
}

// outsiders describes the child processes and the servers of pipes that many wait for. Requests that wait so are judged elsewhere, by their age.
func (g *grapher) outsiders(groups []*waiters) []answer.Verdict {
	var list []outsider
	vague := map[string][]*wait{} // by pipe: threads that may read from it again and again, in code that can't be read
	for _, w := range g.s.waits {
		o := w.outside
		if o == nil || w.library {
			continue
		}
		switch {
		case o.Kind != answer.WaitStream || !g.s.threadLoops(w):
			list = append(list, outsider{o.Kind, o.Target, o.Says, g.rows[w.thread].Method, 1, 1, w})
		case g.s.loopUnread(w.thread):
			vague[o.Target] = append(vague[o.Target], w)
		}
	}
	for _, alike := range vague {
		if len(alike) >= manyOutside {
			g.blindThreads = append(g.blindThreads, alike...)
		}
	}
	for _, w := range groups {
		t := w.thing
		if t.outside == "" || !w.ops[0].own || w.Request != "" || t.kind == answer.WaitStream && g.s.loops(w.ops[0]) {
			continue
		}
		list = append(list, outsider{t.kind, t.outside, t.says, w.Method, w.Count, w.children, nil})
	}
	type key struct{ says, target string }
	of := map[key][]outsider{}
	var order []key
	for i := range list {
		k := key{list[i].says.Says, list[i].target}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], list[i])
	}
	var out []answer.Verdict
	for _, k := range order {
		if v := g.silent(of[k]); v != nil {
			out = append(out, *v)
		}
	}
	return append(out, g.unread()...)
}

// unread describes the threads that wait, without a limit, for the end of child processes with output that nothing has begun to read: such a child can't
// end once it has written more than the pipe holds. Whether it has, the dump does not record.
func (g *grapher) unread() []answer.Verdict {
	type key struct{ method, file string }
	of := map[key][]*wait{}
	var order []key
	for _, w := range g.s.waits {
		if o := w.outside; o == nil || !o.Unread || w.library || !w.ends.IsZero() || takesTime(w.called) {
			continue
		}
		k := key{g.rows[w.thread].Method.String(), w.outside.Target}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], w)
	}
	var out []answer.Verdict
	for _, k := range order {
		alike := of[k]
		first := alike[0]
		v := answer.Conclude(answer.FindingWait, words.OutputUnread.Of(g.waiting(alike), andOthers(first.outside.Says, len(alike)), g.placeOf(first)), answer.StrengthPossible, g.evidences(alike)...)
		v.Because(words.ReadModes.Of())
		v.Count, v.Sites, v.Severity = len(alike), g.sites(alike), answer.SeverityWarning
		v.Show = append([]string{"dumpobj " + addressText(first.outside.Object)}, g.show(first)...)
		out = append(out, v)
	}
	return out
}

// silent describes waits for another process that are alike, or returns nil if they are few.
func (g *grapher) silent(alike []outsider) *answer.Verdict {
	n, things := 0, 0
	counts, seen := map[string]int{}, map[string]bool{}
	var threads []*wait
	for i := range alike {
		o := &alike[i]
		n += o.count
		counts[o.method.String()] += o.count
		if !seen[o.says.Text] {
			seen[o.says.Text] = true
			things += o.things
		}
		if o.thread != nil {
			threads = append(threads, o.thread)
		}
	}
	if n < manyOutside || alike[0].kind == answer.WaitProcess && !g.s.manyChildren(n) {
		return nil
	}
	v := answer.Conclude(answer.FindingDependency, words.OutsideSilent.Of(words.N(n), andOthers(alike[0].says, things)), answer.StrengthPossible)
	v.Count, v.Severity, v.Show = n, answer.SeverityWarning, []string{"waits"}
	methods := make([]string, 0, len(counts))
	for m := range counts {
		methods = append(methods, m)
	}
	slices.SortFunc(methods, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	for _, m := range methods {
		v.Because(words.WaitIn.Of(words.N(counts[m]), words.Method(m)))
		v.Sites = append(v.Sites, answer.Site{Method: answer.Text{S: m}, Does: string(alike[0].kind), Count: counts[m]})
	}
	v.Because(words.SinceUnknown.Of())
	if len(threads) > 0 {
		v.Show = append(v.Show, showThread(threads[0].thread.Describe(g.s.gaps))...)
	}
	return &v
}

// manyChildren reports whether n waits for children of one file are more than a program that runs jobs side by side has.
func (s *survey) manyChildren(n int) bool {
	for e, err := range objects.LoadedShapes[*environment](s.r.b) {
		if err != nil || !e.Processors.Has() {
			break
		}
		if count, err := e.Processors.Value().Int(); err == nil && count > 0 {
			return int64(n) > jobsPerProcessor*count
		}
	}
	return n >= manyJobs
}

// An environment counts processors (Environment.cs, .NET 5 and later).
type environment struct {
	_          objects.Shape       `of:"System.Environment"`
	Processors objects.StaticField `static:"<ProcessorCount>k__BackingField,optional"`
}

// andOthers names the first of n things that are alike.
func andOthers(first answer.Statement, n int) answer.Statement {
	if n < 2 {
		return first
	}
	return first.Plus(words.AndOthers.Of(words.N(n - 1)))
}

// loops reports whether the method of the program in which an operation waits, or one that awaits it, may come around to the wait again. Code that can't be
// read may.
func (s *survey) loops(op *operation) bool {
	for _, a := range op.path[max(slices.Index(op.path, op.box), 0):] {
		at, err := s.found.tasks.AwaitOf(a)
		if err != nil || at != nil && ilflow.Behind(at.Code, at.At, 0) {
			return true
		}
	}
	return false
}

// threadLoops is loops for a thread, in its methods of the program.
func (s *survey) threadLoops(w *wait) bool {
	_, err := s.code.Frames()
	return err != nil || slices.ContainsFunc(s.code.Of(w.thread), (*reach.Frame).MayRepeat)
}

// loopUnread reports whether only IL that is missing may show that a thread waits in a loop.
func (s *survey) loopUnread(t *stackwalk.Thread) bool {
	return s.codeUnread(t) && !slices.ContainsFunc(s.code.Of(t), (*reach.Frame).MayRepeat)
}

// accepts reports whether a thread waits for clients, as an idle server does.
func (w *wait) accepts() bool {
	return slices.ContainsFunc([]string{"System.IO.Pipes.NamedPipeServerStream.WaitForConnection", "System.Net.Sockets.Socket.Accept", "System.Net.Sockets.TcpListener.Accept",
		"System.Net.HttpListener.GetContext"}, func(method string) bool { return strings.HasPrefix(w.called, method) })
}
