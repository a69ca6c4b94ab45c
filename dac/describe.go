package dac

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Describe says what is known of a runtime without opening it. Chosen is left
// to the caller.
func (inst *Instance) Describe() answer.Runtime {
	r := answer.Runtime{
		Index: inst.Index, Flavor: inst.Flavor.String(), Version: inst.Version(), Text: inst.VersionText(),
		Address: inst.Module.Base, Size: inst.Module.Size, Path: inst.Module.Path, SingleFile: inst.SingleFile,
		Exports: Exports(inst.Image, inst.Module.Base, true),
	}
	if id := inst.Identity; len(id.BuildID) > 0 {
		r.Identity = hex.EncodeToString(id.BuildID)
	} else {
		r.Identity = fmt.Sprintf("%08x %08x", id.TimeDateStamp, id.SizeOfImage)
	}
	return r
}

// Exports are the symbols for debuggers that the image at base exports; with
// all, also those that it does not, without address, and those of which the dump
// can't tell, with the reason.
func Exports(img *image.Image, base target.Addr, all bool) []answer.Export {
	var out []answer.Export
	for _, name := range ExportedSymbols() {
		rva, _, err := img.Symbol(name)
		switch {
		case err == nil:
			out = append(out, answer.Export{Name: name, Address: base + target.Addr(rva)})
		case all && errors.Is(err, image.ErrNoSymbol):
			out = append(out, answer.Export{Name: name})
		case all:
			out = append(out, answer.Export{Name: name, Err: answer.Reason{Err: err}})
		}
	}
	return out
}

// IsCore3 reports whether the runtime is of .NET Core 3, whose file versions
// begin with 4.700.
func (inst *Instance) IsCore3() bool {
	major, rest, _ := strings.Cut(inst.Version(), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return major == "3" || major == "4" && err == nil && n >= 700
}

// DescribeLayout lists everything that is known about the runtime's structures,
// by name, and where each piece was found.
func (r *Runtime) DescribeLayout() []answer.LayoutMember {
	members := r.layout.Members()
	out := make([]answer.LayoutMember, len(members))
	for i, m := range members {
		out[i] = answer.LayoutMember(m)
	}
	return out
}

// LayoutSources lists what the runtime's structures are read with, in the order
// of belief: contract descriptors and tables.
func (r *Runtime) LayoutSources() []string { return r.layout.Sources() }

// ForeignLayout is the major version that the runtime's layout was measured on
// ("8.0") where that is another than the runtime's own, or the processor where that is
// ("8.0 on x64"): nothing but the probes speaks for it. It is empty for a layout of
// the runtime's version and processor, and where the version is not known.
func (r *Runtime) ForeignLayout() string {
	if r.lender != "" {
		return r.measuredOn + " on " + r.lender
	}
	if r.inst.Version() == "" || r.inst.ofMajor(r.measuredOn) {
		return ""
	}
	return r.measuredOn
}

// NamedType is the name of a type as an answer has it: where that can't be read, it says what is known of the type.
func (r *Runtime) NamedType(g *answer.Gaps, th target.Addr) answer.Text {
	name, err := r.TypeName(th, NameManaged)
	text := g.Text(name, err)
	if err != nil {
		text.Instead = r.NamelessType(th)
	}
	return text
}

// NamelessType is what is known of a type whose name can't be read: its TypeHandle, by which one type is told from
// another, and the assembly that defines it, of an array that of its elements.
func (r *Runtime) NamelessType(th target.Addr) string {
	what := "type"
	if mt, err := r.TrustedMethodTable(th); err == nil && mt.IsArray() {
		if known := r.wellKnownName(mt.PerInstInfo); known != "" {
			return "array of " + known
		}
		what = "array type"
	}
	text := fmt.Sprintf("%s %x", what, uint64(th))
	if assembly, err := r.TypeAssembly(th); err == nil {
		text += " of " + assembly
	}
	return text
}

// wellKnownName is the name of a type that the runtime itself names, empty for others.
func (r *Runtime) wellKnownName(th target.Addr) string {
	switch {
	case th == 0:
	case th == r.known.String:
		return "System.String"
	case th == r.known.Object:
		return "System.Object"
	case th == r.known.Exception:
		return "System.Exception"
	}
	return ""
}
