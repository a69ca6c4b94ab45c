package compilernames_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

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

// hostile returns names that damage or malice may leave in a dump, of n bytes or a few more.
func hostile(n int) []string {
	var out []string
	for _, part := range []string{"&", " ByRef", ".", "+", "A+", "A.", "A`1+", "[]", "*", ",", "A<B>", "A[["} {
		out = append(out, "A"+strings.Repeat(part, n/len(part)+1), strings.Repeat(part, n/len(part)+1))
	}
	half := n / 2
	return append(out, strings.Repeat("<", half)+strings.Repeat(">", half), strings.Repeat("(", half)+strings.Repeat(")", half),
		"A("+strings.Repeat("B&,", n/3)+")", "A`1[["+strings.Repeat("B+", half)+"C]]")
}

// TestCSharpHostile: a name that is too long comes back unchanged and at once, one that is almost too long soon.
func TestCSharpHostile(t *testing.T) {
	for _, name := range hostile(1 << 20) {
		for _, f := range []func(string) string{compilernames.CSharp, compilernames.CSharpShort, compilernames.CSharpMethod} {
			require.Equal(t, len(name), len(f(name)), name[:16])
		}
	}
	start := time.Now()
	for _, name := range hostile(16<<10 - 64) {
		for _, f := range []func(string) string{compilernames.CSharp, compilernames.CSharpShort, compilernames.CSharpMethod} {
			require.LessOrEqual(t, len(f(name)), 8*len(name)+8000, name[:16])
		}
	}
	assert.Less(t, time.Since(start), 5*time.Second)
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
	for _, name := range hostile(1 << 10) {
		f.Add(name)
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
