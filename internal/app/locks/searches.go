package locks

import (
	"slices"

	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// absent reports whether no object of the circle that in is in has the value that the loop searches. What can't be read may be the value. args and locals are
// the variables of the frame.
func (s *survey) absent(at *stand, c *circle, in objects.Object, args, locals []stackwalk.Variable) bool {
	find := &c.Search
	md, err := at.method.Metadata()
	if find.Field == 0 || err != nil {
		return false
	}
	name, err := fieldName(md, find.Field)
	if err != nil {
		return false
	}
	if find.Call >= 0 && !s.comparesTexts(at, find) {
		return false
	}
	list := locals
	if find.Key.Argument {
		list = args
	}
	var key objects.Value
	if !find.Fixed {
		if find.Key.Number >= int64(len(list)) || !list[find.Key.Number].Located || list[find.Key.Number].Err != nil {
			return false
		}
		if key, err = list[find.Key.Number].Value(); err != nil {
			return false
		}
	}
	for range c.number {
		field, err := followed(in.Type, find.Field, name)
		if err != nil {
			return false
		}
		if !differs(find, in.Value(field), key) {
			return false
		}
		next, err := followed(in.Type, c.Field, c.name)
		if err != nil {
			return false
		}
		if in, err = in.Value(next).Object(); err != nil {
			return false
		}
	}
	return true
}

// comparesTexts reports whether the call of a search is one that compares strings.
func (s *survey) comparesTexts(at *stand, f *ilflow.Search) bool {
	calls, err := s.around(at.thread, &at.frame, at.method)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(slices.Concat(calls.Before, calls.Later), func(call tasks.Call) bool {
		return call.Offset == f.Call && call.Through == "" && (call.Method == "String.Equals" || !f.Called && call.Method == "String.op_Equality")
	})
}

// differs reports whether the value of an object is not the key. It is false if that can't be read.
func differs(f *ilflow.Search, v, key objects.Value) bool {
	if f.Call >= 0 {
		if v.Err() != nil || v.IsNull() || key.IsNull() { // a method of a null reference throws
			return v.Err() == nil && !f.Called && v.IsNull() != key.IsNull()
		}
		a, err := v.Text(-1)
		if err != nil {
			return false
		}
		b, err := key.Text(-1)
		return err == nil && a != b
	}
	size, b := 4, uint64(f.Constant)
	if !f.Fixed {
		var err error
		if b, err = key.Bits(); err != nil || key.Kind() != v.Kind() && !(whole(v) && whole(key)) {
			return false
		}
		size = key.Size()
	}
	a, err := v.Bits()
	if err != nil || !whole(v) && v.Kind() != objects.KindReference {
		return false
	}
	// What differs in the bytes that both have differs. Whether the others do depends on signs.
	mask := ^uint64(0) >> (64 - 8*uint(max(1, min(size, v.Size(), 8))))
	return a&mask != b&mask
}

// whole reports whether a value is a whole number, as flags and characters are in IL.
func whole(v objects.Value) bool {
	switch v.Kind() {
	case objects.KindInt, objects.KindUint, objects.KindBool, objects.KindChar:
		return true
	}
	return false
}
