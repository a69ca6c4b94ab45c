package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
)

func TestEnumFormat(t *testing.T) {
	rights := objects.Enum{Underlying: metadata.ElementI4, Flags: true, Members: []objects.EnumMember{
		{"None", 0}, {"Read", 1}, {"Write", 2}, {"Execute", 4}, {"ReadWrite", 3},
	}}
	for bits, want := range map[uint64]string{0: "None", 1: "Read", 3: "ReadWrite", 5: "Read, Execute", 7: "ReadWrite, Execute", 9: "9", 0xffffffff: "-1"} {
		assert.Equal(t, want, rights.Format(bits))
	}
	color := objects.Enum{Underlying: metadata.ElementU1, Members: []objects.EnumMember{{"Red", 1}, {"Green", 2}}}
	for bits, want := range map[uint64]string{1: "Red", 3: "3", 200: "200", 0: "0"} {
		assert.Equal(t, want, color.Format(bits))
	}
}

func TestFieldLabel(t *testing.T) {
	for name, want := range map[string]string{
		"_name": "_name", "<Age>k__BackingField": "Age", "<Name>i__Field": "Name", "<>1__state": "<>1__state",
	} {
		assert.Equal(t, want, objects.FieldLabel(name))
	}
}
