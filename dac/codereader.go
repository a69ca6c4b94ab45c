package dac

import (
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/target"
)

// A CodeReader reads the methods and the code of one runtime, and caches them.
type CodeReader struct {
	rt  *Runtime
	mem target.Memory // memory of the runtime

	bound    lazy.Value[*members]
	native   lazy.Value[*nativecode.Code] // code of a NativeAOT program
	methods  sync.Map                     // target.Addr -> *MethodDesc
	names    sync.Map                     // methodNameKey -> string
	sections sync.Map                     // target.Addr -> *RangeSection
	ranges   lazy.Value[[]*RangeSection]  // as they were read
	list     lazy.Value[[]*RangeSection]  // after a comparison with what must be in it
	bodies   sync.Map                     // entry point, target.Addr -> *body
	versions lazy.Value[map[target.Addr]target.Addr]
}

// CodeOf returns the CodeReader of rt, which is the same for each call.
func CodeOf(rt *Runtime) *CodeReader { return readers(rt) }

var readers = keptPerRuntime(func(rt *Runtime) *CodeReader { return &CodeReader{rt: rt, mem: rt.Memory()} })

// Runtime returns the runtime that r reads.
func (r *CodeReader) Runtime() *Runtime { return r.rt }

// ptr reads the pointer member at offset off of the structure at a.
func (r *CodeReader) ptr(a target.Addr, off int, what string) (target.Addr, error) {
	if typ, field, _ := strings.Cut(what, "."); off == layout.Absent {
		if _, err := r.Runtime().Layout().Offset(typ, field); err != nil {
			return 0, err // says why the layout lacks it
		}
	}
	return layout.Pointer(r.mem, a, off, what)
}

// u32 reads the 32-bit member at offset off of the structure at a.
func (r *CodeReader) u32(a target.Addr, off int, what string) (uint32, error) {
	return layout.Uint32(r.mem, a, off, what)
}
