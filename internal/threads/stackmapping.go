package threads

import "github.com/sosgo/sosgo/target"

// StackMapping returns the part of a mapping that is the stack of a thread with a stack pointer in it. The kernel merges neighbouring mappings, so that a
// mapping may have more than the stack. The runtime records the bounds of the stacks of managed threads, and largest is the size of the largest. Other threads have
// stacks that are no larger, and a guard page before them, with which no mapping merges.
func StackMapping(mapping target.Range, sp target.Addr, bounds target.Range, largest uint64) target.Range {
	if bounds.Contains(sp) {
		return target.Range{Start: max(mapping.Start, bounds.Start), End: min(mapping.End, bounds.End)}
	}
	if largest == 0 || mapping.Size() <= largest {
		return mapping
	}
	if uint64(sp-mapping.Start) >= largest {
		mapping.Start = sp - sp%stackAlignment // what is before it is not known
	}
	mapping.End = min(mapping.End, mapping.Start+target.Addr(largest))
	return mapping
}

// stackAlignment is the size of the pages that are counted for a stack with an unknown beginning.
const stackAlignment = 4096
