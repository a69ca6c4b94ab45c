package objects

import (
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A jsonNode is an element of a document. It holds either the parsed value or the unparsed text.
type jsonNode struct {
	_        Shape    `of:"System.Text.Json.Nodes.JsonArray|System.Text.Json.Nodes.JsonObject"`
	Base     RefField `field:"_list|_dictionary"`
	Document RefField `field:"_jsonElement.value._parent,optional"`
	Index    IntField `field:"_jsonElement.value._idx,optional"`
}

// A jsonProperties has the properties of a JsonObject in order, up to .NET 8.
type jsonProperties struct {
	_    Shape    `of:"System.Text.Json.JsonPropertyDictionary<>"`
	List RefField `field:"_propertyList"`
}

func (r *Collections) jsonProperties(s *jsonProperties, f *reading) content {
	return r.pairs(r.wrap(f.object(&s.List)))
}

// A jsonDocument has the text of its elements and a table of rows (.NET Core 3.0 to .NET 10). A row has three words:
// the start of a token, its length, and the number of rows to the token's end (lowest 28 bits) with its kind (highest 4
// bits). A string's text has no quotes.
type jsonDocument struct {
	_      Shape       `of:"System.Text.Json.JsonDocument"`
	Text   StructField `field:"_utf8Json"`
	Rows   RefField    `field:"_parsedData._data"`
	Length IntField    `field:"_parsedData.<Length>"`
}

// jsonRoot returns the text of a whole document.
func (r *Collections) jsonRoot(_ *jsonDocument, f *reading) content {
	return content{count: unknown, text: func() (string, error) {
		o, err := r.b.Objects().TrustedObject(f.x.Object())
		if err != nil {
			return "", err
		}
		return r.jsonText(o, 0)
	}}
}

const jsonRow = 12 // bytes of a row

// Kinds of tokens (JsonTokenType).
const (
	jsonStartObject = 1
	jsonEndObject   = 2
	jsonStartArray  = 3
	jsonEndArray    = 4
	jsonString      = 7 // followed by number, true, false and null
	jsonNull        = 11
)

func (r *Collections) jsonNode(s *jsonNode, f *reading) content {
	o := f.object(&s.Base)
	switch {
	case o.Addr != 0:
		return r.wrap(o)
	case !s.Document.Has() || !s.Index.Has():
		return failed(target.Unsupportedf("the JSON has not been parsed yet"))
	}
	document, index := f.object(&s.Document), f.int(&s.Index)
	if document.Addr == 0 { // created empty
		return content{each: yieldNothing}
	}
	return content{count: unknown, text: func() (string, error) { return r.jsonText(document, index) }}
}

// jsonText returns the text of an element of a document. index is the offset of its row in bytes.
func (r *Collections) jsonText(document Object, index int64) (string, error) {
	s, x, err := BindObject[*jsonDocument](r.b, document)
	if err != nil {
		return "", err
	}
	f := reading{x: x}
	rows, length := f.object(&s.Rows), f.int(&s.Length)
	m, err := Bind[*memory](r.b, s.Text.Type())
	if f.note(err); f.err != nil {
		return "", f.err
	}
	f.x = s.Text.At(x)
	text, from, size := f.object(&m.Object), f.int(&m.Index)&^pinned, f.int(&m.Length)
	if f.err != nil {
		return "", f.err
	}
	if rows.Addr == 0 || text.Addr == 0 {
		return "", target.Unsupportedf("the document was disposed")
	}
	table, err := r.array(rows)
	if err != nil {
		return "", err
	}
	row := func(index int64, kinds ...int64) (start, n, lines, kind int64, err error) {
		if index < 0 || index%jsonRow != 0 || index+jsonRow > min(length, int64(table.len)) {
			return 0, 0, 0, 0, target.CorruptHeapf("row at %d of a JsonDocument that has %d bytes of rows", index, length)
		}
		var words [3]int64
		for i := range words {
			w, err := target.Uint32(table.memory, table.addr(uint32(index))+target.Addr(4*i))
			if err != nil {
				return 0, 0, 0, 0, err
			}
			words[i] = int64(w)
		}
		if !slices.Contains(kinds, words[2]>>28) {
			return 0, 0, 0, 0, target.CorruptHeapf("row at %d of a JsonDocument is of kind %d", index, words[2]>>28)
		}
		return words[0], words[1] &^ (1 << 31), words[2] & (1<<28 - 1), words[2] >> 28, nil
	}
	start, n, lines, kind, err := row(index, jsonStartObject, jsonStartArray, jsonString, jsonString+1, jsonString+2, jsonString+3, jsonNull)
	if err != nil {
		return "", err
	}
	last := start
	if kind < jsonString { // an object or array has a row for its end
		if last, n, _, _, err = row(index+jsonRow*lines, jsonEndObject, jsonEndArray); err != nil {
			return "", err
		}
	}
	chars, err := r.array(text)
	if err != nil {
		return "", err
	}
	if start > last || last+n > size || from < 0 || from+last+n > int64(chars.len) {
		return "", target.CorruptHeapf("the text of a JSON element from %d to %d, of %d bytes", start, last+n, size)
	}
	b, err := target.Bytes(chars.memory, chars.addr(uint32(from+start)), int(last+n-start))
	return string(b), err
}
