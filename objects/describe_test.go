package objects

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
)

func TestElementNames(t *testing.T) {
	for et, want := range map[metadata.ElementType][2]string{
		metadata.ElementI4:          {"System.Int32", "Int32"},
		metadata.ElementI:           {"System.IntPtr", "IntPtr"},
		metadata.ElementPtr:         {"PTR", "PTR"},
		metadata.ElementSZArray:     {"SZARRAY", "SZARRAY"},
		metadata.ElementGenericInst: {"", ""}, // SOS has no word for it
	} {
		assert.Equal(t, want, [2]string{elementName(et), elementWord(et)})
	}
}
