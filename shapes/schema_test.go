package shapes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefinition(t *testing.T) {
	for in, want := range map[string]string{
		"System.Collections.Generic.Dictionary<,>+Entry": "System.Collections.Generic.Dictionary`2+Entry",
		"Ns.Outer<>+Inner<,,>":                           "Ns.Outer`1+Inner`3",
		"Ns.Type":                                        "Ns.Type",
		"Ns.Type+<M>d__1":                                "Ns.Type+<M>d__1",
		"Ns.Type+<>c":                                    "Ns.Type+<>c",
		"Ns.Type+<>c__DisplayClass1<>":                   "Ns.Type+<>c__DisplayClass1`1",
	} {
		assert.Equal(t, want, definition(in))
	}
}

func TestPath(t *testing.T) {
	assert.Equal(t, []string{"_separated", "counts", "_data"}, path("_separated.counts._data"))
	assert.Equal(t, []string{"<Left>k__BackingField"}, path("<Left>"))
	assert.Equal(t, []string{"<System.Collections.ICollection.SyncRoot>k__BackingField", "x"}, path("<System.Collections.ICollection.SyncRoot>.x"))
	assert.Equal(t, []string{"<>1__state"}, path("<>1__state"))
	assert.Equal(t, []string{"<>t__builder", "m_task"}, path("<>t__builder.m_task"))
	assert.Equal(t, []string{"<x>5__2"}, path("<x>5__2"))
}
