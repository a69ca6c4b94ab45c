package tasks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Bounds of wrappers. A method with more IL or more calls does work of its own.
const (
	maxWrapperIL    = 256
	maxWrapperCalls = 4
	maxWrapperDepth = 3 // wrappers of wrappers
)

// A wrapperMethod is a method that enters or releases a semaphore for its caller and does nothing else, such as
// Task EnterAsync() => gate.WaitAsync(), or that does nothing but call one other method.
type wrapperMethod struct {
	calls []ilcalls.Site // at paths of its own arguments
	plain bool           // it calls nothing that matters
}

// EntersFor reports whether a method enters a semaphore for its caller and does nothing else, and whether it returns an object for that, which may
// release the semaphore.
func (r *Reader) EntersFor(md *dac.MethodDesc) (enters, returns bool) {
	if r == nil || r.code == nil || md == nil {
		return false, false
	}
	enters = slices.ContainsFunc(r.wrapper(md, maxWrapperDepth).calls, func(s ilcalls.Site) bool { return strings.HasPrefix(s.Method, semaphoreWaits) })
	return enters, enters && releaser(md)
}

// The methods of SemaphoreSlim that wrappers call.
const (
	semaphoreWaits    = "SemaphoreSlim.Wait"
	semaphoreReleases = "SemaphoreSlim.Release"
)

// wrapperKey identifies a method and how many wrappers may lie below it.
type wrapperKey struct {
	method target.Addr
	depth  int
}

// wrapper reads a method as a wrapper. It returns the zero wrapperMethod for other methods, and for one that can't be read.
func (r *Reader) wrapper(md *dac.MethodDesc, depth int) wrapperMethod {
	key := wrapperKey{md.Addr, depth}
	if w, ok := r.wrappers.Load(key); ok {
		return w.(wrapperMethod)
	}
	w := r.readWrapper(md, depth)
	r.wrappers.Store(key, w)
	return w
}

func (r *Reader) readWrapper(md *dac.MethodDesc, depth int) wrapperMethod {
	name, err := r.code.MethodName(md, dac.MethodQualified)
	if depth == 0 || err != nil || answer.LibraryMethod(name) || r.code.ILReplaced(md) != nil {
		return wrapperMethod{}
	}
	body, err := r.code.IL(md)
	if err != nil || len(body.Code) > maxWrapperIL {
		return wrapperMethod{}
	}
	meta, err := md.Metadata()
	if err != nil {
		return wrapperMethod{}
	}
	sites, err := ilcalls.Of(meta, body.Code)
	if err != nil {
		return wrapperMethod{}
	}
	var out []ilcalls.Site
	works := false // it calls what is no semaphore's
	for i := range sites {
		s := &sites[i]
		inner, quiet := r.through(md, meta, s, depth-1)
		switch {
		case len(inner) > 0:
			out = append(out, inner...)
		case quiet:
		default:
			works = works || !strings.HasPrefix(s.Method, semaphoreWaits) && !strings.HasPrefix(s.Method, semaphoreReleases)
			out = append(out, *s)
		}
	}
	waits := slices.ContainsFunc(out, func(s ilcalls.Site) bool { return strings.HasPrefix(s.Method, semaphoreWaits) })
	releases := slices.ContainsFunc(out, func(s ilcalls.Site) bool { return strings.HasPrefix(s.Method, semaphoreReleases) })
	if works && len(out) > 1 || waits && releases || len(out) > maxWrapperCalls {
		return wrapperMethod{}
	}
	return wrapperMethod{calls: out, plain: len(out) == 0}
}

// through returns the calls that a call makes if it calls a wrapper, at paths of the caller. quiet reports that the call does nothing that
// matters: it is plumbing of the class library, or a method of the program without calls.
func (r *Reader) through(caller *dac.MethodDesc, meta *metadata.Metadata, s *ilcalls.Site, depth int) (inner []ilcalls.Site, quiet bool) {
	class, row := ilcalls.Callee(meta, s.Token)
	switch {
	case class == "":
		return nil, false
	case answer.LibraryMethod(class + "."):
		return nil, plumbing(class, s.Method)
	}
	md := r.callee(caller, class, s, row)
	switch {
	case md == nil:
		return nil, false
	case !s.Virtual || !replaceable(md):
		w := r.wrapper(md, depth)
		return r.callsOf(md, w.calls, s, nil), w.plain
	}
	for _, other := range r.implementers(class, s) {
		inner = append(inner, r.callsOf(other, r.wrapper(other, depth).calls, s, []ilcalls.Choice{choice(class, s, other)})...)
	}
	return inner, false
}

// callsOf returns the calls of a wrapper as calls of its caller, which makes them if the receivers run the methods of the choices.
func (r *Reader) callsOf(md *dac.MethodDesc, calls []ilcalls.Site, s *ilcalls.Site, chosen []ilcalls.Choice) (out []ilcalls.Site) {
	for _, c := range calls {
		c.Offset, c.On, c.Through, c.Releaser = s.Offset, c.On.From(s.Args), s.Method, releaser(md)
		args := make([]*ilcalls.Path, len(c.Args))
		for i, p := range c.Args {
			args[i] = p.From(s.Args)
		}
		c.Args = args
		c.Chosen = slices.Clone(c.Chosen)
		for i := range c.Chosen {
			c.Chosen[i].On = c.Chosen[i].On.From(s.Args)
		}
		c.Chosen = append(c.Chosen, chosen...)
		out = append(out, c)
	}
	return out
}

