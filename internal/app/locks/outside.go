package locks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/locks/internal/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A codeFrame is a frame with a method of the program.
type codeFrame struct {
	thread *stackwalk.Thread
	frame  stackwalk.Frame
	method *dac.MethodDesc
	name   string // as IL names it
	inner  string // the method of the program that the next frame inward runs, or ""
	at     int    // the IL offset at which it stands
	codePaths
}

// A codePlace is a place in the IL of a method.
type codePlace struct {
	method target.Addr // its MethodDesc
	offset int
}

// codePaths describe where a method may go from a place. Threads that stand at one place share them.
type codePaths struct {
	loops bool         // it may come around to the place
	after map[int]bool // the offsets that it may still reach; nil for all
	loads []string     // the types of variables that it may still read; empty text for any
}

// A reach describes what may still make a call that is sought.
type reach struct {
	threads map[*stackwalk.Thread]bool
	outside bool // code that no thread runs now may
	calls   int  // the methods of the program with such a call
	leads   *tasks.Leads
	// delegates are those by which such code may, if it may only by delegates.
	delegates []target.Addr
}

// A boundCall is what a delegate on the heap runs.
type boundCall struct {
	delegate, on target.Addr
	method       *dac.MethodDesc // nil if it is unknown
}

// maxDelegates bounds the delegates that are read.
const maxDelegates = 1 << 20

// readCode reads the frames of all threads that run methods of the program. The error is set if there may be others.
func (s *survey) readCode() error {
	if s.code != nil || s.codeErr != nil {
		return s.codeErr
	}
	s.code, s.paths = []*codeFrame{}, map[codePlace]*codePaths{}
	var f stackwalk.Frame // one for all: it is large
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		inner := ""
		for f = range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if s.codeErr = errors.Join(f.Missing(), s.ctx.Err()); s.codeErr != nil {
				return s.codeErr
			}
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			c, err := s.codeOf(t, &f, inner)
			if err != nil {
				s.codeErr = err
				return err
			}
			if inner = ""; c != nil {
				inner = c.name
				s.code = append(s.code, c)
			}
		}
	}
	return nil
}

// codeOf describes a frame, or returns nil if its method is a library's.
func (s *survey) codeOf(t *stackwalk.Thread, f *stackwalk.Frame, inner string) (*codeFrame, error) {
	md, err := f.Method()
	if md == nil || err != nil {
		return nil, err
	}
	code := dac.CodeOf(f.Runtime)
	name, err := code.MethodName(md, dac.MethodQualified)
	if err != nil || answer.LibraryMethod(name) {
		return nil, err
	}
	c := &codeFrame{thread: t, frame: *f, method: md, inner: inner}
	if c.name, err = tasks.NameOf(md); err != nil {
		return nil, err
	}
	body, err := code.IL(md)
	if err != nil {
		return nil, err
	}
	if c.at, err = ilOffset(f); err != nil {
		c.at, c.inner, c.loads = -1, "", []string{""}
		return c, nil
	}
	at := codePlace{md.Addr, c.at}
	if s.paths[at] == nil {
		if s.paths[at], err = pathsFrom(md, &body, c.at); err != nil {
			return nil, err
		}
	}
	c.codePaths = *s.paths[at]
	return c, nil
}

// running returns the method that the frame has called for the last time, or "": in a loop it may call it again, for another object.
func (f *codeFrame) running() string {
	if f.loops {
		return ""
	}
	return f.inner
}

// pathsFrom returns where a method may go from an offset in its IL.
func pathsFrom(md *dac.MethodDesc, body *metadata.MethodBody, offset int) (*codePaths, error) {
	g, err := ilflow.ReadFlow(body)
	if err != nil {
		return nil, err
	}
	p := &codePaths{loops: ilflow.Behind(body.Code, offset, 0), after: g.After(offset)}
	p.loads, err = tasks.Loads(md, body, func(offset int) bool { return p.after == nil || p.after[offset] })
	if err != nil {
		return nil, err
	}
	return p, nil
}

// reaching returns what may still make a call that is sought: threads from where they stand, suspended methods, delegates that live, and what a library or
// reflection may call. It returns nil if that is not known: some code could not be read, or an object that has some may be missing. The error is the context's.
func (s *survey) reaching(sought tasks.Sought) (*reach, error) {
	r, err := s.leading(sought, nil)
	if r == nil || err != nil || r.outside && len(r.delegates) == 0 || r.calls == 0 {
		return r, err
	}
	reflects, err := s.reflecting()
	if err != nil {
		return nil, err
	}
	called := reflects == byProgram || reflects == byLibrary && r.leads.Unnamed
	if !called {
		called, err = s.reflectsOn(slices.DeleteFunc(slices.Clone(s.reflected), func(name string) bool { return !r.leads.Called(name) }))
	}
	if called {
		r.outside, r.delegates = true, nil
	}
	return r, err
}

