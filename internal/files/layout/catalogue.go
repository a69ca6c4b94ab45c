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

// The program contains the files of the folder tables as tables.pack:
//
//	descriptor-VERSION-RID.json   the contract descriptor of one build, unchanged, with the build's
//	                              identity and the offsets of its globals from the module's base
//	supplementMAJOR-OS-ARCH.json  members that the descriptors of a major version lack
//	clrMAJOR-OS-ARCH.json         whole tables of runtimes without a descriptor
//	nativeaotMAJOR.json           members that the debug headers of NativeAOT processes lack, by the header's major version
//
// A table with a "base" inherits the members of that table that it lacks, so that the table of another
// processor only contains the differences. If locks differ in size, offsets are computed: see tableFile.

// A tableCache caches the decoded files of tables for the life of the program. Callers that open thousands of
// dumps, or a damaged dump that tries every table, would otherwise parse the same files again. Cached values
// are never changed.
type tableCache[T any] struct{ made sync.Map }

// get returns the decoded file name. It decodes the file on the first call.
func (s *tableCache[T]) get(name string, read func(name string) (T, error)) (T, error) {
	made, ok := s.made.Load(name)
	if !ok {
		made, _ = s.made.LoadOrStore(name, sync.OnceValues(func() (T, error) { return read(name) }))
	}
	return made.(func() (T, error))()
}

var (
	partCache  tableCache[*Part]
	buildCache tableCache[*Build]
)

// A Build is a known build of a runtime, from the catalogue. It is immutable.
type Build struct {
	Version      string
	PointerRVAs  []uint64    // RVAs of the globals
	DacTableRVA  target.Addr // RVA, 0 if unknown
	DacTableSize uint64

	file *descriptorFile
	part func() (*Part, error)
}

// Source returns the source of the build's Part.
func (b *Build) Source() string { return "catalogue of builds, " + b.Version }

// Part returns the build's descriptor. It parses the descriptor on the first call: most commands only need the
// version.
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

// KnownBuild returns the build with the identity id, or nil if it is not in the catalogue.
func KnownBuild(id image.Identity) (*Build, error) {
	key := hex.EncodeToString(id.BuildID)
	if key == "" {
		key = fmt.Sprintf("%#x", id.TimeDateStamp)
	}
	for i := range packedTables() {
		t := &packedTables()[i]
		if t.key != key { // do not unpack other builds
			continue
		}
		if b, err := buildCache.get(t.name, readBuild); err != nil || b.file.is(id) {
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
	// Parts are the loaded parts in the order of precedence: a descriptor of the same major version, if any,
	// and the table.
	Parts []*Part
	// Lender is the processor ("x64") or the system ("linux") of the table, or both, if the process has
	// another. The process must then prove the table, and Adopt adapts it to the process's own descriptor.
	Lender string

	table, os, arch string
	growth          int  // bytes by which locks are larger than in the table's base; 0 for the likeliest size
	otherProcessor  bool // the table is for another processor than the process's
}

// part returns the table.
func (c *Candidate) part() (*Part, error) {
	if c.growth == 0 {
		return partCache.get(c.table, readTable)
	}
	return partCache.get(fmt.Sprintf("%s, locks %d bytes larger", c.table, c.growth), func(string) (*Part, error) {
		raw, err := tableText(c.table)
		if err != nil {
			return nil, err
		}
		return parseGrown(raw, fmt.Sprintf("%s, locks %d bytes larger", sourceOf(c.table), c.growth), c.growth, tableNamed)
	})
}

// Alternatives returns candidates with the same table and other sizes of locks, if the size on the processor is
// unknown.
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

// LockGrowth returns the number of bytes by which locks are larger than in the table's base, 0 for the
// likeliest size.
func (c *Candidate) LockGrowth() int { return c.growth }

// Load parses the parts. Without descriptor it only parses the table, which is all that a runtime with its own
// descriptor needs.
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

// sourceOf returns the Source of a table's Part.
func sourceOf(name string) string { return "table " + strings.TrimSuffix(path.Base(name), ".json") }

// tableNamed returns the text of the table with a name as in "base".
func tableNamed(name string) ([]byte, error) { return tableText("tables/" + name + ".json") }

// Candidates returns the tables for an OS and architecture, the newest major version first. prefer, if not
// empty, is a version or major version ("8.0.5"); its candidate comes first. The candidates are not loaded.
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

// majorOf returns the major version in a table's name: 8.0 of clr8, 3.1 of clr3.1.
func majorOf(name string) string {
	major := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")
	if !strings.Contains(major, ".") {
		major += ".0"
	}
	return major
}

// OfMajor reports whether a version ("8.0.5") belongs to a major version ("8.0").
func OfMajor(version, major string) bool {
	return version == major || strings.HasPrefix(version, major+".")
}

// newestDescriptor returns the catalogue's newest descriptor of a major version. All known builds of a major
// version have the same types. Its globals belong to its own build; the DAC table supplies the process's.
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
	return partCache.get(best, func(name string) (*Part, error) {
		f, err := readDescriptorFile(name)
		if err != nil {
			return nil, err
		}
		return ParseDescriptor(f.Descriptor, "descriptor of "+bestVersion+" from the catalogue")
	})
}

// LikeBuild returns the descriptor of the newest known build for a system with the given size of text and
// number of pointers, or nil. Its globals are at the process's pointers.
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

// CompareVersions compares dotted decimal versions part by part. It returns a negative number if a is older.
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
