package crash

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// contexts describes the thread's position at the exception, as recorded by the dump or the runtime, and when the dump
// was written.
func (d *describer) contexts() {
	t := d.died.Thread
	if x := d.died.Exception; x != nil && x.Signal == nil && x.Registers.Known() {
		d.context("the exception", &x.Registers)
		// A fault of managed code has an exception object.
		if _, faulted := faultParameters[x.Code]; faulted && (d.died.fatal() || d.died.Thrown == 0) {
			d.fault = &fault{regs: x.Registers, how: words.DumpsRecord.Of(), where: d.out.Where}
		}
	}
	if s := d.died.state(); s != nil && d.rt != nil && s.Context != 0 {
		regs, err := d.readContext(s.Context)
		if err != nil {
			d.out.Note(fmt.Errorf("context of the exception: %w", err))
		} else {
			d.context("the managed exception", &regs)
		}
	}
	d.interruptedContext()
	if t != nil && t.OS != nil && t.OS.Registers.Known() {
		d.context("the thread in the dump", &t.OS.Registers)
	}
}

// readContext reads a CONTEXT that the runtime keeps.
func (d *describer) readContext(a target.Addr) (target.Registers, error) {
	regs := target.Registers{Arch: d.p.Target().Platform().Arch}
	processor, err := regs.Arch.Processor()
	if err != nil {
		return regs, err
	}
	b, err := target.Bytes(d.p.Memory(), a, processor.Context.Size)
	if err != nil {
		return regs, err
	}
	if flags, ok := processor.Context.Decode(&regs, b); !ok {
		return regs, target.Corruptf("context flags %#x", flags)
	}
	return regs, nil
}

func sameAddress(a, b answer.Maybe[target.Addr]) bool {
	return a.Value == b.Value && (a.Err() == nil) == (b.Err() == nil)
}

func (d *describer) context(source string, regs *target.Registers) {
	c := answer.CrashContext{Source: source, IP: known(regs.IP()), SP: known(regs.SP()), FP: known(regs.FP())}
	same := func(o answer.CrashContext) bool { return sameAddress(o.IP, c.IP) && sameAddress(o.SP, c.SP) }
	if slices.ContainsFunc(d.out.Contexts, same) {
		return
	}
	if c.IP.Err() == nil {
		c.Where, c.Place = d.where(c.IP.Value), d.place(c.IP.Value)
	}
	d.out.Contexts = append(d.out.Contexts, c)
}

func known(a target.Addr, ok bool) answer.Maybe[target.Addr] {
	if !ok {
		return noAddress
	}
	return answer.Known(a)
}

// where returns the method of an instruction, or its module and offset.
func (d *describer) where(ip target.Addr) string {
	if d.rt != nil {
		r := dac.CodeOf(d.rt)
		if info, err := r.PlaceAt(ip); err == nil {
			if name, err := r.MethodName(info.Method, dac.MethodFull); err == nil {
				return name
			}
		}
	}
	if m := target.ModuleAt(d.p.Target().Modules(), ip); m != nil {
		return fmt.Sprintf("%s+%#x", target.BaseName(m.Path), uint64(ip-m.Base))
	}
	return ""
}

// place returns the place of an instruction in its module, or nil.
func (d *describer) place(ip target.Addr) *answer.CodePlace {
	m := target.ModuleAt(d.p.Target().Modules(), ip)
	if m == nil || stackwalk.IsGenerated(m) {
		return nil
	}
	out := &answer.CodePlace{Module: target.BaseName(m.Path), Offset: answer.Hex(ip - m.Base)}
	if id := image.IdentityOf(d.p.Target(), m); id.Known() {
		out.Build = id.String()
	}
	return out
}