// reflectsOn reports whether code that can still run calls methods by reflection that it finds by one of the names.
func (s *survey) reflectsOn(names []string) (bool, error) {
	if len(names) == 0 {
		return false, nil
	}
	r, err := s.leading(reflective, func(md *metadata.Metadata, il []byte) bool {
		return !slices.ContainsFunc(tasks.Literals(md, il), func(name string) bool { return slices.Contains(names, name) })
	})
	return r == nil || r.outside || len(r.threads) > 0, err
}

// reflective selects the calls of methods that call others by reflection.
func reflective(method string) (target.Addr, bool) { return 0, reflects(method) }

// leading is reaching without what only reflection calls. Methods with IL that except selects count as without a call that is sought.
func (s *survey) leading(sought tasks.Sought, except func(*metadata.Metadata, []byte) bool) (*reach, error) {
	if !s.whole || s.lost || s.partial {
		return nil, s.ctx.Err()
	}
	leads, err := s.found.tasks.Leads(s.ctx, s.r.heap, sought, except)
	if err != nil || s.readCode() != nil || s.setLost || s.readDelegates() != nil {
		return nil, s.ctx.Err()
	}
	out := &reach{threads: map[*stackwalk.Thread]bool{}, calls: leads.Calls, leads: leads, outside: leads.Open || leads.Goes(s.ctx, s.set)}
	for i := range s.code {
		f := s.code[i]
		if out.threads[f.thread] {
			continue
		}
		this := func() tasks.Receiver { return s.receiver(f.thread, &f.frame, f.method) }
		goes, err := leads.From(f.method, func(offset int) bool { return f.after == nil || f.after[offset] }, f.at, f.running(), this)
		if err != nil {
			return nil, s.ctx.Err()
		}
		if goes {
			out.threads[f.thread] = true
		}
	}
	if !out.outside {
		out.delegates = s.delegated(leads, sought)
		out.outside = len(out.delegates) > 0
	}
	return out, s.ctx.Err()
}

// A reflection says who may still call methods by reflection.
type reflection uint8

const (
	unreflected reflection = iota + 1 // no code that can still run
	byLibrary                         // a library that is not the runtime's own: it may call what nothing in the program names
	byProgram                         // code of the program, or code that it has made at run time: it may call anything
)

// reflects reports whether a method calls another one by reflection, or makes a delegate or code that does.
func reflects(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	switch name {
	case "Invoke", "DynamicInvoke", "InvokeMember", "CreateDelegate", "SetValue", "Compile", "GetFunctionPointer":
		return slices.Contains([]string{"MethodBase", "MethodInfo", "ConstructorInfo", "MethodInvoker", "ConstructorInvoker", "Type", "Delegate", "PropertyInfo", "DynamicMethod",
			"LambdaExpression", "Expression", "Binder", "RuntimeMethodHandle"}, class)
	}
	return false
}

// reflecting determines once who may still call methods by reflection.
func (s *survey) reflecting() (reflection, error) {
	if s.reflection != 0 {
		return s.reflection, nil
	}
	r, err := s.leading(reflective, s.byLiteral)
	switch {
	case err != nil:
		return 0, err
	case r == nil || r.outside || len(r.threads) > 0 || r.calls > 0 && s.compiled():
		s.reflection = byProgram
	case s.found.tasks.Foreign():
		s.reflection = byLibrary
	default:
		s.reflection = unreflected
	}
	return s.reflection, nil
}

// byLiteral reports whether IL finds the methods that it calls by reflection by literals, and adds these to reflected.
func (s *survey) byLiteral(md *metadata.Metadata, il []byte) bool {
	finds := false
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return false
		}
		if in.Kind == metadata.OperandMethod && strings.HasPrefix(tasks.MemberName(md, in.Token()), "Type.GetMethod") {
			finds = true
		}
	}
	list := tasks.Literals(md, il)
	if !finds || len(list) == 0 {
		return false
	}
	s.reflected = append(s.reflected, list...)
	return true
}

// compiled reports whether a delegate lives with a method that was made at run time, as by expressions.
func (s *survey) compiled() bool {
	return slices.ContainsFunc(s.bound, func(b boundCall) bool {
		return b.method != nil && b.method.Kind == dac.MethodDynamic && s.lives(b.delegate)
	})
}

// delegated returns the delegates that live and lead to a call that is sought.
func (s *survey) delegated(leads *tasks.Leads, sought tasks.Sought) (out []target.Addr) {
	for i := range s.bound {
		if b := &s.bound[i]; (b.method == nil || leads.Has(b.method) || b.makes(sought)) && s.lives(b.delegate) {
			out = append(out, b.delegate)
		}
	}
	return out
}

// unseen reports whether an object lives by which a thread may make a call that is sought although its own code does not show it: a delegate, an iterator
// or another object with such a method, or suspended code.
func (s *survey) unseen(r *reach, sought tasks.Sought) bool {
	return r.leads.Objects || r.leads.Goes(s.ctx, s.set) || len(s.delegated(r.leads, sought)) > 0
}

