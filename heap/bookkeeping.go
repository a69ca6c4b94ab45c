package heap

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// Bookkeeping locates the memory of the collector beside its segments.
type Bookkeeping struct {
	// Tables are the card table, brick table, card bundles and mark array of the heap, and replaced ones that a
	// collection still uses. They are reserved at once and committed as the heap grows.
	Tables []target.Range
	// Reserved is the range of addresses that the heap may use. Segments, free regions and unused addresses
	// share it. Frozen segments are elsewhere. It is empty if the layout lacks it.
	Reserved target.Range
}

// cardTableLayout is a card_table_info (gcpriv.h), the header of the collector's tables.
type cardTableLayout struct {
	Size    int `layout:"Size"`
	Next    int `layout:"NextCardTable"`
	Lowest  int `layout:"LowestAddress,optional"`
	Highest int `layout:"HighestAddress,optional"`
}

// Bookkeeping locates the collector's tables. Collectors before .NET 8 do not publish them.
func (h *Heap) Bookkeeping() (*Bookkeeping, error) {
	v, err := h.readVars()
	if err != nil {
		return nil, err
	}
	start, size, err := v.bookkeepingStart()
	if err != nil {
		return nil, err
	}
	var o cardTableLayout
	if err := v.l.Bind("CardTableInfo", &o); err != nil {
		return nil, err
	}
	b := &Bookkeeping{}
	for at := start; at != 0; {
		if len(b.Tables) >= limits.CardTables {
			return b, target.Corruptf("list of card tables has no end")
		}
		raw, err := target.Bytes(h.mem, at, int(size))
		if err != nil {
			return b, fmt.Errorf("card table: %w", err)
		}
		table := target.RangeAt(at, le64(raw[o.Size:]))
		if table.Size() < size {
			return b, target.Corruptf("card table %v of %#x bytes", at, table.Size())
		}
		if len(b.Tables) == 0 && o.Lowest != layout.Absent && o.Highest != layout.Absent {
			b.Reserved = target.Range{Start: target.Addr(le64(raw[o.Lowest:])), End: target.Addr(le64(raw[o.Highest:]))}
			if b.Reserved.Size() == 0 {
				return b, target.Corruptf("card table %v of the heap %v-%v", at, b.Reserved.Start, b.Reserved.End)
			}
		}
		b.Tables = append(b.Tables, table)
		// The list links card tables, which follow their headers.
		if at = target.Addr(le64(raw[o.Next:])); at != 0 {
			at -= target.Addr(size)
		}
	}
	return b, nil
}

// bookkeepingStart returns the first card_table_info, and the size of one.
func (v *vars) bookkeepingStart() (at target.Addr, size uint64, err error) {
	if v.at == 0 {
		if size, err = v.l.Uint("CardTableInfoSize"); err != nil {
			return 0, 0, err
		}
	} else {
		const major = 2 // version of GcDacVars since .NET 8 (gcinterface.dacvars.def)
		version, err := v.version()
		if err != nil {
			return 0, 0, err
		}
		if version[0] < major {
			return 0, 0, target.Unsupportedf("this collector does not publish where its tables are")
		}
		off, err := v.l.Offset("GcDacVars", "CardTableInfoSize")
		if err != nil {
			return 0, 0, err
		}
		if size, err = target.Uint64(v.r, v.at+target.Addr(off)); err != nil {
			return 0, 0, err
		}
	}
	var o cardTableLayout
	if err := v.l.Bind("CardTableInfo", &o); err != nil {
		return 0, 0, err
	}
	if least := max(o.Size, o.Next, o.Lowest, o.Highest) + 8; size < uint64(least) || size > limits.GenerationSize {
		return 0, 0, target.Corruptf("card_table_info of %#x bytes", size)
	}
	at, err = v.deref("BookkeepingStart")
	if err == nil && at == 0 {
		err = target.Corruptf("the collector has no card table")
	}
	return at, size, err
}
