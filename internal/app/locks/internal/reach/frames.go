package reach

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Frame is a frame of a thread with a method of the program.
type Frame struct {
	Thread *stackwalk.Thread
	Frame  stackwalk.Frame
	Method *dac.MethodDesc
	Name   string // as IL names it
	Inner  string // the method of the program that the next frame inward runs, or ""
	At     int    // the IL offset at which it stands, or -1
	Paths
}

// Paths describe where a method may go from a place. Threads that stand at one place share them.
type Paths struct {
	Loops bool         // it may come around to the place
	after map[int]bool // the offsets that it may still reach; nil for all
	loads []string     // the types of variables that it may still read (see tasks.Loads)
}

// A place is a place in the IL of a method.
type place struct {
	method target.Addr // its MethodDesc
	offset int
}

// Frames returns the frames of all threads that run methods of the program, from the innermost frame of each thread on. The error is set if there may be others.
func (c *Code) Frames() ([]*Frame, error) {
	if c.frames != nil || c.framesErr != nil {
		return c.frames, c.framesErr
	}
	c.frames, c.paths, c.partly = []*Frame{}, map[place]*Paths{}, map[*stackwalk.Thread]bool{}
	for i := range c.Threads {
		if t := &c.Threads[i]; t.Managed != nil && t.OS != nil && c.ctx.Err() == nil {
			err := c.walk(t)
			c.partly[t] = err != nil
			c.framesErr = cmp.Or(c.framesErr, err)
		}
	}
	c.framesErr = cmp.Or(c.framesErr, c.ctx.Err())
	return c.frames, c.framesErr
}

// Partly reports whether a thread may have frames of the program, further out than those of Of, that could not be read.
func (c *Code) Partly(t *stackwalk.Thread) bool {
	_, _ = c.Frames()
	return c.partly[t]
}

// Of returns the frames of a thread that are known, from the innermost on.
func (c *Code) Of(t *stackwalk.Thread) (out []*Frame) {
	list, _ := c.Frames() // what could be read
	for _, f := range list {
		if f.Thread == t {
			out = append(out, f)
		}
	}
	return out
}

// walk adds the frames of a thread.
func (c *Code) walk(t *stackwalk.Thread) error {
	inner, called := "", ""
	var f stackwalk.Frame // one for all: it is large
	for f = range c.Walker.Walk(c.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if err := errors.Join(f.Missing(), c.ctx.Err()); err != nil {
			return err
		}
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		own, err := c.frameOf(t, &f, inner)
		if err != nil {
			return err
		}
		if own != nil && !c.shows(own, called) {
			own.loads = []string{""}
		}
		called = calledIn(&f)
		if inner = ""; own != nil {
			inner = own.Name
			c.frames = append(c.frames, own)
		}
	}
	return nil
}

// shows reports whether the IL of a frame's method calls what the next frame inward runs, if there is one. Else that is called by a method that the compiler has inlined:
// the frame has its variables, too, and the IL of the outer method does not show which of them are read.
func (c *Code) shows(f *Frame, called string) bool {
	if called == "" || f.At < 0 {
		return true
	}
	class, name, _ := strings.Cut(called, ".")
	method, _, err := c.Tasks.CalledAt(f.Method, f.At, class)
	return err == nil && method[strings.LastIndexByte(method, '.')+1:] == name[strings.LastIndexByte(name, '.')+1:]
}

// unnamed is a method that no IL calls.
const unnamed = "?.?"

// calledIn returns the method of a frame as IL names it.
func calledIn(f *stackwalk.Frame) string {
	md, err := f.Method()
	if err != nil || md == nil {
		return unnamed
	}
	name, err := tasks.NameOf(md)
	if err != nil {
		return unnamed
	}
	return name
}

// frameOf describes a frame, or returns nil if its method is a library's.
func (c *Code) frameOf(t *stackwalk.Thread, f *stackwalk.Frame, inner string) (*Frame, error) {
	md, err := f.Method()
	if md == nil || err != nil {
		return nil, err
	}
	code := dac.CodeOf(f.Runtime)
	name, err := code.MethodName(md, dac.MethodQualified)
	if err != nil || answer.LibraryMethod(name) {
		return nil, err
	}
	out := &Frame{Thread: t, Frame: *f, Method: md, Inner: inner}
	if out.Name, err = tasks.NameOf(md); err != nil {
		return nil, err
	}
	body, err := code.IL(md)
	if err != nil {
		return nil, err
	}
	if out.At, err = ILOffset(f); err != nil {
		if c.Note != nil {
			c.Note(fmt.Errorf("where %s stands: %w", out.Name, err))
		}
		out.At, out.Inner, out.loads = -1, "", []string{""}
		return out, nil
	}
	at := place{md.Addr, out.At}
	if c.paths[at] == nil {
		if c.paths[at], err = pathsFrom(md, &body, out.At); err != nil {
			return nil, err
		}
	}
	out.Paths = *c.paths[at]
	return out, nil
}

