package objects

// frozenKinds returns the classes of System.Collections.Frozen. Each kind of key has a class. All have arrays of keys
// and values. Integer keys are the hash codes themselves.
func frozenKinds() []kind {
	return []kind{kindOf((*Collections).frozenDictionary), kindOf((*Collections).frozenSet)}
}

type frozenDictionary struct {
	_      Shape `of:"System.Collections.Frozen.FrozenDictionary<,>" fields:"derived"`
	Plain  *frozenPairs
	Hashed *frozenHashed
	Empty  *frozenEmpty
}

type frozenPairs struct {
	Keys   RefField `field:"_keys"`
	Values RefField `field:"_values"`
}

type frozenHashed struct {
	_      Shape    `of:"System.Collections.Frozen.Int32FrozenDictionary<>"`
	Table  RefField `field:"_hashTable"`
	Values RefField `field:"_values"`
}

type frozenEmpty struct {
	_ Shape `of:"System.Collections.Frozen.EmptyFrozenDictionary<,>|System.Collections.Frozen.EmptyFrozenSet<>"`
}

type frozenTable struct {
	Codes RefField `field:"<HashCodes>"`
}

func (r *Collections) frozenDictionary(s *frozenDictionary, f *reading) content {
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
	_      Shape `of:"System.Collections.Frozen.FrozenSet<>" fields:"derived"`
	Plain  *frozenItems
	Hashed *frozenCodes
	Empty  *frozenEmpty
}

type frozenItems struct {
	Items RefField `field:"_items"`
}

type frozenCodes struct {
	_     Shape    `of:"System.Collections.Frozen.Int32FrozenSet"`
	Table RefField `field:"_hashTable"`
}

func (r *Collections) frozenSet(s *frozenSet, f *reading) content {
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
