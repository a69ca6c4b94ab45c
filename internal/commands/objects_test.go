package commands

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
)

func TestSOSFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0.000000"},
		{math.Copysign(0, -1), "-0.000000"},
		{math.Pi, "3.141593"},
		{float64(float32(0.72)), "0.720000"},
		{1e20, "100000000000000000000.000000"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.NaN(), "nan"},
		{math.Copysign(math.NaN(), -1), "-nan"},
	} {
		assert.Equal(t, c.want, sosFloat(c.f))
	}
}

// TestPieces holds the two ways of setting in against each other: SOS's, which
// starts each piece with the indent, and that by line.
func TestPieces(t *testing.T) {
	for exact, want := range map[bool]string{false: "    a b\n    c\n", true: "    a     b\n    c\n"} {
		var b bytes.Buffer
		p := pieces{w: &b, indent: 4, exact: exact}
		p.print("a ")
		p.print("b\n")
		p.print("c\n")
		assert.Equal(t, want, b.String())
	}
	var b bytes.Buffer
	p := pieces{w: &b}
	p.label("Name", "a\x1b[31m")
	assert.Equal(t, "Name:        a\\x1b[31m\n", b.String())
}

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
