package collections

import "github.com/sosgo/sosgo/objects/shapes"

// frozen has the classes of System.Collections.Frozen, one for each kind of key. All have arrays of keys and values. If
// keys are integers, the hash codes are the keys.
func frozen() []kind { return []kind{of((*Reader).frozenDictionary), of((*Reader).frozenSet)} }

type frozenDictionary struct {
	_      shapes.Type `of:"System.Collections.Frozen.FrozenDictionary<,>" fields:"derived"`
	Plain  *frozenPairs
	Hashed *frozenHashed
	Empty  *frozenEmpty
}

type frozenPairs struct {
	Keys   shapes.Ref `field:"_keys"`
	Values shapes.Ref `field:"_values"`
}

type frozenHashed struct {
	_      shapes.Type `of:"System.Collections.Frozen.Int32FrozenDictionary<>"`
	Table  shapes.Ref  `field:"_hashTable"`
	Values shapes.Ref  `field:"_values"`
}

type frozenEmpty struct {
	_ shapes.Type `of:"System.Collections.Frozen.EmptyFrozenDictionary<,>|System.Collections.Frozen.EmptyFrozenSet<>"`
}

type frozenTable struct {
	Codes shapes.Ref `field:"<HashCodes>"`
}

func (r *Reader) frozenDictionary(s *frozenDictionary, f *reading) content {
	switch {
	case s.Plain != nil:
		keys, values := f.object(&s.Plain.Keys), f.object(&s.Plain.Values)
		return r.parallel(keys, values, all)
	case s.Hashed != nil:
		table, values := f.object(&s.Hashed.Table), f.object(&s.Hashed.Values)
		t := step[*frozenTable](r, f, table)
		return r.parallel(f.object(&t.Codes), values, all)
	}
	return content{keys: true, each: nothing}
}

type frozenSet struct {
	_      shapes.Type `of:"System.Collections.Frozen.FrozenSet<>" fields:"derived"`
	Plain  *frozenItems
	Hashed *frozenCodes
	Empty  *frozenEmpty
}

type frozenItems struct {
	Items shapes.Ref `field:"_items"`
}

type frozenCodes struct {
	_     shapes.Type `of:"System.Collections.Frozen.Int32FrozenSet"`
	Table shapes.Ref  `field:"_hashTable"`
}

func (r *Reader) frozenSet(s *frozenSet, f *reading) content {
	switch {
	case s.Plain != nil:
		return r.wrap(f.object(&s.Plain.Items))
	case s.Hashed != nil:
		table := f.object(&s.Hashed.Table)
		t := step[*frozenTable](r, f, table)
		return r.wrap(f.object(&t.Codes))
	}
	return content{each: nothing}
}
