package compilernames_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/compilernames"
)

// TestCSharp checks the names in testdata/csharp.json, names of types and methods in all spellings.
func TestCSharp(t *testing.T) {
	b, err := os.ReadFile("testdata/csharp.json")
	require.NoError(t, err)
	var cases []struct{ Name, CSharp, Short string }
	require.NoError(t, json.Unmarshal(b, &cases))
	assert.Greater(t, len(cases), 40)
	for _, c := range cases {
		assert.Equal(t, c.CSharp, compilernames.CSharp(c.Name), c.Name)
		assert.Equal(t, c.Short, compilernames.CSharpShort(c.Name), c.Name)
	}
}

// TestCSharpMethod: a method's name may lack the parameter list.
func TestCSharpMethod(t *testing.T) {
	for name, want := range map[string]string{
		"Shop.Cart+<>c.<Pay>b__2_1": "Shop.Cart.Pay λ2_1", "Shop.Cart.Pay": "Shop.Cart.Pay", "Shop.Cart.Pay(Int32)": "Shop.Cart.Pay(int)",
		"Shop.Cart+Line.<Pay>g__Check|3_0": "Shop.Cart.Line.Pay.Check", "Pay": "Pay", "": "", "Shop.Cart.Pay[[": "Shop.Cart.Pay[[",
	} {
		assert.Equal(t, want, compilernames.CSharpMethod(name), name)
	}
}

// TestCSharpDeep: nested type arguments beyond the limit stay as they are.
func TestCSharpDeep(t *testing.T) {
	deep := strings.Repeat("A<", 200) + "System.Int32" + strings.Repeat(">", 200)
	assert.Contains(t, compilernames.CSharp(deep), "System.Int32")
}

// FuzzCSharp: no name makes CSharp panic or grow without bound, and the short form is never the longer one.
func FuzzCSharp(f *testing.F) {
	b, err := os.ReadFile("testdata/csharp.json")
	require.NoError(f, err)
	var cases []struct{ Name string }
	require.NoError(f, json.Unmarshal(b, &cases))
	for _, c := range cases {
		f.Add(c.Name)
	}
	f.Fuzz(func(t *testing.T, s string) {
		long, short := compilernames.CSharp(s), compilernames.CSharpShort(s)
		if len(short) > len(long) {
			t.Fatalf("%q: %q is longer than %q", s, short, long)
		}
		if most := 8*len(s) + 8000; len(long) > most {
			t.Fatalf("%q has become %d bytes", s, len(long))
		}
	})
}
