package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An InterpretedMethod is an activation of an interpreted method.
type InterpretedMethod struct {
	MethodDesc target.Addr
	IP         target.Addr // in the method's byte code: after the call, or with Exact at the instruction
	Exact      bool        // IP is the instruction that faulted
	Stack      target.Addr // the method's arguments and locals; 0 if unknown
}

// Interpreted lists the methods of an InterpreterFrame, the innermost first
// (docs/design/datacontracts/StackWalk.md, .NET 11). If a part is unreadable, it returns the methods before it
// together with the error.
func (r *Runtime) Interpreted(f *Frame) ([]InterpretedMethod, error) {
	l, err := r.frameLayout()
	if err != nil || f.Kind != FrameInterpreter {
		return nil, err
	}
	methods, err := r.interpreted(l, f)
	if err != nil {
		err = fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	return methods, err
}

func (r *Runtime) interpreted(l *frameLayout, f *Frame) (methods []InterpretedMethod, err error) {
	if l.Interpreter.Top == layout.Absent || l.Interpreted.IP == layout.Absent || l.InterpretedCode.Method == layout.Absent || l.InterpretedMethod.MethodDesc == layout.Absent {
		return nil, target.Unsupportedf("the layout of this runtime lacks the interpreter's structures")
	}
	at, err := target.Pointer(r.mem, f.Addr+target.Addr(l.Interpreter.Top))
	var faulting byte
	if err == nil && l.Interpreter.Faulting != layout.Absent {
		faulting, err = target.Uint8(r.mem, f.Addr+target.Addr(l.Interpreter.Faulting))
	}
	if err == nil {
		at, err = r.innermost(l, at)
	}
	for n := 0; err == nil && at != 0; n++ {
		if n == limits.InterpretedMethods {
			return methods, target.Corruptf("there are more than %d interpreted methods", n)
		}
		rd := layout.Reader{Mem: r.mem, Base: at}
		code, parent := rd.Ptr(l.Interpreted.Code), rd.Ptr(l.Interpreted.Parent)
		m := InterpretedMethod{IP: rd.Ptr(l.Interpreted.IP), Exact: n == 0 && faulting != 0}
		if l.Interpreted.Stack != layout.Absent {
			m.Stack = rd.Ptr(l.Interpreted.Stack)
		}
		if err = rd.Err; err != nil || m.IP == 0 {
			break // not in use, and neither are its parents
		}
		method, err := target.Pointer(r.mem, code+target.Addr(l.InterpretedCode.Method))
		if err == nil {
			m.MethodDesc, err = target.Pointer(r.mem, method+target.Addr(l.InterpretedMethod.MethodDesc))
		}
		if err != nil {
			return methods, err
		}
		methods = append(methods, m)
		at = parent
	}
	return methods, err
}

// innermost returns the innermost method in use. The frame's own pointer is a hint: it may refer to an outer
// method, or to one that has returned.
func (r *Runtime) innermost(l *frameLayout, at target.Addr) (target.Addr, error) {
	for range limits.InterpretedMethods {
		if at == 0 {
			return 0, nil
		}
		rd := layout.Reader{Mem: r.mem, Base: at}
		ip, parent, next := rd.Ptr(l.Interpreted.IP), rd.Ptr(l.Interpreted.Parent), rd.Ptr(l.Interpreted.Next)
		switch {
		case rd.Err != nil:
			return 0, rd.Err
		case ip == 0:
			at = parent
			continue
		case next == 0:
			return at, nil
		}
		inner, err := target.Pointer(r.mem, next+target.Addr(l.Interpreted.IP))
		if err != nil || inner == 0 {
			return at, err
		}
		at = next
	}
	return 0, target.Corruptf("there are more than %d interpreted methods", limits.InterpretedMethods)
}