// pathsFrom returns where a method may go from an offset in its IL.
func pathsFrom(md *dac.MethodDesc, body *metadata.MethodBody, offset int) (*Paths, error) {
	g, err := ilflow.ReadFlow(body)
	if err != nil {
		return nil, err
	}
	p := &Paths{Loops: ilflow.Behind(body.Code, offset, 0), after: g.After(offset)}
	p.loads, err = tasks.Loads(md, body, offset, p.Reaches)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Reaches reports whether the method may still come to an IL offset.
func (p *Paths) Reaches(offset int) bool { return p.after == nil || p.after[offset] }

// running returns the method that the frame has called for the last time, or "": in a loop it may call it again, for another object.
func (f *Frame) running() string {
	if f.Loops {
		return ""
	}
	return f.Inner
}

// MayRepeat reports whether the method may come around to the place of the frame, or that is not known.
func (f *Frame) MayRepeat() bool { return f.Loops || f.At < 0 }

// Goes reports whether the method of a frame may still come to a call that leads to what is sought.
func (c *Code) Goes(f *Frame, leads *tasks.Leads) (bool, error) {
	return leads.From(f.Method, f.Reaches, f.At, f.running(), c.This(f))
}

// This returns a function for the receiver of a frame.
func (c *Code) This(f *Frame) func() tasks.Receiver {
	return func() tasks.Receiver { return c.Receiver(f.Thread, &f.Frame, f.Method) }
}

// ILOffset returns the IL offset at which a frame stands.
func ILOffset(f *stackwalk.Frame) (int, error) {
	il, ok, err := dac.CodeOf(f.Runtime).ILOffset(f.CallSite())
	if err == nil && !ok {
		err = target.Unsupportedf("no IL offset")
	}
	return il, err
}

// Receiver returns what a frame's method was called on: the only object of the method's class that the frame refers to. It is zero if there is
// no such object, or more than one. For the method of a struct it is the struct, in its box or on the stack, as the state machine is in which an
// async method runs.
func (c *Code) Receiver(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc) tasks.Receiver {
	out := c.this(t, f, md)
	out.Argument = func(number int) target.Addr {
		args, _, _ := stackwalk.Variables(f, c.Binder.Objects()) // the arguments are known without the locals
		if o, err := ObjectOf(args, int64(number)); err == nil {
			return o.Addr
		}
		return 0
	}
	return out
}

// this is Receiver without the arguments.
func (c *Code) this(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc) tasks.Receiver {
	class, err := c.Binder.Objects().Type(md.MethodTable)
	if err != nil || md.IsStatic() {
		return tasks.Receiver{}
	}
	if class.MT.IsValueType() {
		return c.structReceiver(f, class)
	}
	found := objects.Object{}
	for root, err := range c.Walker.Roots(c.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			break
		}
		if root.Interior || root.Object == 0 || root.FrameSP != f.SP || root.Method == nil || root.Method.Addr != md.Addr || root.Object == found.Addr {
			continue
		}
		o, err := c.Binder.Objects().TrustedObject(root.Object)
		if err != nil {
			continue
		}
		for typ := o.Type; typ != nil && err == nil; typ, err = typ.Base() {
			if typ.MT.Canonical != class.MT.Canonical { // generic instances over classes share their code
				continue
			}
			if found.Addr != 0 {
				return tasks.Receiver{}
			}
			found = o
			break
		}
	}
	if found.Addr == 0 {
		return tasks.Receiver{}
	}
	return tasks.ReceiverOf(found)
}

// structReceiver returns the struct on which a frame's method was called, where the compiler says that its address is.
func (c *Code) structReceiver(f *stackwalk.Frame, class *objects.Type) tasks.Receiver {
	args, _, _ := stackwalk.Variables(f, c.Binder.Objects()) // the arguments are known without the locals
	if len(args) == 0 {
		return tasks.Receiver{}
	}
	at, err := args[0].Word()
	if err != nil || at == 0 {
		return tasks.Receiver{}
	}
	return tasks.Receiver{Class: class, At: objects.InstanceIn(objects.Struct{Addr: target.Addr(at), Type: class})}
}

// ObjectOf returns the object that a variable of a frame refers to, or the zero Object for null.
func ObjectOf(list []stackwalk.Variable, number int64) (objects.Object, error) {
	if number >= int64(len(list)) {
		return objects.Object{}, target.Unsupportedf("variable %d of %d", number, len(list))
	}
	v := &list[number]
	if v.Err != nil || !v.Located {
		return objects.Object{}, cmp.Or(v.Err, target.Unsupportedf("variable %d of the method has no place at this instruction", number))
	}
	value, err := v.Value()
	if err != nil || value.IsNull() {
		return objects.Object{}, err
	}
	return value.Object()
}
