package graph

import (
	"strings"

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

// asyncLocal returns the AsyncLocal with the value at a slot of o, which is an execution context's map of values or a
// part of it. name is the slot's name (objects.Object.SlotName). ok is false for other objects and slots, and if the
// AsyncLocal is unreadable.
func asyncLocal(r *objects.Reader, o objects.Object, name string, slot target.Addr) (local objects.Object, ok bool) {
	if o.Type == nil {
		return local, false
	}
	typ, err := o.Type.Name()
	if err != nil || !strings.HasPrefix(typ, asyncLocalMap) && !(o.Type.MT.IsArray() && strings.Contains(typ, asyncLocalKey)) {
		return local, false
	}
	var key target.Addr
	if n, found := strings.CutPrefix(name, "_value"); found { // before .NET 8
		key, err = o.Field("_key" + n).Addr()
	} else if strings.HasSuffix(name, ".value") { // field of a pair or an entry, after its key
		key, err = target.Pointer(r.Runtime().Memory(), slot-referenceSize)
	}
	if err != nil || key == 0 {
		return local, false
	}
	if local, err = r.TrustedObject(key); err != nil {
		return local, false
	}
	typ, err = local.Type.Name()
	return local, err == nil && strings.HasPrefix(typ, asyncLocalOf)
}
