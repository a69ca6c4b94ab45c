package layout

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// The files of the folder tables, which the program has as tables.pack:
//
//	descriptor-VERSION-RID.json   the contract descriptor of one build, unchanged, with the build's
//	                              identity and the offsets of its globals from the module's base
//	supplementMAJOR-OS-ARCH.json  members that the descriptors of a major version lack
//	clrMAJOR-OS-ARCH.json         whole tables of runtimes without a descriptor
//	nativeaotMAJOR.json           members that the debug headers of NativeAOT processes lack, by the header's major version
//
// A table with a "base" inherits all members from that table that it does not have, so that the table of another processor
// has only the differences. Where these are sizes of locks, which lie in many structures, it is computed: see tableFile.

// A shelf caches the decoded files of tables for the process. Callers that open thousands of dumps, or a damaged dump
// that tries every table, would otherwise parse the same files each time. Cached values are never changed.
type shelf[T any] struct{ made sync.Map }

// get returns the decoded file name, decoding it at the first call.
func (s *shelf[T]) get(name string, read func(name string) (T, error)) (T, error) {
	made, ok := s.made.Load(name)
	if !ok {
		made, _ = s.made.LoadOrStore(name, sync.OnceValues(func() (T, error) { return read(name) }))
	}
	return made.(func() (T, error))()
}

var (
	partShelf  shelf[*Part]
	buildShelf shelf[*Build]
)

// A Build is a known build of a runtime, from the catalogue. It is immutable.
type Build struct {
	Version      string
	PointerRVAs  []uint64    // of the globals, from the module's base
	DacTableRVA  target.Addr // from the module's base, 0 if unknown
	DacTableSize uint64

	file *descriptorFile
	part func() (*Part, error)
}

// Source returns the source of the build's Part.
func (b *Build) Source() string { return "catalogue of builds, " + b.Version }

// Part returns the build's descriptor. It is parsed at the first call: most commands need no more of a build than its version.
func (b *Build) Part() (*Part, error) { return b.part() }

type descriptorFile struct {
	Version string `json:"version"`
	Key     struct {
		BuildID     string `json:"build_id"`
		Timestamp   string `json:"timestamp"`
		SizeOfImage string `json:"size_of_image"`
	} `json:"key"`
	Header struct {
		JSONSize uint32 `json:"json_size"`
		Pointers uint32 `json:"pointer_data_count"`
	} `json:"header"`
	PointerDataRVAs []string `json:"pointer_data_rvas"`
	DacTable        struct {
		RVA  string `json:"rva"`
		Size uint64 `json:"size"`
	} `json:"dac_table"`
	Descriptor json.RawMessage `json:"descriptor"`
}

func readDescriptorFile(name string) (*descriptorFile, error) {
	raw, err := tableText(name)
	if err != nil {
		return nil, err
	}
	var f descriptorFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("catalogue %s: %w", name, err)
	}
	return &f, nil
}

func (f *descriptorFile) is(id image.Identity) bool {
	if len(id.BuildID) > 0 {
		return strings.EqualFold(f.Key.BuildID, hex.EncodeToString(id.BuildID))
	}
	return id.SizeOfImage != 0 && number(f.Key.Timestamp) == uint64(id.TimeDateStamp) && number(f.Key.SizeOfImage) == uint64(id.SizeOfImage)
}

func number(s string) uint64 {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0
	}
	return v
}

// KnownBuild looks id up in the catalogue. It returns nil for a build that is not in it.
func KnownBuild(id image.Identity) (*Build, error) {
	key := hex.EncodeToString(id.BuildID)
	if key == "" {
		key = fmt.Sprintf("%#x", id.TimeDateStamp)
	}
	for i := range packedTables() {
		t := &packedTables()[i]
		if t.key != key { // most are other builds: don't unpack those
			continue
		}
		if b, err := buildShelf.get(t.name, readBuild); err != nil || b.file.is(id) {
			return b, err
		}
	}
	return nil, nil
}

func readBuild(name string) (*Build, error) {
	f, err := readDescriptorFile(name)
	if err != nil {
		return nil, err
	}
	b := &Build{Version: f.Version, DacTableRVA: target.Addr(number(f.DacTable.RVA)), DacTableSize: f.DacTable.Size, file: f}
	b.part = sync.OnceValues(func() (*Part, error) { return ParseDescriptor(f.Descriptor, b.Source()) })
	for _, s := range f.PointerDataRVAs {
		b.PointerRVAs = append(b.PointerRVAs, number(s))
	}
	return b, nil
}

// A Candidate is a set of parts that may fit a runtime of one major version.
type Candidate struct {
	Major string // "10.0"
	// Parts are the parts that Load loaded, in the order of precedence: a descriptor of the same major version, if
	// there is one, and the table.
	Parts []*Part
	// Lender is the processor of the table if that is not the process's ("x64"), or its system ("linux"), or both. The process must then
	// prove the table, and Adopt fits it to the process's own descriptor.
	Lender string

	table, os, arch string
	growth          int  // bytes by which locks are larger than in the table's base; 0 is the likeliest number
	otherProcessor  bool // the table is of another processor than the process
}

// part returns the table.
func (c *Candidate) part() (*Part, error) {
	if c.growth == 0 {
		return partShelf.get(c.table, readTable)
	}
	return partShelf.get(fmt.Sprintf("%s, locks %d bytes larger", c.table, c.growth), func(string) (*Part, error) {
		raw, err := tableText(c.table)
		if err != nil {
			return nil, err
		}
		return parseGrown(raw, fmt.Sprintf("%s, locks %d bytes larger", sourceOf(c.table), c.growth), c.growth, tableNamed)
	})
}

