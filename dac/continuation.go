package dac

import (
	"github.com/sosgo/sosgo/target"
)

// continuationType is the base class of objects with the locals of a suspended runtime-async method (.NET 11).
// For each shape of such locals the runtime makes a MethodTable without metadata that extends it. Its token is
// nil, and all of them share one EEClass (dotnet/runtime, issues 120800 and 121008, pull request 124918). Not
// measured on a dump.
const continuationType = "System.Runtime.CompilerServices.Continuation"

// continuationNote follows the parent's name in the name of a continuation without metadata.
const continuationNote = " (subtype without metadata)"

// isContinuation reports whether mt is a continuation without metadata.
func (r *Runtime) isContinuation(mt *MethodTable) bool {
	if mt.Token.Row() != 0 || mt.Parent == 0 || mt.IsArray() || mt.IsGeneric() {
		return false
	}
	parent, err := r.impl.readMethodTable(mt.Parent)
	if err != nil || parent.Token.Row() == 0 || parent.IsArray() || parent.IsGeneric() {
		return false
	}
	name, err := r.impl.definitionName(parent)
	return err == nil && name == continuationType
}

// sharesContinuationClass reports whether mt is a continuation that shares the EEClass of the continuation at
// owner.
func (r *Runtime) sharesContinuationClass(mt *MethodTable, owner target.Addr) bool {
	if !r.isContinuation(mt) {
		return false
	}
	first, err := r.impl.readMethodTable(owner)
	return err == nil && first.EEClass == mt.EEClass && first.Parent == mt.Parent && first.Token.Row() == 0
}
