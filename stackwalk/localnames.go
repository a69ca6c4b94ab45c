package stackwalk

import (
	"github.com/sosgo/sosgo/metadata"
)

// hiddenVariable marks a local that the compiler generated (portable PDB format, attributes of LocalVariable).
const hiddenVariable = 1

// localNames returns the names of the locals that are in scope at the frame's instruction, by index. It is empty
// without a PDB.
func (v *variables) localNames() map[int]string {
	names := map[int]string{}
	m, err := v.method.Module()
	if err != nil {
		return names
	}
	pdb, err := m.PDB()
	if err != nil {
		return names
	}
	il, ok, err := v.code.ILOffset(v.frame.CallSite())
	if err != nil || !ok {
		return names
	}
	rows, err := pdb.Metadata.LocalScopes(v.method.Token.Row())
	if err != nil {
		return names
	}
	for rid, err := range rows.All() {
		if err != nil {
			return names
		}
		scope, err := pdb.Metadata.LocalScope(rid)
		if err == nil && uint64(il) >= uint64(scope.StartOffset) && uint64(il) < uint64(scope.StartOffset)+uint64(scope.Length) {
			scopeNames(names, pdb.Metadata, rid)
		}
	}
	return names
}

// scopeNames adds the names of one scope.
func scopeNames(names map[int]string, pdb *metadata.Metadata, scope uint32) {
	rows, err := pdb.LocalVariables(scope)
	if err != nil {
		return
	}
	for rid, err := range rows.All() {
		if err != nil {
			return
		}
		row, err := pdb.LocalVariable(rid)
		if err != nil || row.Attributes&hiddenVariable != 0 {
			continue
		}
		if name, err := pdb.String(row.Name); err == nil {
			names[int(row.Index)] = name
		}
	}
}
