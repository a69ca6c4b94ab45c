package crash

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// mostBefore is the maximum number of earlier exceptions that a conclusion names.
const mostBefore = 3

// before describes the exceptions that the thread was still handling when it threw the one that the crash is about: the place where it had
// thrown the same one, or another exception. Code that ran because of that one, such as its handler, threw this one.
func (d *describer) before(x *Fault) (out []answer.Statement) {
	for _, e := range d.died.earlier() {
		if len(out) == mostBefore {
			break
		}
		if e.thrown == d.died.Thrown {
			if where := d.thrownAt(e.in); where != "" && !d.traced(x, where) {
				out = append(out, words.ThrownBefore.Of(words.Method(where)))
			}
			continue
		}
		if slices.ContainsFunc(d.out.Exceptions, func(c answer.Exception) bool { return c.Address == e.thrown }) {
			continue // it is a cause
		}
		if o, err := dac.CodeOf(d.rt).DescribeException(e.thrown, dac.ExceptionOptions{}); err == nil && o.Type.Err == nil {
			out = append(out, words.RanBecause.Of(itsException(d.faults([]answer.Exception{*o}))))
		}
	}
	return out
}

// earlier returns the exceptions that the crashed thread was handling when it threw the reported one.
func (c *Crash) earlier() (out []*carried) {
	x := c.blamed()
	if x == nil || x.in == nil {
		return nil
	}
	for i := range c.carried {
		e := &c.carried[i]
		if e.in != nil && e.thread.Managed == x.thread.Managed && e.in.Addr > x.in.Addr && e.state == answer.CarriedHandling {
			out = append(out, e)
		}
	}
	return out
}

// traced reports whether the stack trace of x may have a method. Rethrown with "throw;", or by an ExceptionDispatchInfo, an exception keeps its
// trace, which then has the methods that threw it on.
func (d *describer) traced(x *Fault, method string) bool {
	return len(x.Trace) == 0 || d.out.Exceptions[0].TraceError != nil || len(x.Trace) < len(d.out.Exceptions[0].Frames) ||
		slices.ContainsFunc(x.Trace, func(p Place) bool { return strings.HasSuffix(p.Function, method) })
}

// thrownAt returns the method that threw the exception of a state, or "".
func (d *describer) thrownAt(s *dac.ExceptionState) string {
	if s.Context == 0 {
		return ""
	}
	regs, err := d.readContext(s.Context)
	if err != nil {
		return ""
	}
	ip, _ := regs.IP()
	info, err := dac.CodeOf(d.rt).PlaceAt(ip - 1) // the helper that throws was called there
	if err != nil || info.Method == nil {
		return ""
	}
	name, err := dac.CodeOf(d.rt).MethodName(info.Method, dac.MethodFull)
	if err != nil {
		return ""
	}
	return name
}

// mappedFile returns the file that an address is mapped from, if it is no image and no memory that the system shows as a file.
func mappedFile(a *answer.Address) string {
	name := a.Name.S
	if a.Kind != answer.AddressMapped || a.Name.Err != nil || !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "/memfd:") ||
		strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/SYSV") {
		return ""
	}
	return name
}

// mappingFailed concludes that the mapping of a file failed if an access violation has an address in it.
func (d *describer) mappingFailed(x *Fault) {
	if d.mapped == "" || x.Type != accessViolation || x.Unusual {
		return
	}
	d.out.Usual = answer.Statement{} // the memory is its own
	d.conclusion(words.MappingFailed.Of(words.Text(d.mapped)), answer.StrengthLikely,
		words.InFileMapping.Of(words.Address(d.out.Touched.Address), words.Text(d.mapped)))
}

// voidBuilder is the type of the field in which the state machine of an async void method has its builder.
const voidBuilder = "System.Runtime.CompilerServices.AsyncVoidMethodBuilder"

// asyncVoid concludes that an async void method threw the exception or passed it on: its frame ends the first part of the stack trace. The
// pool or a SynchronizationContext throws the exception again.
func (d *describer) asyncVoid(x *answer.Exception) {
	if d.rt == nil || !d.died.Unhandled {
		return
	}
	i := slices.IndexFunc(x.Frames, func(f answer.TraceFrame) bool { return f.Foreign })
	for n := i + 1; n < len(x.Frames); n++ {
		if x.Frames[n].Foreign {
			i = n
		}
	}
	if i < 0 {
		return
	}
	if name := d.voidMethod(x.Frames[i].IP); name != "" {
		d.conclusion(words.AsyncVoid.Of(words.Method(name)), answer.StrengthProved, words.AsyncVoidBuilder.Of())
	}
}

// voidMethod returns the async void method that the code at ip is the state machine of, or "".
func (d *describer) voidMethod(ip target.Addr) string {
	info, err := dac.CodeOf(d.rt).PlaceAt(ip)
	if err != nil || info.Method == nil {
		return ""
	}
	t, err := objects.New(d.rt).Type(info.Method.MethodTable)
	if err != nil {
		return ""
	}
	fields, err := t.Fields()
	if err != nil || !slices.ContainsFunc(fields, isVoidBuilder) {
		return ""
	}
	name, err := t.ManagedName()
	if err != nil {
		return ""
	}
	return compilernames.Pretty(compilernames.Method(name))
}

func isVoidBuilder(f *objects.Field) bool {
	name, err := f.TypeName(dac.NameManaged)
	return err == nil && !f.Static && name == voidBuilder
}
