// Package plants has what the programs of dumps with secrets printed about them, and finds the secrets in outputs.
package plants

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// A Plant is a secret, or another text.
type Plant struct {
	Kind  string // of a short secret the name beside it
	Value string
}

// A Truth is what a program printed about its secrets.
type Truth struct {
	Dump   string  // file
	Plants []Plant // in no output
	Beside []Plant // too short to be masked everywhere: in no line of an output that has the name
	Stay   []string

	forms []form
}

// A form is a spelling of a secret.
type form struct {
	plant  Plant
	text   string
	folded bool // in any case
}

// Read returns the truth of the dump testdata/dumps/secrets/NAME, and skips the test if it is not there. root is the folder of the module.
func Read(t testing.TB, root, name string) *Truth {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(root, "testdata/dumps/secrets", name))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "facts.txt"))
	if err != nil {
		t.Skip("no canned dump")
	}
	p := &Truth{Dump: filepath.Join(folder, name+".dmp.zst")}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		kind, value, _ := strings.Cut(rest, " ")
		switch word {
		case "PLANT":
			for _, line := range strings.Split(value, `\n`) {
				p.Plants = append(p.Plants, Plant{kind, line})
			}
		case "BESIDE":
			p.Beside = append(p.Beside, Plant{kind, value})
		case "STAY", "LOOK":
			p.Stay = append(p.Stay, rest)
		}
	}
	for _, s := range p.Plants {
		for i, text := range spellings(s.Value) {
			p.forms = append(p.forms, form{s, text, i == 0})
		}
	}
	return p
}

// pieces are how many characters or bytes of a secret in a row count as shown.
const pieces = 6

// spellings returns the value in lower case, and the beginnings of other spellings of it: in base64, of UTF-8 and of UTF-16, behind nothing, one and two other bytes, as hexadecimal
// digits, one character or byte after the other, and its hash, which confirms a guess. In URLs and in JSON each of its characters is escaped by itself.
func spellings(value string) []string {
	out := []string{strings.ToLower(value)}
	units := utf16text.Units(value)
	wide := make([]byte, 0, 2*len(units))
	for _, u := range units {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for _, b := range [][]byte{[]byte(value), wide} {
		for skip := range 3 {
			text := base64.RawStdEncoding.EncodeToString(append(make([]byte, skip), b...))
			out = append(out, text[(8*skip+5)/6:len(text)-1])
		}
		out = append(out, hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)))
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(value))
	out = append(out, strconv.FormatUint(hash.Sum64(), 10))
	var chars, bytes []string
	for _, c := range []byte(value[:min(len(value), pieces)]) {
		chars, bytes = append(chars, fmt.Sprintf("'%c'", c)), append(bytes, fmt.Sprint(c))
	}
	return append(out, strings.Join(chars, ", "), strings.Join(bytes, ", "))
}

// Shown returns the secrets that an output has.
func (p *Truth) Shown(out string) (shown []Plant) {
	folded := strings.ToLower(out)
	for _, f := range p.forms {
		if f.folded && strings.Contains(folded, f.text) || !f.folded && strings.Contains(out, f.text) {
			if !slices.Contains(shown, f.plant) {
				shown = append(shown, f.plant)
			}
		}
	}
	for _, s := range p.Beside {
		if !strings.Contains(out, s.Value) {
			continue
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, s.Value) && strings.Contains(line, s.Kind) {
				shown = append(shown, s)
				break
			}
		}
	}
	return shown
}
