package heap

import "context"

// ComparedChars is how much of a string counts as its content.
const ComparedChars = comparedChars

// Contents counts objects by their content, in bounded memory: who asks for strings that are there twice has what
// dumpheap -strings counts, and values in boxes can be counted in the same way. It is filled by one goroutine, with
// what several ContentHashers hashed, and may be read by several once it is closed.
type Contents struct {
	table   *stringTable // when it is closed
	keepers *stringKeepers
}

// NewContents returns Contents that nothing was added to, and for which as many goroutines work as jobs says. Close
// ends them, and Free gives the memory back. One that fails calls cancel.
func (h *Heap) NewContents(jobs int, cancel func()) *Contents {
	return &Contents{keepers: keepStrings(max(jobs, 1), cancel)}
}

// Add counts what by hashed, which forgets it. Of equal contents the one that was added first is the First.
func (c *Contents) Add(ctx context.Context, by *ContentHasher) {
	for i := range by.hashed {
		if len(by.hashed[i]) > 0 {
			c.keepers.add(ctx, &by.hashed)
			return
		}
	}
}

// Close waits until all is counted. The error says how much found no room (limits.StringContents).
func (c *Contents) Close() error {
	c.table = c.keepers.end()
	return c.table.gap()
}

// Free gives the memory back, behind Close. It can be asked nothing any more.
func (c *Contents) Free() {
	if c != nil && c.table != nil {
		c.table.free()
	}
}

// All passes all contents to visit, in no order. The error is the context's.
func (c *Contents) All(ctx context.Context, visit func(StringStats)) error {
	const look = 1 << 14 // contents after which it looks at its context
	for i := range c.table.parts {
		p := &c.table.parts[i]
		for k := range p.n {
			if k%look == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			e := p.entry(k)
			visit(StringStats{First: e.first, Count: e.count, Size: e.size})
		}
	}
	return ctx.Err()
}

// LookupBatch is how many strings OfStrings takes at most.
const LookupBatch = 32

// OfStrings tells visit how many strings have the content of each of list, by its index there; those whose content was
// not counted, or can't be read, are left out. The table is larger than any cache: what the strings need of it is
// loaded for all of them before the first is looked at, so that none waits for another.
func (c *Contents) OfStrings(by *ContentHasher, list []Object, visit func(i int, s StringStats)) {
	var hashes [LookupBatch]hashedString
	var slots [LookupBatch]uint64
	var entries [LookupBatch]*stringEntry
	var found [LookupBatch]uint64
	list = list[:min(len(list), LookupBatch)]
	for i := range list {
		s, err := by.ofString(&list[i])
		if err == nil {
			hashes[i] = s // without an address there is none
		}
	}
	for i := range list {
		slots[i] = c.table.parts[hashes[i].a%stringParts].slot(hashes[i].b)
	}
	for i := range list {
		if slots[i] != 0 && (slots[i]^hashes[i].a)&^stringNumber == 0 {
			entries[i] = c.table.parts[hashes[i].a%stringParts].entry(int(slots[i]&stringNumber) - 1)
			found[i] = entries[i].b
		}
	}
	for i := range list {
		switch e := entries[i]; {
		case hashes[i].addr == 0:
		case e != nil && found[i] == hashes[i].b:
			visit(i, StringStats{First: e.first, Count: e.count, Size: e.size})
		default:
			if s, ok := c.of(&hashes[i]); ok {
				visit(i, s)
			}
		}
	}
}

// OfValue tells how many objects that Value hashed have the content of o. It reports false where that was not counted,
// or can't be read.
func (c *Contents) OfValue(by *ContentHasher, o *Object) (StringStats, bool) {
	s, err := by.ofValue(o)
	if err != nil {
		return StringStats{}, false
	}
	return c.of(&s)
}

func (c *Contents) of(s *hashedString) (StringStats, bool) {
	p := &c.table.parts[s.a%stringParts]
	if len(p.slots) == 0 {
		return StringStats{}, false
	}
	mask := uint64(len(p.slots) - 1)
	for at := s.b & mask; p.slots[at] != 0; at = (at + 1) & mask {
		if (p.slots[at]^s.a)&^stringNumber != 0 {
			continue
		}
		if e := p.entry(int(p.slots[at]&stringNumber) - 1); e.b == s.b {
			return StringStats{First: e.first, Count: e.count, Size: e.size}, true
		}
	}
	return StringStats{}, false
}

// A ContentHasher hashes the content of objects, for one goroutine.
type ContentHasher struct{ stringHasher }

// NewContentHasher returns a ContentHasher for objects of h.
func (h *Heap) NewContentHasher() *ContentHasher { return &ContentHasher{newStringHasher(h)} }

// String hashes a string: its length and its first characters (ComparedChars), as dumpheap -strings does.
func (c *ContentHasher) String(o *Object) error {
	s, err := c.ofString(o)
	if err == nil {
		c.keep(s)
	}
	return err
}

// Value hashes the fields of an object without components: of one in a box, the value. Values of two types differ.
func (c *ContentHasher) Value(o *Object) error {
	s, err := c.ofValue(o)
	if err == nil {
		c.keep(s)
	}
	return err
}

func (c *ContentHasher) ofString(o *Object) (hashedString, error) {
	b, err := c.win.Bytes(o.Addr+stringChars, 2*int(min(o.Length, comparedChars)))
	if err != nil {
		return hashedString{}, err
	}
	return c.digest(o, b, uint64(o.Length)), nil
}

func (c *ContentHasher) ofValue(o *Object) (hashedString, error) {
	const fields = 8 // behind the MethodTable; the last word of the size is the header of the next object
	b, err := c.win.Bytes(o.Addr+fields, int(o.Size-2*fields))
	if err != nil {
		return hashedString{}, err
	}
	return c.digest(o, b, uint64(o.Type.Addr)), nil
}

// Reset forgets what was hashed.
func (c *ContentHasher) Reset() { c.hashed.reset() }