// Alternatives returns candidates of the same table with locks of other sizes, if the size on the processor is not known.
func (c *Candidate) Alternatives() []Candidate {
	p, err := c.part()
	if err != nil || c.growth != 0 || len(p.growths) < 2 {
		return nil
	}
	var out []Candidate
	for _, growth := range p.growths[1:] {
		other := *c
		other.growth, other.Parts = growth, nil
		out = append(out, other)
	}
	return out
}

// LockGrowth returns by how many bytes locks are larger than in the table's base, 0 for the likeliest number.
func (c *Candidate) LockGrowth() int { return c.growth }

// Load parses the parts. Without descriptor it parses the table alone, which is all that a runtime needs that has a
// descriptor of its own: to parse another one took a quarter of the time in which a dump is opened.
func (c *Candidate) Load(descriptor bool) error {
	p, err := c.part()
	if err != nil {
		return err
	}
	c.Parts = []*Part{p}
	if !descriptor {
		return nil
	}
	d, err := newestDescriptor(c.Major, c.os, c.arch)
	if d != nil {
		c.Parts = []*Part{d, p}
	}
	return err
}

// readTable reads a supplement or a whole table.
func readTable(name string) (*Part, error) {
	raw, err := tableText(name)
	if err != nil {
		return nil, err
	}
	return parseTable(raw, sourceOf(name), tableNamed)
}

// sourceOf returns the source of a table's Part.
func sourceOf(name string) string { return "table " + strings.TrimSuffix(path.Base(name), ".json") }

// tableNamed reads the table that another one names as its base.
func tableNamed(name string) ([]byte, error) { return tableText("tables/" + name + ".json") }

// Candidates returns the tables for an OS and architecture, newest major version first. prefer, if not empty, is a
// version or major version ("8.0.5") whose candidate comes first. None is loaded, since mostly the first one fits.
func Candidates(os target.OS, arch target.Arch, prefer string) []Candidate {
	suffix := "-" + osTag(os) + "-" + arch.String() + ".json"
	var out []Candidate
	for _, name := range tableNames("") {
		base := path.Base(name)
		if major, ok := strings.CutSuffix(base, suffix); ok && !strings.HasPrefix(base, "descriptor-") {
			out = append(out, Candidate{Major: majorOf(major), table: name, os: osTag(os), arch: arch.String()})
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		pi, pj := OfMajor(prefer, out[i].Major), OfMajor(prefer, out[j].Major)
		if pi != pj {
			return pi
		}
		return CompareVersions(out[i].Major, out[j].Major) > 0
	})
	return out
}

// majorOf returns the major that a table is named after: 8.0 of clr8, 3.1 of clr3.1.
func majorOf(name string) string {
	major := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")
	if !strings.Contains(major, ".") {
		major += ".0"
	}
	return major
}

// OfMajor reports whether a version ("8.0.5") is one of a major ("8.0").
func OfMajor(version, major string) bool {
	return version == major || strings.HasPrefix(version, major+".")
}

// newestDescriptor returns the catalogue's newest descriptor of a major. The types of all builds of a major were equal
// on every build seen; its globals belong to its own build, and are reached through the DAC table instead.
func newestDescriptor(major, os, arch string) (*Part, error) {
	best, bestVersion := "", ""
	for _, name := range tableNames("descriptor-" + major + ".") {
		v, ok := strings.CutSuffix(strings.TrimPrefix(path.Base(name), "descriptor-"), "-"+os+"-"+arch+".json")
		if ok && (best == "" || CompareVersions(v, bestVersion) > 0) {
			best, bestVersion = name, v
		}
	}
	if best == "" {
		return nil, nil
	}
	return partShelf.get(best, func(name string) (*Part, error) {
		f, err := readDescriptorFile(name)
		if err != nil {
			return nil, err
		}
		return ParseDescriptor(f.Descriptor, "descriptor of "+bestVersion+" from the catalogue")
	})
}

// LikeBuild returns the descriptor of the newest known build for a system whose text and list of pointers have the
// given sizes, or nil. Its globals are at the process's pointers.
func LikeBuild(os target.OS, arch target.Arch, size, pointers uint32) (*Part, error) {
	var best *descriptorFile
	for _, name := range tableNames("descriptor-") {
		if !strings.HasSuffix(name, "-"+osTag(os)+"-"+arch.String()+".json") {
			continue
		}
		f, err := readDescriptorFile(name)
		if err != nil {
			return nil, err
		}
		if f.Header.JSONSize == size && f.Header.Pointers == pointers && (best == nil || CompareVersions(f.Version, best.Version) > 0) {
			best = f
		}
	}
	if best == nil {
		return nil, nil
	}
	return ParseDescriptor(best.Descriptor, "descriptor of "+best.Version+" from the catalogue, which is as long as the process's")
}

func osTag(os target.OS) string {
	if os == target.OSWindows {
		return "win"
	}
	return os.String()
}

// CompareVersions compares dotted decimal versions part by part; it is negative when a is older.
func CompareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := 0, 0
		if i < len(as) {
			x, _ = strconv.Atoi(as[i])
		}
		if i < len(bs) {
			y, _ = strconv.Atoi(bs[i])
		}
		if x != y {
			return x - y
		}
	}
	return 0
}
