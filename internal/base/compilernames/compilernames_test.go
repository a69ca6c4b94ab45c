package compilernames_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
)

// Find the async method of a state machine, and its variables.
func Example() {
	fmt.Println(compilernames.Method("Contoso.Shop+<Order>d__4"))
	fmt.Println(compilernames.Variable("<total>5__2"))
	// Output:
	// Contoso.Shop.Order
	// total local
}

// TestMethod covers the state machines of all compilers.
func TestMethod(t *testing.T) {
	for full, want := range map[string]string{
		"Ns.Type+<Method>d__4":                          "Ns.Type.Method",
		"Ns.Type+<Method>d__4<Ns.Order>":                "Ns.Type.Method<Ns.Order>",
		"Ns.Type<Ns.A+B>+<Method>d__4":                  "Ns.Type<Ns.A+B>.Method",
		"Ns.Type+<>c+<<Method>b__0_1>d":                 "Ns.Type+<>c.<Method>b__0_1",
		"Ns.Type+<<Send>g__Core|83_0>d":                 "Ns.Type.<Send>g__Core|83_0",
		"Ns.Type+<Ns-IFace-Method>d__1":                 "Ns.Type.Ns.IFace.Method",
		"Ns.Type+VB$StateMachine_2_Method":              "Ns.Type.Method",
		"Ns.Type":                                       "Ns.Type",
		"Ns.Type+<Method>c__async0":                     "Ns.Type.Method",
		"Ns.Type+Nested":                                "Ns.Type+Nested",
		"Ns.Type+<Broken":                               "Ns.Type+<Broken",
		"Ns.Type+<>d__1":                                "Ns.Type+<>d__1",
		"Program+work@12":                               "Program.work",
		"Ns.Orders+load@12-3":                           "Ns.Orders.load",
		"Ns.Orders+load@12-3<System.String>":            "Ns.Orders.load<System.String>",
		"Ns.Orders<System.A+B>+load@7":                  "Ns.Orders<System.A+B>.load",
		"Ns.Orders+clo@12-3":                            "Ns.Orders.<lambda>",
		"<StartupCode$shop>.$Program+main@20":           "Program.main",
		"<StartupCode$shop>.$Shop.Orders+main@20-1":     "Shop.Orders.main",
		"Ns.Orders+@12":                                 "Ns.Orders+@12",
		"Ns.Orders+load@":                               "Ns.Orders+load@",
		"Ns.Orders+load@12-":                            "Ns.Orders+load@12-",
		"Ns.Orders+load@line":                           "Ns.Orders+load@line",
		"Ns.Type+<Method>d__4<Ns.List<System.Int32>+X>": "Ns.Type.Method<Ns.List<System.Int32>+X>",
	} {
		assert.Equal(t, want, compilernames.Method(full), full)
	}
}

// TestVariable covers the fields of all compilers.
func TestVariable(t *testing.T) {
	for field, want := range map[string]struct {
		name string
		kind answer.AsyncVariableKind
	}{
		"<point>5__2": {"point", answer.AsyncLocal}, "text": {"text", answer.AsyncParameter}, "<>4__this": {"this", answer.AsyncThis}, "<>1__state": {}, "<>u__1": {},
		"<>7__wrap1": {}, "<>8__1": {}, "<i>5__2": {"i", answer.AsyncLocal}, "$State": {}, "$VB$ResumableLocal_x$0": {"x", answer.AsyncLocal}, "$VB$Me": {"this", answer.AsyncThis},
		"$VB$Local_y": {"y", answer.AsyncParameter}, "<broken": {}, "<own>__0": {"own", answer.AsyncLocal}, "$this": {"this", answer.AsyncThis}, "$PC": {}, "$awaiter0": {},
	} {
		name, kind := compilernames.Variable(field)
		assert.Equal(t, want.name, name, field)
		assert.Equal(t, want.kind, kind, field)
	}
}

