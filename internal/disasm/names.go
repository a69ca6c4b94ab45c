package disasm

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Names describes the addresses that instructions refer to. It is safe for concurrent use.
type Names struct {
	rt      *dac.Runtime
	reader  *dac.CodeReader // of rt
	objects *objects.Reader
	modules []target.Module // sorted by Base
}

// NewNames returns the names of a process with the runtime rt.
func NewNames(rt *dac.Runtime, r *objects.Reader) *Names {
	return &Names{rt: rt, reader: dac.CodeOf(rt), objects: r, modules: rt.Target().Modules()}
}

// longestString is the maximum quoted length of a string literal, in UTF-16 code units.
const longestString = 60

// Of describes what an instruction refers to, as SOS does: the signature of a method, "MT: type", "Object: type" or a
// quoted string, and the module for native code. It is empty if nothing is known.
func (n *Names) Of(in *Instruction) string {
	switch in.Kind {
	case RefCall, RefJump:
		return n.code(in.Ref)
	case RefCallSlot, RefJumpSlot:
		return n.slot(in.Ref)
	case RefMemory:
		p, err := target.Pointer(n.rt.Memory(), in.Ref)
		if err != nil {
			return ""
		}
		return n.data(p)
	case RefAddress, RefImmediate:
		return n.data(in.Ref)
	}
	return ""
}

// slot describes the code at the pointer at a.
func (n *Names) slot(a target.Addr) string {
	if m, err := n.reader.MethodOfPrecodeSlot(a); err == nil {
		return n.method(m, 0)
	}
	p, err := target.Pointer(n.rt.Memory(), a)
	if err != nil {
		return ""
	}
	return n.code(p)
}

// maxJumps bounds the stubs between a call and the code of a method: a stub of the image, a stub of the type, a
// precode, and a stub that counts calls.
const maxJumps = 8

// code describes the code at a. It follows the runtime's stubs.
func (n *Names) code(a target.Addr) string {
	for range maxJumps {
		info, err := n.reader.MethodAt(a)
		if err == nil && info.Method != nil {
			return n.method(info.Method, info.Offset)
		}
		if m, err := n.reader.MethodOfChunkedPrecode(a); err == nil {
			return n.method(m, 0)
		}
		in, ok := n.stubEnd(a)
		switch {
		case !ok:
			return n.module(a)
		case in.Kind == RefJumpSlot:
			if m, err := n.reader.MethodOfPrecodeSlot(in.Ref); err == nil {
				return n.method(m, 0)
			}
			if a, err = target.Pointer(n.rt.Memory(), in.Ref); err != nil {
				return ""
			}
		default:
			a = in.Ref
		}
	}
	return n.module(a)
}

// Maximum instructions and bytes of a stub before it jumps.
const (
	stubInstructions = 8
	stubBytes        = 64
)

func (n *Names) stubEnd(a target.Addr) (Instruction, bool) {
	b := target.UpTo(n.rt.Memory(), a, stubBytes)
	left := stubInstructions
	for in := range Decode(n.rt.Target().Platform().Arch, b, a) {
		switch {
		case left == 0, in.Text == "", in.Kind == RefCall, in.Kind == RefCallSlot, in.flow == flowReturn, in.flow == flowUnknown:
			return Instruction{}, false
		case in.flow == flowJump:
			return in, in.Kind == RefJump || in.Kind == RefJumpSlot
		}
		left--
	}
	return Instruction{}, false
}

func (n *Names) method(m *dac.MethodDesc, offset uint32) string {
	name, err := n.reader.MethodName(m, dac.MethodFull)
	if err != nil {
		return ""
	}
	if !m.Token.IsNil() {
		name += fmt.Sprintf(", mdToken: %08x", uint32(m.Token))
	}
	if offset != 0 {
		name += fmt.Sprintf(", +%#x", offset)
	}
	return name
}

// data describes the target of a pointer.
func (n *Names) data(a target.Addr) string {
	if a == 0 || a%8 != 0 {
		return ""
	}
	if _, err := n.rt.MethodTable(a); err == nil {
		if name, err := n.rt.TypeName(a, dac.NameNative); err == nil {
			return "MT: " + name
		}
	}
	if o, err := n.objects.TrustedObject(a); err == nil {
		return n.object(o)
	}
	if m, err := n.reader.MethodDesc(a); err == nil {
		if name := n.method(m, 0); name != "" {
			return "MD: " + name
		}
	}
	return ""
}

func (n *Names) object(o objects.Object) string {
	if o.IsString() {
		if s := o.Inline(longestString); s != "" {
			return s
		}
	}
	name, err := n.rt.TypeName(o.Type.MT.Addr, dac.NameNative)
	if err != nil {
		return ""
	}
	return "Object: " + name
}

// module returns the native module at a, and the offset in it.
func (n *Names) module(a target.Addr) string {
	m := target.ModuleAt(n.modules, a)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%s+%#x", target.BaseName(m.Path), uint64(a-m.Base))
}
