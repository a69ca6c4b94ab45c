package layout

import (
	"compress/flate"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// tables.pack holds the tables of the folder tables, in an eighth of their size. Its lines name them. An empty
// line ends the lines:
//
//	NAME KEY DICTIONARY SIZE PACKED
//
// A stream of deflate with PACKED bytes follows for each line, in the same order. KEY is the build id or the
// time stamp in a descriptor's key. DICTIONARY is another table with the preset dictionary of the stream as its
// text: tables of one kind are nearly equal, and each is unpacked with at most one other table. A column
// without a value is "-".
//
// go generate writes the file, and TestPacked compares it with the folder.
//
//go:generate go test . -run ^TestPacked$ -update
//go:embed tables.pack
var packFile string

// A packedTable is a table in tables.pack.
type packedTable struct {
	name       string // with its folder
	key        string // the build id or time stamp of a descriptor, in lower case
	dictionary string // name of another table, or ""
	size       int    // bytes of the text
	stream     string
}

var packedTables = sync.OnceValue(func() []packedTable {
	out, err := readPack(packFile)
	if err != nil {
		panic(err) // the embedded file is broken; TestPacked reads all of it
	}
	return out
})

// readPack returns the tables of a pack in the order of their names. Their streams share its memory.
func readPack(pack string) ([]packedTable, error) {
	lines, streams, ok := strings.Cut(pack, "\n\n")
	if !ok {
		return nil, fmt.Errorf("tables.pack: its list has no end")
	}
	var out []packedTable
	for line := range strings.SplitSeq(lines, "\n") {
		f := strings.Fields(line)
		if len(f) != 5 {
			return nil, fmt.Errorf("tables.pack: the line %q", line)
		}
		size, err := strconv.ParseUint(f[3], 10, 24)
		packed, err2 := strconv.ParseUint(f[4], 10, 24)
		if err != nil || err2 != nil || packed > uint64(len(streams)) {
			return nil, fmt.Errorf("tables.pack: the line %q", line)
		}
		out = append(out, packedTable{"tables/" + f[0], column(f[1]), column(f[2]), int(size), streams[:packed]})
		streams = streams[packed:]
	}
	return out, nil
}

// column returns the value of a column, or "" for "-".
func column(s string) string { return strings.TrimPrefix(s, "-") }

// text unpacks the table.
func (t *packedTable) text() ([]byte, error) {
	var dictionary []byte
	if t.dictionary != "" {
		var err error
		if dictionary, err = tableText("tables/" + t.dictionary); err != nil {
			return nil, err
		}
	}
	out := make([]byte, t.size)
	if _, err := io.ReadFull(flate.NewReaderDict(strings.NewReader(t.stream), dictionary), out); err != nil {
		return nil, fmt.Errorf("tables.pack: %s: %w", t.name, err)
	}
	return out, nil
}

// tableText unpacks the table with a name that includes its folder. Callers cache the decoded table: see
// tableCache.
func tableText(name string) ([]byte, error) {
	for i := range packedTables() {
		if t := &packedTables()[i]; t.name == name {
			return t.text()
		}
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// tableNames returns the names, with their folder, of the tables with a prefix.
func tableNames(prefix string) []string {
	var out []string
	for i := range packedTables() {
		if name := packedTables()[i].name; strings.HasPrefix(name, "tables/"+prefix) {
			out = append(out, name)
		}
	}
	return out
}
