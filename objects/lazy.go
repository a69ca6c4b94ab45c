package objects

// lazyKinds returns the classes that create values on demand.
func lazyKinds() []kind {
	return []kind{kindOf((*Collections).lazy), kindOf((*Collections).threadLocal)}
}

type lazyValue struct {
	_     Shape      `of:"System.Lazy<>"`
	State RefField   `field:"_state"`
	Value ValueField `field:"_value"`
}

// lazy lists the value if it was created.
func (r *Collections) lazy(s *lazyValue, f *reading) content {
	state := f.addr(&s.State)
	if state != 0 {
		return content{count: unknown, each: yieldNothing}
	}
	return content{count: unknown, each: func(yield yielder) bool { return yieldItem(yield, CollectionItem{Value: s.Value.Value(f.x)}) }}
}

type threadLocal struct {
	_    Shape    `of:"System.Threading.ThreadLocal<>"`
	Slot RefField `field:"_linkedSlot"`
}

type linkedSlot struct {
	Next  RefField   `field:"_next"`
	Array RefField   `field:"_slotArray"`
	Value ValueField `field:"_value"`
}

func (s *linkedSlot) next() *RefField { return &s.Next }

func (s *linkedSlot) item(x Instance) (CollectionItem, bool, error) {
	array, err := s.Array.Addr(x)
	if err != nil || array == 0 {
		return CollectionItem{}, false, err
	}
	return checkItem(CollectionItem{Value: s.Value.Value(x)})
}

// threadLocal lists the values of the threads that have one. The first slot of the chain has no value.
func (r *Collections) threadLocal(s *threadLocal, f *reading) content {
	return content{count: unknown, each: chain[*linkedSlot](r, f.addr(&s.Slot), 0)}
}
