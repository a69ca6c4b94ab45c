package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestImplements: a method that implements one interface alone has its name as in the source, nested and generic.
func TestImplements(t *testing.T) {
	for explicit, class := range map[string]string{
		"":                           "Yard.IGate",
		"Yard.IGate":                 "Yard.IGate",
		"Yard.Tools.IGate":           "Yard.Tools+IGate",
		"Yard.IGate<A.B<C>,D>":       "Yard.IGate`2",
		"Yard.Tools<A.B>.IGate<A.C>": "Yard.Tools`1+IGate`12",
	} {
		v := virtualMethod{explicit: explicit}
		assert.True(t, v.implements(class), "%s: %s", explicit, class)
		assert.Equal(t, explicit == "", v.implements("Yard.IDoor"), explicit)
	}
}
