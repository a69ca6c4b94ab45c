package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

var debugRule = strings.Repeat("=", 77)

// debugStack prints a stack in the form that SOS has through the debugging API
// (clrstack -i): runs of native code as one frame each, methods with their
// signatures as metadata has them.
func (p *framePrinter) debugStack(t *sosgo.Thread) {
	c := p.c
	c.Printf("\n\n\nDumping managed stack and managed variables using ICorDebug.\n%s\n", debugRule)
	c.Printf("%-16s %-16s %s\n", "Child SP", "IP", "Call Site")
	if t.OS != nil && t.Managed != nil {
		p.debugFrames(t)
	}
	c.Printf("Stack walk complete.\n%s\n", debugRule)
}

func (p *framePrinter) debugFrames(t *sosgo.Thread) {
	internal := p.internalFrames(t.Managed)
	snap := p.walker.Snapshot(t.Managed, t.OS.Registers, stackwalk.SnapshotOptions{Synchronous: true})
	for f := range snap.Frames(p.c.Context()) {
		for len(internal) > 0 && internal[0].Addr < f.SP {
			p.internalFrame(&internal[0])
			internal = internal[1:]
		}
		p.c.Printf("%s %s ", report.Hex16(f.SP), report.Hex16(f.IP))
		switch {
		case f.Function == nil:
			p.c.Printf("[NativeStackFrame]\n")
		case f.Function.Token.Row() != 0:
			p.c.Printf("%s\n", p.debugMethod(f.Function))
		default:
			// A method without metadata; SOS does not end the line either.
			if !p.c.SOS {
				name, err := code.Of(p.rt).MethodName(f.Function, code.MethodFull)
				p.c.Printf("%s\n", report.Escape(textOr(p.c, name, err)))
			}
		}
	}
	for i := range internal {
		p.internalFrame(&internal[i])
	}
	if err := snap.Err(); err != nil {
		p.c.Warn(err)
	}
}

// internalFrames are the explicit frames that the debugging API shows.
func (p *framePrinter) internalFrames(t *dac.Thread) (out []dac.Frame) {
	for f, err := range p.rt.Frames(t) {
		if err != nil {
			p.c.Warn(err)
			break
		}
		if f.Kind == dac.FrameInlinedCall {
			how, err := p.rt.FrameCaller(&f, &target.Registers{Arch: p.rt.Target().Platform().Arch})
			if err != nil || how == dac.CallerNone {
				continue // between two calls
			}
		}
		if debugLabel(f.Kind) != "" {
			out = append(out, f)
		}
	}
	return out
}

// debugLabel is what the debugging API calls an explicit frame, empty for one
// that it leaves out.
func debugLabel(k dac.FrameKind) string {
	switch k {
	case dac.FrameInlinedCall:
		return "Managed to Unmanaged transition"
	case dac.FrameHelper:
		return "Internal call"
	case dac.FrameSoftwareException, dac.FrameFault:
		return "Exception"
	}
	return ""
}

func (p *framePrinter) internalFrame(f *dac.Frame) {
	p.c.Printf("%s (null) [%s: %s]\n", report.Hex16(f.Addr), debugLabel(f.Kind), report.Hex16(f.Addr))
}

// debugMethod is a method with its signature and module.
func (p *framePrinter) debugMethod(m *code.MethodDesc) string {
	text, err := methodECMA(m)
	if err != nil {
		return absent(p.c, err)
	}
	mod, err := m.Module()
	if err != nil {
		return absent(p.c, err)
	}
	file, err := mod.File()
	return fmt.Sprintf("%s (%s)", report.Escape(text), report.Escape(textOr(p.c, file, err)))
}

func methodECMA(m *code.MethodDesc) (string, error) {
	sig, md, err := m.Signature()
	if err != nil {
		return "", err
	}
	name, err := m.Name()
	if err != nil || md == nil {
		return name, err
	}
	owner, err := md.MethodOwner(m.Token.Row())
	if err != nil {
		return "", err
	}
	class, err := md.TypeDefFullName(owner)
	return metadata.FormatMethodECMA(class+"."+name, &sig, md.Names()), err
}
