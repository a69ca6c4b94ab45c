package metadata

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// caseModules opens the modules that a case of the corpus ran with, by file
// name.
func caseModules(t *testing.T, c *testcase.Case) map[string]*Metadata {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.Modules, "*.dll"))
	require.NoError(t, err)
	mods := map[string]*Metadata{}
	for _, f := range files {
		if b := peMetadata(t, f); b != nil {
			mods[filepath.Base(f)], err = Parse(b)
			require.NoError(t, err, f)
		}
	}
	return mods
}

// goldens iterates over the distinct submatches of a pattern in those files of a case that match a glob.
func goldens(t *testing.T, c *testcase.Case, glob string, re *regexp.Regexp) map[[2]string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.Dir, "sos", glob))
	require.NoError(t, err)
	found := map[[2]string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			if m := re.FindStringSubmatch(s.Text()); m != nil {
				found[[2]string{m[1], m[2]}] = true
			}
		}
	}
	return found
}

// withSOS returns the cases with answers of SOS.
func withSOS(c *testcase.Case) bool {
	_, err := os.Stat(filepath.Join(c.Dir, "sos"))
	return err == nil && c.HasRuntime()
}

// formatted lists the methods of the type at the start of a qualified method name, in one of the two styles.
// The name of an explicit implementation has dots of its own, so that each dot may end the type.
func formatted(t *testing.T, md *Metadata, qualified string, format func(string, *MethodSig, Resolver) string) map[string]bool {
	t.Helper()
	var typ string
	var tok Token
	for i, c := range qualified {
		if found, ok := md.FindTypeDef(qualified[:i]); ok && c == '.' {
			typ, tok = qualified[:i], found
		}
	}
	if tok.IsNil() {
		return nil
	}
	out := map[string]bool{}
	methods, err := md.Methods(tok.Row())
	require.NoError(t, err)
	for rid, err := range methods.All() {
		require.NoError(t, err)
		row, err := md.MethodDef(rid)
		require.NoError(t, err)
		name, err := md.String(row.Name)
		require.NoError(t, err)
		b, err := md.Blob(row.Signature)
		require.NoError(t, err)
		sig, err := ParseMethodSig(b)
		require.NoError(t, err)
		out[format(typ+"."+name, &sig, md.Names())] = true
	}
	return out
}

// TestGoldenMethodNames compares the names of methods that are not generic with the names in SOS.
func TestGoldenMethodNames(t *testing.T) {
	line := regexp.MustCompile(`(?:Method Name: +|(?:JIT|NONE) [0-9A-F]{16} )(([^(\[]+)\(.*\))$`)
	testcase.Corpus(t, withSOS, func(t *testing.T, c *testcase.Case) int {
		checked, missed := 0, 0
		mods := caseModules(t, c)
		for m := range goldens(t, c, "dump*m[dt]*.txt", line) {
			want, typ := m[0], m[1]
			if strings.Contains(typ, "`") {
				continue
			}
			var all []string
			ok := false
			for _, md := range mods {
				names := formatted(t, md, typ, FormatMethod)
				ok = ok || names[want]
				for n := range names {
					all = append(all, n)
				}
			}
			switch {
			case ok:
				checked++
			case len(all) == 0: // of a module that is not in the corpus
				missed++
			default:
				assert.Fail(t, "no such method", "%s not in %v", want, all)
			}
		}
		t.Logf("%d names compared, %d of types that are in no file", checked, missed)
		return checked
	})
}

// TestGoldenSignatures compares signatures with clrstack -i.
func TestGoldenSignatures(t *testing.T) {
	line := regexp.MustCompile(`(\[DEFAULT\].*) \(\S*/([^/]+\.dll)\)$`)
	name := regexp.MustCompile(` (\S+)\([^()]*\)$`)
	testcase.Corpus(t, withSOS, func(t *testing.T, c *testcase.Case) int {
		checked, missed := 0, 0
		mods := caseModules(t, c)
		for m := range goldens(t, c, "clrstack-i*.txt", line) {
			parts := name.FindStringSubmatch(m[0])
			md := mods[m[1]]
			if parts == nil || md == nil {
				missed++
				continue
			}
			names := formatted(t, md, parts[1], FormatMethodECMA)
			assert.Contains(t, names, m[0])
			checked++
		}
		t.Logf("%d signatures compared, %d without module", checked, missed)
		return checked
	})
}
