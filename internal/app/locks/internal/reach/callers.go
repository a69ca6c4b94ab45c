package reach

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Callers are what may still make a call that is sought.
type Callers struct {
	Threads map[*stackwalk.Thread]bool
	Outside bool // code that no thread runs now may
	Calls   int  // the methods of the program with such a call
	Leads   *tasks.Leads
	// Delegates are those by which such code may, if it may only by delegates.
	Delegates []target.Addr
}

// Callers returns what may still make a call that is sought: threads from where they stand, suspended methods, delegates that live, and what a library or
// reflection may call. It returns nil if that is not known: some code could not be read, or an object that has some may be missing. The error is the context's.
func (c *Code) Callers(sought tasks.Sought) (*Callers, error) {
	r, err := c.leading(sought, nil)
	if r == nil || err != nil || r.Outside && len(r.Delegates) == 0 || r.Calls == 0 {
		return r, err
	}
	reflects, err := c.reflecting()
	if err != nil {
		return nil, err
	}
	called := reflects == byProgram || reflects == byLibrary && r.Leads.Unnamed
	if !called {
		called, err = c.reflectsOn(slices.DeleteFunc(slices.Clone(c.reflected), func(name string) bool { return !r.Leads.Called(name) }))
	}
	if called {
		r.Outside, r.Delegates = true, nil
	}
	return r, err
}

// leading is Callers without what only reflection calls. Methods with IL that except selects count as without a call that is sought.
func (c *Code) leading(sought tasks.Sought, except func(*metadata.Metadata, []byte) bool) (*Callers, error) {
	if !c.whole() {
		return nil, c.ctx.Err()
	}
	leads, err := c.Leads(sought, except)
	if err != nil {
		return nil, c.ctx.Err()
	}
	frames, err := c.Frames()
	if err != nil {
		return nil, c.ctx.Err()
	}
	set, known := c.Suspended()
	if _, err := c.Delegates(); err != nil || !known {
		return nil, c.ctx.Err()
	}
	out := &Callers{Threads: map[*stackwalk.Thread]bool{}, Calls: leads.Calls, Leads: leads, Outside: leads.Open || leads.Goes(c.ctx, set)}
	for _, f := range frames {
		if out.Threads[f.Thread] {
			continue
		}
		goes, err := c.Goes(f, leads)
		if err != nil {
			return nil, c.ctx.Err()
		}
		if goes {
			out.Threads[f.Thread] = true
		}
	}
	if !out.Outside {
		out.Delegates = c.ByDelegate(leads, sought)
		out.Outside = len(out.Delegates) > 0
	}
	return out, c.ctx.Err()
}

// Leads returns the methods of the program that lead to a call that is sought. Methods with IL that except selects count as without one.
func (c *Code) Leads(sought tasks.Sought, except func(*metadata.Metadata, []byte) bool) (*tasks.Leads, error) {
	return c.Tasks.Leads(c.ctx, c.Heap, sought, except)
}

// Unseen reports whether an object lives by which a thread may make a call that is sought although its own code does not show it: a delegate, an iterator
// or another object with such a method, or suspended code.
func (c *Code) Unseen(r *Callers, sought tasks.Sought) bool {
	set, _ := c.Suspended()
	return r.Leads.Objects || r.Leads.Goes(c.ctx, set) || len(c.ByDelegate(r.Leads, sought)) > 0
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

// reflective selects the calls of methods that call others by reflection.
func reflective(method string) (target.Addr, bool) { return 0, reflects(method) }

// reflecting determines once who may still call methods by reflection.
func (c *Code) reflecting() (reflection, error) {
	if c.reflection != 0 {
		return c.reflection, nil
	}
	r, err := c.leading(reflective, c.byLiteral)
	switch {
	case err != nil:
		return 0, err
	case r == nil || r.Outside || len(r.Threads) > 0 || r.Calls > 0 && c.compiled():
		c.reflection = byProgram
	case c.Tasks.Foreign():
		c.reflection = byLibrary
	default:
		c.reflection = unreflected
	}
	return c.reflection, nil
}

// reflectsOn reports whether code that can still run calls methods by reflection that it finds by one of the names.
func (c *Code) reflectsOn(names []string) (bool, error) {
	if len(names) == 0 {
		return false, nil
	}
	r, err := c.leading(reflective, func(md *metadata.Metadata, il []byte) bool {
		return !slices.ContainsFunc(tasks.Literals(md, il), func(name string) bool { return slices.Contains(names, name) })
	})
	return r == nil || r.Outside || len(r.Threads) > 0, err
}

// byLiteral reports whether IL finds the methods that it calls by reflection by literals, and adds these to reflected.
func (c *Code) byLiteral(md *metadata.Metadata, il []byte) bool {
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
	c.reflected = append(c.reflected, list...)
	return true
}

// compiled reports whether a delegate lives with a method that was made at run time, as by expressions.
func (c *Code) compiled() bool {
	return slices.ContainsFunc(c.delegates, func(d Delegate) bool {
		return d.Method != nil && d.Method.Kind == dac.MethodDynamic && c.Lives(d.Addr)
	})
}
