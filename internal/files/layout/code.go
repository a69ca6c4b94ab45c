package layout

// Members of the structures that lead from an address to code (codeman.h). Code lookup, the list of code heaps
// and the proofs of the runtime's variables bind them.
type (
	// RangeSectionMap is the map of ranges of code since 8.
	RangeSectionMap struct {
		Top int `layout:"TopLevelData"`
	}

	// A RangeSectionFragment is a leaf of the map.
	RangeSectionFragment struct {
		Next    int `layout:"Next"`
		Begin   int `layout:"RangeBegin"`
		End     int `layout:"RangeEndOpen"`
		Section int `layout:"RangeSection"`
	}

	// A RangeSection is a range of code of one kind.
	RangeSection struct {
		Begin      int `layout:"RangeBegin"`
		End        int `layout:"RangeEndOpen"`
		JitManager int `layout:"JitManager"`
		Next       int `layout:"Next,optional"` // before 8
		Flags      int `layout:"Flags,optional"`
		HeapList   int `layout:"HeapList|HeapListOrZapModule"`
		R2RModule  int `layout:"R2RModule|HeapListOrZapModule"`
	}

	// A CodeHeapListNode is a heap of compiled code.
	CodeHeapListNode struct {
		Next  int `layout:"Next"`
		Heap  int `layout:"Heap,optional"`
		Start int `layout:"StartAddress"`
		End   int `layout:"EndAddress"`
		Base  int `layout:"MapBase"`
		Map   int `layout:"HeaderMap"`
	}
)
