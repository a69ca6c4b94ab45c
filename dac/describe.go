package dac

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Describe describes a runtime without opening it. The caller sets Chosen.
func (inst *Instance) Describe() answer.Runtime {
	r := answer.Runtime{
		Index: inst.Index, Flavor: inst.Flavor.String(), Version: inst.Release(), File: inst.Version(), Text: inst.VersionText(),
		Address: inst.Module.Base, Size: inst.Module.Size, Path: inst.Module.Path, SingleFile: inst.SingleFile,
		Exports: exports(inst.Image, inst.Module.Base),
	}
	if inst.headless {
		for i := range r.Exports {
			r.Exports[i].Err.Err = target.ErrNotInDump
		}
	}
	if id := inst.Identity; len(id.BuildID) > 0 {
		r.Identity = hex.EncodeToString(id.BuildID)
	} else {
		r.Identity = fmt.Sprintf("%08x %08x", id.TimeDateStamp, id.SizeOfImage)
	}
	return r
}

// exports returns the symbols for debuggers: without an address if the image at base does not export them, with an
// error if the dump lacks them.
func exports(img *image.Image, base target.Addr) []answer.Export {
	var out []answer.Export
	for _, name := range ExportedSymbols() {
		rva, _, err := img.Symbol(name)
		switch {
		case err == nil:
			out = append(out, answer.Export{Name: name, Address: base + target.Addr(rva)})
		case errors.Is(err, image.ErrNoSymbol):
			out = append(out, answer.Export{Name: name})
		default:
			out = append(out, answer.Export{Name: name, Err: answer.Reason{Err: err}})
		}
	}
	return out
}

// IsCore3 reports whether the runtime is .NET Core 3. Its file versions begin with 4.700.
func (inst *Instance) IsCore3() bool {
	major, rest, _ := strings.Cut(inst.Version(), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return major == "3" || major == "4" && err == nil && n >= 700
}

// Contracts lists the contracts of the runtime's descriptors by name. It is empty for a runtime without a descriptor.
func (r *Runtime) Contracts() []answer.Contract {
	states := r.layout.Contracts()
	out := make([]answer.Contract, len(states))
	for i, s := range states {
		out[i] = answer.Contract{Name: s.Name, Version: s.Version, Implemented: s.Implemented, Gives: s.Gives}
	}
	return out
}

// DescribeLayout lists the members of the runtime's structures by name, with the source of each.
func (r *Runtime) DescribeLayout() []answer.LayoutMember {
	members := r.layout.Members()
	out := make([]answer.LayoutMember, len(members))
	for i, m := range members {
		out[i] = answer.LayoutMember(m)
	}
	return out
}

// LayoutSources lists the sources of the layout in the order of precedence: contract descriptors and tables.
func (r *Runtime) LayoutSources() []string { return slices.Clone(r.layout.Sources()) }

// ForeignLayout returns the major version on which the runtime's layout was measured ("8.0") if it differs from
// the runtime's own, with the processor if that differs ("8.0 on x64"). Only the probes support such a layout.
// It returns "" for a layout of the runtime's version and processor, and if the version is unknown.
func (r *Runtime) ForeignLayout() string {
	if r.lender != "" {
		return r.measuredOn + " on " + r.lender
	}
	if r.inst.Version() == "" || r.inst.ofMajor(r.measuredOn) {
		return ""
	}
	return r.measuredOn
}

// NamedType returns the name of a type for an answer. If the name is unreadable, it describes the type instead.
func (r *Runtime) NamedType(g *answer.Gaps, th target.Addr) answer.Text {
	name, err := r.TypeName(th, NameManaged)
	text := g.Text(name, err)
	if err != nil {
		text.Instead = r.NamelessType(th)
	}
	return text
}

// NamelessType describes a type without a readable name by its TypeHandle and, if known, the assembly that
// defines it or the elements of an array.
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

// wellKnownName returns the name of a type that the runtime's globals identify, or "".
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