// TestDeclaring: a local function or lambda belongs to the method in its name.
func TestDeclaring(t *testing.T) {
	for in, want := range map[string]string{
		"<Wait>g____PInvoke|24_0": "Wait", "<Main>b__3_0": "Main", "<A.I<B>.Go>g__F|1": "A.I<B>.Go", "Wait": "Wait", "<Wait>d__3": "<Wait>d__3",
		"<Wait>": "<Wait>", "<Wait>g": "<Wait>g", "<>b__1": "<>b__1", "": "", "<Main>m__2": "<Main>m__2",
	} {
		assert.Equal(t, want, compilernames.Declaring(in), in)
	}
}

func TestDefinition(t *testing.T) {
	for in, want := range map[string]string{
		"System.Collections.Generic.Dictionary<,>+Entry": "System.Collections.Generic.Dictionary`2+Entry",
		"Ns.Outer<>+Inner<,,>":                           "Ns.Outer`1+Inner`3",
		"Ns.Type":                                        "Ns.Type",
		"Ns.Type+<M>d__1":                                "Ns.Type+<M>d__1",
		"Ns.Type+<>c":                                    "Ns.Type+<>c",
		"Ns.Type+<>c__DisplayClass1<>":                   "Ns.Type+<>c__DisplayClass1`1",
	} {
		assert.Equal(t, want, compilernames.Definition(in))
	}
}

func TestGenerated(t *testing.T) {
	for name, want := range map[string]bool{
		"Ns.Type+<Method>d__4": true, "Ns.Type+<>c+<<Method>b__0_1>d<Ns.Order>": true, "Ns.Type+VB$StateMachine_2_Method": true, "Ns.Type+<Method>c__async0": true, "Module+method@12-1": true,
		"Ns.Type": false, "Ns.Type+Machine": false, "Ns.Type+Machine<Ns.Type+<Method>d__4>": false, "Ns.Machine<>": false, "": false,
	} {
		assert.Equal(t, want, compilernames.Generated(name), name)
	}
}

func TestPath(t *testing.T) {
	assert.Equal(t, []string{"_separated", "counts", "_data"}, compilernames.Path("_separated.counts._data"))
	assert.Equal(t, []string{"<Left>k__BackingField"}, compilernames.Path("<Left>"))
	assert.Equal(t, []string{"<System.Collections.ICollection.SyncRoot>k__BackingField", "x"}, compilernames.Path("<System.Collections.ICollection.SyncRoot>.x"))
	assert.Equal(t, []string{"<>1__state"}, compilernames.Path("<>1__state"))
	assert.Equal(t, []string{"<>t__builder", "m_task"}, compilernames.Path("<>t__builder.m_task"))
	assert.Equal(t, []string{"<x>5__2"}, compilernames.Path("<x>5__2"))
}

// FuzzNames: no function panics, and a name that is not generated stays unchanged.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"Ns.Type+<Method>d__4<Ns.Order>", "Ns.Type+VB$StateMachine_2_Method", "<x>5__2", "$VB$ResumableLocal_x$0", "Ns.Outer<,>+Inner<>", "<a.b>.c", "+<>>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := compilernames.Method(s); !strings.ContainsAny(s, "+") && got != s {
			t.Fatalf("the method of %q is %q", s, got)
		}
		if v, _ := compilernames.Variable(s); len(v) > max(len(s), len("this")) || compilernames.IsAwaiter(s) && len(s) < len("$A0") {
			t.Fatalf("%q is the variable %q", s, v)
		}
		compilernames.Definition(s)
		if parts := compilernames.Path(s); len(parts) > len(s) {
			t.Fatalf("%q has %d names", s, len(parts))
		}
	})
}

// TestFits: only digits may follow the @.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		field, name string
		fits        bool
	}{{"tree", "tree", true}, {"tree@455", "tree@", true}, {"contents@", "contents@", true}, {"tree@left", "tree@", false}, {"tree455", "tree", false}, {"subtree@455", "tree@", false}} {
		assert.Equal(t, c.fits, compilernames.Fits(c.field, c.name), c.field)
	}
}
