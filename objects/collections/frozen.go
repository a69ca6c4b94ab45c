package collections

import "github.com/sosgo/sosgo/objects/shapes"

// frozenKinds returns the classes of System.Collections.Frozen. Each kind of key has a class. All have arrays of keys
// and values. Integer keys are the hash codes themselves.
func frozenKinds() []kind {
	return []kind{kindOf((*Reader).frozenDictionary), kindOf((*Reader).frozenSet)}
}

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
		return r.parallelArrays(keys, values, allKeys)
	case s.Hashed != nil:
		table, values := f.object(&s.Hashed.Table), f.object(&s.Hashed.Values)
		t := bindNext[*frozenTable](r, f, table)
		return r.parallelArrays(f.object(&t.Codes), values, allKeys)
	}
	return content{keys: true, each: yieldNothing}
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
		t := bindNext[*frozenTable](r, f, table)
		return r.wrap(f.object(&t.Codes))
	}
	return content{each: yieldNothing}
}
