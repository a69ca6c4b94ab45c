// Package code reads the methods and the code of a CLR: MethodDescs and the versions of their code, the method
// at an address in code, names and signatures of methods, IL, the compilers' records about code, and source
// lines. Package codeinfo decodes the compilers' records, and package stackwalk walks stacks. Names are the
// runtime's.
//
// Start at Of, which returns the Reader of a runtime opened by package dac, and Reader.MethodAt. A Reader is
// safe for concurrent use.
//
// Stability: unstable.
package code

import (
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the methods and the code of one runtime, and caches them.
type Reader struct {
	rt  *dac.Runtime
	mem target.Memory // memory of the runtime

	bound    lazy.Value[*members]
	native   lazy.Value[*Native] // code of a NativeAOT program
	methods  sync.Map            // target.Addr -> *MethodDesc
	names    sync.Map            // methodNameKey -> string
	sections sync.Map            // target.Addr -> *RangeSection
	list     lazy.Value[[]*RangeSection]
	bodies   sync.Map // entry point, target.Addr -> *body
	versions lazy.Value[map[target.Addr]target.Addr]
}

// Of returns the Reader of rt. It returns the same Reader for each call.
func Of(rt *dac.Runtime) *Reader { return readers(rt) }

var readers = dac.PerRuntime(func(rt *dac.Runtime) *Reader { return &Reader{rt: rt, mem: rt.Memory()} })

// Runtime returns the runtime that r reads.
func (r *Reader) Runtime() *dac.Runtime { return r.rt }

// ptr reads the pointer member at offset off of the structure at a.
func (r *Reader) ptr(a target.Addr, off int, what string) (target.Addr, error) {
	if typ, field, _ := strings.Cut(what, "."); off == layout.Absent {
		if _, err := r.Runtime().Layout().Offset(typ, field); err != nil {
			return 0, err // says why the layout lacks it
		}
	}
	return layout.Pointer(r.mem, a, off, what)
}

// u32 reads the 32-bit member at offset off of the structure at a.
func (r *Reader) u32(a target.Addr, off int, what string) (uint32, error) {
	return layout.Uint32(r.mem, a, off, what)
}
