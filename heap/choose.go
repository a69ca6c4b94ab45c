package heap

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// generationNames maps SOS's names of generations, and sosgo's, to generations.
var generationNames = []struct {
	name string
	gen  Generation
}{
	{"gen0", Generation0},
	{"gen1", Generation1},
	{"gen2", Generation2},
	{"loh", GenerationLarge}, {"large", GenerationLarge},
	{"poh", GenerationPinned}, {"pinned", GenerationPinned},
	{"foh", GenerationFrozen}, {"frozen", GenerationFrozen},
}

// ParseGeneration returns the generation with a name such as gen0, loh or pinned, ignoring case, if there is one.
func ParseGeneration(name string) (Generation, bool) {
	for _, g := range generationNames {
		if strings.EqualFold(name, g.name) {
			return g.gen, true
		}
	}
	return GenerationUnknown, false
}

// TypeIs returns a Filter.Type for one type.
func TypeIs(mt target.Addr) func(*dac.MethodTable) bool {
	return func(t *dac.MethodTable) bool { return t.Addr == mt }
}

// TypeContains returns a Filter.Type for the types with part in their name. Types without a name are excluded.
func (h *Heap) TypeContains(part string) func(*dac.MethodTable) bool {
	return func(t *dac.MethodTable) bool {
		name, err := h.Runtime().TypeName(t.Addr, dac.NameManaged)
		return err == nil && strings.Contains(name, part)
	}
}

// TypeContainsFold is TypeContains ignoring case.
func (h *Heap) TypeContainsFold(part string) func(*dac.MethodTable) bool {
	part = strings.ToLower(part)
	return func(t *dac.MethodTable) bool {
		name, err := h.Runtime().TypeName(t.Addr, dac.NameManaged)
		return err == nil && strings.Contains(strings.ToLower(name), part)
	}
}
