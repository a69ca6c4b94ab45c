package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
)

// lazyKinds returns the classes that create values on demand.
func lazyKinds() []kind { return []kind{kindOf((*Reader).lazy), kindOf((*Reader).threadLocal)} }

type lazyValue struct {
	_     shapes.Type  `of:"System.Lazy<>"`
	State shapes.Ref   `field:"_state"`
	Value shapes.Value `field:"_value"`
}

// lazy lists the value if it was created.
func (r *Reader) lazy(s *lazyValue, f *reading) content {
	state := f.addr(&s.State)
	if state != 0 {
		return content{count: unknown, each: yieldNothing}
	}
	return content{count: unknown, each: func(yield yielder) bool { return yieldItem(yield, Item{Value: s.Value.Value(f.x)}) }}
}

type threadLocal struct {
	_    shapes.Type `of:"System.Threading.ThreadLocal<>"`
	Slot shapes.Ref  `field:"_linkedSlot"`
}

type linkedSlot struct {
	Next  shapes.Ref   `field:"_next"`
	Array shapes.Ref   `field:"_slotArray"`
	Value shapes.Value `field:"_value"`
}

func (s *linkedSlot) next() *shapes.Ref { return &s.Next }

func (s *linkedSlot) item(x shapes.Instance) (Item, bool, error) {
	array, err := s.Array.Addr(x)
	if err != nil || array == 0 {
		return Item{}, false, err
	}
	return checkItem(Item{Value: s.Value.Value(x)})
}

// threadLocal lists the values of the threads that have one. The first slot of the chain has no value.
func (r *Reader) threadLocal(s *threadLocal, f *reading) content {
	return content{count: unknown, each: chain[*linkedSlot](r, f.addr(&s.Slot), 0)}
}
