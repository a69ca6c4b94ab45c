package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"unicode/utf8"
)

// FuzzJSON writes documents with texts and numbers of a dump: they are JSON, and
// say what was written.
func FuzzJSON(f *testing.F) {
	f.Add("dumpobj", "a\x1b[0m\u202e\xff\"\\\n", uint64(1)<<63, 1.5)
	f.Add("", "\x00\u2028", uint64(0), math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, command, text string, n uint64, x float64) {
		var b bytes.Buffer
		e := NewJSONEncoder(&b, command)
		type row struct {
			Text  string  `json:"text"`
			Count uint64  `json:"count"`
			Share float64 `json:"share"`
		}
		_ = e.Field("name", text)
		for range 2 {
			if err := e.Item("rows", row{text, n, x}); err != nil && x == x {
				t.Fatal(err)
			}
		}
		err := e.Close([]Problem{{Text: text, Kind: "corrupt", Advice: text}}, &Problem{Text: command, Kind: "other", Exit: 2})
		if err != nil {
			if errors.Is(err, ErrJSONState) {
				t.Fatal(err)
			}
			return // a number that JSON has not
		}
		var doc struct {
			Command string
			Result  struct {
				Name string
				Rows []row
			}
		}
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %s", err, b.Bytes())
		}
		if utf8.ValidString(text) && utf8.ValidString(command) &&
			(doc.Command != command || doc.Result.Name != text || len(doc.Result.Rows) != 2 || doc.Result.Rows[1] != row{text, n, x} && x == x) {
			t.Fatalf("%q, %q, %d, %v became %s", command, text, n, x, b.Bytes())
		}
	})
}