// makes reports whether a delegate is for the method of a call that is sought.
func (b *boundCall) makes(sought tasks.Sought) bool {
	name, err := tasks.NameOf(b.method)
	if err != nil {
		return true
	}
	on, ok := sought(name)
	return ok && (on == 0 || b.on == on)
}

// readDelegates reads what the delegates of the heap run.
func (s *survey) readDelegates() error {
	if s.bound != nil || s.boundErr != nil {
		return s.boundErr
	}
	s.bound = []boundCall{}
	list, err := tasks.Objects(s.ctx, s.r.heap, s.isDelegate, maxDelegates)
	s.boundErr = err
	known := map[target.Addr]*dac.MethodDesc{}
	for _, a := range list {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			s.boundErr = err
			break
		}
		calls, err := o.Delegate()
		if err != nil {
			s.boundErr = err
			break
		}
		for i := range calls {
			c := &calls[i]
			md, ok := known[c.Entry]
			if !ok || c.Entry == 0 {
				md, _ = c.Method() // nil stands for any
				known[c.Entry] = md
			}
			s.bound = append(s.bound, boundCall{a, c.Target, md})
		}
	}
	return s.boundErr
}

// isDelegate reports whether objects of a type are delegates. Objects of an unreadable type may be.
func (s *survey) isDelegate(mt *dac.MethodTable) bool {
	t, err := s.r.b.Objects().TrustedType(mt.Addr)
	return err != nil || tasks.IsDelegate(t)
}

// lives reports whether code that runs later may find a delegate. A static field that the compiler made for it does not count, for code that reads
// such a field names the method, too, nor do variables that their method reads no more. Without a graph of the heap every delegate counts.
func (s *survey) lives(delegate target.Addr) bool {
	if s.graph == nil {
		return true
	}
	if s.living == nil {
		g, err := s.graph()
		if err != nil {
			s.graph = nil
			return true
		}
		used, done, err := g.Use(s.ctx)
		if err != nil {
			return true
		}
		defer done()
		seen := s.later(used, g, nil)
		s.living = func(a target.Addr) bool {
			n, ok := g.Node(a)
			return !ok || seen == nil || seen.Has(n)
		}
	}
	return s.living(delegate)
}

// wholeGraph returns the graph of the heap, for conclusions from what it does not reach: nil if anything of the process was not read. done ends its use, for which
// ctx is.
func (s *survey) wholeGraph() (g *graph.Graph, ctx context.Context, done func()) {
	if !s.whole || s.graph == nil || s.lost || s.partial {
		return nil, nil, nil
	}
	g, err := s.graph()
	if err != nil {
		return nil, nil, nil
	}
	if ctx, done, err = g.Use(s.ctx); err != nil {
		return nil, nil, nil
	}
	return g, ctx, done
}

// later returns the nodes of a graph that code which runs later may find, or nil if it was stopped. It does not go on at a node that without reports.
func (s *survey) later(ctx context.Context, g *graph.Graph, without func(graph.Node) bool) *graph.Set {
	seen := g.NewSet()
	todo := []graph.Node{g.Root()}
	seen.Add(g.Root())
	for n, err := range s.unrooted(g) {
		if err != nil {
			return nil
		}
		if seen.Add(n) {
			todo = append(todo, n)
		}
	}
	for steps := 0; len(todo) > 0; steps++ {
		if steps%(1<<16) == 0 && ctx.Err() != nil {
			return nil
		}
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if without != nil && without(n) {
			continue
		}
		src := g.Source(n)
		if src != nil && src.Static != nil && src.Static.Field != nil && cachesDelegate(src.Static.Field.Name) {
			continue
		}
		var in *codeFrame
		if src != nil && src.Frame != nil {
			in = s.codeAt(src.Frame)
		}
		for _, to := range g.Referents(n) {
			if (in == nil || !g.IsObject(to) || in.reads(s, g.Type(to))) && seen.Add(to) {
				todo = append(todo, to)
			}
		}
	}
	return seen
}

// codeAt returns the frame of the program at a frame with roots, or nil.
func (s *survey) codeAt(at *graph.RootFrame) *codeFrame {
	for i := range s.code {
		if f := s.code[i]; at.Method != nil && f.frame.SP == at.SP && f.method.Addr == at.Method.Addr {
			return f
		}
	}
	return nil
}

// reads reports whether a method may still read a variable that refers to an object, unless the object is no delegate.
func (f *codeFrame) reads(s *survey, mt *dac.MethodTable) bool {
	if !s.isDelegate(mt) {
		return true
	}
	name, err := s.r.rt.TypeName(mt.Addr, dac.NameNative)
	return err != nil || slices.ContainsFunc(f.loads, func(t string) bool { return t == "" || t == name })
}

// cachesDelegate reports whether a compiler made a static field to keep a delegate for code that uses it again.
func cachesDelegate(field string) bool {
	return strings.HasPrefix(field, "<") && !strings.HasSuffix(field, "k__BackingField")
}
