package signature

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

func ExampleParseRules() {
	_, err := ParseRules("frames 3\nskp Contoso.")
	fmt.Println(err)
	// Output: line 2 of the rules: there is no rule "skp": skip, library, strip, sentinel, module and frames are rules
}

func crashOf(methods ...string) *answer.Crash {
	c := &answer.Crash{Code: "SIGSEGV"}
	for _, m := range methods {
		c.Stack = append(c.Stack, answer.CrashFrame{Method: answer.Text{S: m}})
	}
	return c
}

// TestRules checks each kind of rule, and that custom rules have a hash.
func TestRules(t *testing.T) {
	c := crashOf("Contoso.Log.Fatal(String)", "Contoso.Log.Write(String)", "Contoso.Core.Guard.Check()", "Shop.Bill()", "Shop.Run()", "Shop.Main()")
	for text, want := range map[string]string{
		DefaultRules:                                "Contoso.Log.Fatal Contoso.Log.Write Contoso.Core.Guard.Check Shop.Bill Shop.Run",
		"frames 2":                                  "Contoso.Log.Fatal Contoso.Log.Write",
		"skip Contoso.Log. # the logger":            "Contoso.Core.Guard.Check Shop.Bill Shop.Run Shop.Main",
		"skip Contoso.*.Check":                      "Contoso.Log.Fatal Contoso.Log.Write Shop.Bill Shop.Run Shop.Main",
		"library Contoso.":                          "Shop.Bill Shop.Run Shop.Main",
		"library Contoso.\nlibrary Shop.\nframes 1": "Contoso.Log.Fatal",
		"strip Contoso.Core.\nskip Contoso.Log":     "Guard.Check Shop.Bill Shop.Run Shop.Main",
		"strip Contoso.*.\nframes 1":                "Fatal",
		"sentinel Shop.Bill":                        "Shop.Bill Shop.Run Shop.Main",
		"sentinel Nobody":                           "Contoso.Log.Fatal Contoso.Log.Write Contoso.Core.Guard.Check Shop.Bill Shop.Run",
	} {
		r, err := ParseRules(text)
		require.NoError(t, err, text)
		id := Crash(c, r)
		assert.Equal(t, want, strings.Join(id.SignatureParts[1:], " "), text)
		assert.Equal(t, text == DefaultRules, id.SignatureRules == "", text)
	}
	assert.Equal(t, Crash(c, nil), Crash(c, defaultRules()))
	r, err := ParseRules("module Game.so")
	require.NoError(t, err)
	native := &answer.Crash{Code: "SIGABRT", StacksOnly: true, Contexts: []answer.CrashContext{{Place: &answer.CodePlace{Module: "game.so", Build: "1", Offset: 1}}}}
	native.Stack = []answer.CrashFrame{{Place: &answer.CodePlace{Module: "other.so", Build: "1", Offset: 2}}}
	assert.Equal(t, "SIGABRT game.so (1)+0x1; other.so (1)+0x2", native.Code+" "+strings.Join(Crash(native, r).SignatureParts[1:], "; "))
	assert.Len(t, Crash(native, nil).SignatureParts, 2)
}

// TestBadRules checks that errors name the line, and that sizes are limited.
func TestBadRules(t *testing.T) {
	for text, want := range map[string]string{
		"\n\nskip": "line 3", "skip *": "line 1", "frames 0": "line 1", "frames 5\nframes 5": "line 2", "frames x": "line 1", "drop X": "line 1",
		strings.Repeat("x", MaxRules+1): "bytes", strings.Repeat("\n", maxRuleLines+1): "lines",
	} {
		_, err := ParseRules(text)
		require.ErrorContains(t, err, want)
	}
}

// TestRecord checks that a record converted to rows and back has the same signature.
func TestRecord(t *testing.T) {
	for _, c := range []*answer.Crash{
		crashOf("System.A.B()", "Shop.Bill()", ""), {}, {Code: "SIGABRT", Where: "libc.so+0x1"},
		{Code: "SIGSEGV", Contexts: []answer.CrashContext{{Place: &answer.CodePlace{Module: "a.so", Build: "b", Offset: 7}}}},
		{ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{{Type: answer.Text{S: "E"}, TraceError: os.ErrClosed, Frames: []answer.TraceFrame{{Function: answer.Text{S: "m!Shop.A()"}}}}}}},
		{ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{{Type: answer.Text{S: "E"}, Frames: []answer.TraceFrame{
			{Function: answer.Text{Err: os.ErrClosed}, Definition: &answer.Definition{Module: "Shop.dll", Build: "b", Token: 0x06000001}}}}}}},
	} {
		rec := RecordOf(c)
		back := Record{Sound: true}
		for _, r := range rec.Rows() {
			back.Add(r)
		}
		assert.Equal(t, rec.Sign(nil), back.Sign(nil))
		assert.Equal(t, Crash(c, nil).Identity, back.Sign(nil))
	}
}

func FuzzRules(f *testing.F) {
	f.Add(DefaultRules, "Shop.A.Throw")
	f.Add("strip a*b*\nskip *x\nsentinel q", "aab")
	f.Fuzz(func(t *testing.T, text, name string) {
		r, err := ParseRules(text)
		if err != nil {
			return
		}
		Crash(crashOf(name, "Shop."+name), r)
	})
}
