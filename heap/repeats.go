package heap

import "context"

// ComparedChars is the number of leading characters of a string that count as its content.
const ComparedChars = comparedChars

// Contents counts objects by content in bounded memory. Strings are equal as in dumpheap -strings, and so are
// boxed values. One goroutine adds the results of several ContentHashers. After Close several goroutines may
// read it.
type Contents struct {
	table   *stringTable // set by Close
	keepers *stringKeepers
}

// NewContents returns empty Contents that use jobs goroutines. Close ends them, and Free releases the
// memory. A goroutine that fails calls cancel.
func (h *Heap) NewContents(ctx context.Context, jobs int, cancel func()) *Contents {
	return &Contents{keepers: keepStrings(ctx, max(jobs, 1), cancel)}
}

// Add counts the contents hashed by by, and resets it. Of equal contents, the one added first is First.
func (c *Contents) Add(ctx context.Context, by *ContentHasher) {
	for i := range by.hashed {
		if len(by.hashed[i]) > 0 {
			c.keepers.add(ctx, &by.stringHasher)
			return
		}
	}
}

// Close waits until everything is counted. The error reports the number of contents that did not fit
// (limits.StringContents).
func (c *Contents) Close() error {
	c.table = c.keepers.end()
	return c.table.gap()
}

// Free releases the memory after Close. The Contents can't be used afterwards.
func (c *Contents) Free() {
	if c != nil && c.table != nil {
		c.table.free()
	}
}

// All calls visit with all contents, in no particular order. The error is ctx's.
func (c *Contents) All(ctx context.Context, visit func(StringStats)) error {
	const look = 1 << 14 // contents between checks of the context
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

// LookupBatch is the maximum number of strings for OfStrings.
const LookupBatch = 32

// OfStrings calls visit, by index in list, with the number of strings with the same content. It omits
// unreadable strings and strings that were not counted. The table exceeds any cache, so it loads the entries of
// all strings before it examines the first.
func (c *Contents) OfStrings(by *ContentHasher, list []Object, visit func(i int, s StringStats)) {
	var hashes [LookupBatch]hashedString
	var slots [LookupBatch]uint64
	var entries [LookupBatch]*stringEntry
	var found [LookupBatch]uint64
	list = list[:min(len(list), LookupBatch)]
	for i := range list {
		s, err := by.ofString(&list[i])
		if err == nil {
			hashes[i] = s // a hash without an address is skipped
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
			if s, ok := c.statsOf(&hashes[i]); ok {
				visit(i, s)
			}
		}
	}
}

// OfValue returns the number of objects hashed with Value that have the content of o. It returns false if the
// content is unreadable or was not counted.
func (c *Contents) OfValue(by *ContentHasher, o *Object) (StringStats, bool) {
	s, err := by.ofValue(o)
	if err != nil {
		return StringStats{}, false
	}
	return c.statsOf(&s)
}

func (c *Contents) statsOf(s *hashedString) (StringStats, bool) {
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

// A ContentHasher hashes the content of objects. It is for one goroutine.
type ContentHasher struct{ stringHasher }

// NewContentHasher returns a ContentHasher for objects of h.
func (h *Heap) NewContentHasher() *ContentHasher { return &ContentHasher{newStringHasher(h)} }

// String hashes a string: its length and first characters (ComparedChars), like dumpheap -strings.
func (c *ContentHasher) String(o *Object) error {
	s, err := c.ofString(o)
	if err == nil {
		c.keep(s)
	}
	return err
}

// Value hashes the fields of an object without components; for a box, its value. Values of different types
// differ.
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
	const fields = 8 // after the MethodTable; the last word of the size is the header of the next object
	b, err := c.win.Bytes(o.Addr+fields, int(o.Size-2*fields))
	if err != nil {
		return hashedString{}, err
	}
	return c.digest(o, b, uint64(o.Type.Addr)), nil
}

// Reset drops the hashed contents.
func (c *ContentHasher) Reset() { c.hashed.reset() }