// releaser reports whether a method creates an object or returns one, by itself or by a task. Numbers, texts and tasks without a result do not count.
func releaser(md *dac.MethodDesc) bool {
	if name, err := md.Name(); err == nil && name == ".ctor" {
		return true
	}
	sig, meta, err := md.Signature()
	if err != nil {
		return false
	}
	t := sig.Return.Unmodified()
	if t.Kind == metadata.ElementGenericInst && len(t.Args) == 1 && strings.HasPrefix(fullName(meta, t.Elem), "System.Threading.Tasks.") {
		t = t.Args[0].Unmodified()
	}
	name := fullName(meta, t)
	return !t.Kind.IsPrimitive() && name != "System.Threading.Tasks.Task" && name != "System.Threading.Tasks.ValueTask"
}

// fullName returns the name of a class or struct, or "".
func fullName(meta *metadata.Metadata, t *metadata.TypeSig) string {
	if t == nil || t.Token.Row() == 0 {
		return ""
	}
	name, err := meta.TypeFullName(t.Token)
	if err != nil {
		return ""
	}
	return name
}

// replaceable reports whether a class may replace a method by its own, so that a call need not run this one. Methods without readable
// metadata count.
func replaceable(md *dac.MethodDesc) bool {
	meta, err := md.Metadata()
	if err != nil {
		return true
	}
	def, err := meta.MethodDef(md.Token.Row())
	if err != nil || def.Flags&methodVirtual == 0 || def.Flags&methodFinal != 0 {
		return err != nil
	}
	owner, err := meta.MethodOwner(md.Token.Row())
	if err != nil {
		return true
	}
	class, err := meta.TypeDef(owner)
	return err != nil || class.Flags&typeSealed == 0
}

// Bits of MethodAttributes (II.23.1.10) and of TypeAttributes (II.23.1.15).
const (
	methodAccess   = 0x0007
	methodPrivate  = 0x0001
	methodStatic   = 0x0010
	methodFinal    = 0x0020
	methodVirtual  = 0x0040
	methodAbstract = 0x0400
	typeSealed     = 0x0100
)

// callee returns the method that a call names, or nil. A method of an interface is found, and has no body.
func (r *Reader) callee(caller *dac.MethodDesc, class string, s *ilcalls.Site, row uint32) *dac.MethodDesc {
	if row != 0 {
		mod, err := caller.Module()
		if err != nil {
			return nil
		}
		at, err := mod.Lookup(dac.MapMethodDef, row)
		if err != nil || at == 0 {
			return nil
		}
		md, err := r.code.TrustedMethodDesc(at)
		if err != nil {
			return nil
		}
		return md
	}
	return r.methodOf(class, nameOf(s.Method), s)
}

// methodOf returns the only method of a class of another module with a name and a number of arguments, or nil.
func (r *Reader) methodOf(class, name string, s *ilcalls.Site) (found *dac.MethodDesc) {
	for t, err := range r.r.TypeByName(class, "") {
		if err != nil {
			return nil
		}
		for md, err := range t.Methods() {
			if err != nil {
				return nil
			}
			if n, err := md.Name(); err != nil || n != name {
				continue
			}
			sig, _, err := md.Signature()
			if err != nil {
				return nil
			}
			arguments := len(sig.Params)
			if sig.Conv.HasThis() {
				arguments++
			}
			if arguments != len(s.Args) {
				continue
			}
			if found != nil {
				return nil
			}
			found = md
		}
	}
	return found
}

// plumbing reports whether a method of the class library does nothing that matters to a lock: it hands tasks on, checks arguments or counts.
func plumbing(class, method string) bool {
	if nameOf(method) == "Invoke" {
		return false // what a delegate runs may matter
	}
	if method == "SemaphoreSlim.get_CurrentCount" || method == "Object..ctor" || method == "Thread.get_CurrentThread" || method == "Environment.get_CurrentManagedThreadId" {
		return true
	}
	for _, prefix := range []string{"System.Threading.Tasks.Task", "System.Threading.Tasks.ValueTask", "System.Runtime.CompilerServices.", "System.Threading.CancellationToken",
		"System.Threading.Interlocked", "System.Threading.Volatile", "System.Func`", "System.Action", "System.TimeSpan", "System.GC", "System.Diagnostics.Debug", "System.Nullable`"} {
		if strings.HasPrefix(class, prefix) {
			return true
		}
	}
	return strings.HasPrefix(class, "System.") && strings.HasSuffix(class, "Exception")
}

// withWrappers adds to the calls of a method those that the wrappers among them make.
func (r *Reader) withWrappers(md *dac.MethodDesc, meta *metadata.Metadata, sites []ilcalls.Site) []ilcalls.Site {
	out := make([]ilcalls.Site, 0, len(sites))
	for i := range sites {
		sites[i].Invokes = r.invokes(meta, &sites[i])
		out = append(out, sites[i])
		inner, _ := r.through(md, meta, &sites[i], maxWrapperDepth)
		out = append(out, inner...)
	}
	return out
}
