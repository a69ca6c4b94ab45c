package graph

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Types of execution contexts (AsyncLocal.cs, ExecutionContext.cs). A context refers to a map from AsyncLocals to their
// values: an object with a few pairs, an array of pairs, or a dictionary's entries.
const (
	asyncLocalOf  = "System.Threading.AsyncLocal`1"
	asyncLocalKey = "System.Threading.IAsyncLocal"
	asyncLocalMap = "System.Threading.AsyncLocalValueMap+"
)

// referenceSize is the size of a key in a pair, in bytes.
const referenceSize = 8

// asyncLocal names the AsyncLocal with the value that an edge of an object leads to: by its static field, or by type
// and address. The name is empty for any other edge, and if the AsyncLocal is unreadable.
func (x *Names) asyncLocal(o objects.Object, e *Edge) string {
	if e.Kind != EdgeField || o.Type == nil {
		return ""
	}
	name, err := o.Type.Name()
	if err != nil || !strings.HasPrefix(name, asyncLocalMap) && !(o.Type.MT.IsArray() && strings.Contains(name, asyncLocalKey)) {
		return ""
	}
	var key target.Addr
	if n, ok := strings.CutPrefix(e.Name, "_value"); ok { // before .NET 8
		key, err = o.Field("_key" + n).Addr()
	} else if strings.HasSuffix(e.Name, ".value") { // field of a pair or an entry, after its key
		key, err = target.Pointer(x.g.h.Memory(), e.Slot-referenceSize)
	}
	if err != nil || key == 0 {
		return ""
	}
	return x.keyName(key)
}

// keyName returns the name of an AsyncLocal. It is empty for any other object.
func (x *Names) keyName(key target.Addr) string {
	o, err := x.r.Object(key)
	if err != nil {
		return ""
	}
	typ, err := o.Type.Name()
	if err != nil || !strings.HasPrefix(typ, asyncLocalOf) {
		return ""
	}
	x.locals.once.Do(x.readLocals)
	if name := x.locals.names[key]; name != "" {
		return name
	}
	if typ, err = o.Type.ManagedName(); err != nil {
		return ""
	}
	return typ + " " + key.String()
}

// readLocals finds the static fields that refer to AsyncLocals.
func (x *Names) readLocals() {
	x.locals.names = map[target.Addr]string{}
	is := make([]bool, len(x.g.Types()))
	for i, mt := range x.g.Types() {
		name, err := x.r.Runtime().TypeName(mt.Addr, dac.NameNative)
		is[i] = err == nil && strings.HasPrefix(name, asyncLocalOf)
	}
	for i := range x.g.sources {
		s := &x.g.sources[i]
		if s.Static == nil || s.Thread != nil {
			continue
		}
		for r := range x.g.RootRefs(x.g.SourceNode(i)) {
			if !x.g.IsObject(r.Object) || !is[x.g.TypeIndex(r.Object)] {
				continue
			}
			if name, err := s.Static.Name(); err == nil {
				x.locals.names[x.g.Address(r.Object)] = name
			}
		}
	}
}
