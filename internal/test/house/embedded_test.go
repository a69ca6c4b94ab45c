package house_test

import (
	"go/types"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// embeddedPointers are the exported structs that embed a pointer. It is never nil in a value that the library returns.
var embeddedPointers = []string{"graph.Reach", "process.Call", "sosgo.Dump", "sosgo.View", "target.ABI"}

// TestNoEmbeddedPointers checks that no exported struct of a public package embeds a pointer: where it is nil, reading
// a promoted field panics, and the code doesn't show a pointer. A part that may be absent is a field with a name, and is
// inlined in JSON by a MarshalJSON, because encoding/json has no such option.
func TestNoEmbeddedPointers(t *testing.T) {
	imported, seen, inlined := sources(t), []string{}, 0
	for _, dir := range publicFolders(t) {
		pkg, err := imported.Import(path.Join(modulePath, dir))
		require.NoError(t, err)
		for _, name := range pkg.Scope().Names() {
			object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || !object.Exported() || object.IsAlias() {
				continue
			}
			s, ok := object.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			place := packageName(dir) + "." + name
			for i := range s.NumFields() {
				f := s.Field(i)
				if _, pointer := f.Type().(*types.Pointer); pointer && f.Embedded() {
					seen = append(seen, place)
					assert.Contains(t, embeddedPointers, place, "it embeds %s", f.Type())
				}
				_, options, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
				if slices.Contains(strings.Split(options, ","), "inline") {
					inlined++
					marshal, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, "MarshalJSON")
					assert.NotNil(t, marshal, "%s inlines %s", place, f.Name())
				}
			}
		}
	}
	assert.ElementsMatch(t, embeddedPointers, seen)
	assert.NotZero(t, inlined)
}
