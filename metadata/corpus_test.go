package metadata

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// corpusModules lists the managed modules of the corpus and their PDBs.
func corpusModules(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, dir := range testcase.ModuleSets(t) {
		for _, pattern := range []string{"*.dll", "*.pdb"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			files = append(files, found...)
		}
	}
	require.NotEmpty(t, files)
	return files
}

// corpusModule returns the path of one module of the corpus.
func corpusModule(t testing.TB, set, name string) string {
	t.Helper()
	return filepath.Join(testcase.ModuleSet(t, set), name)
}

// A peFile is a PE image on disk, as far as metadata and IL need it. debug/pe rejects the machine types of
// precompiled modules.
type peFile struct {
	image    []byte
	sections [][]byte // headers
	cli      uint32   // RVA of the CLI header, 0 without one
}

func openPE(t testing.TB, path string) peFile {
	t.Helper()
	image, err := os.ReadFile(path)
	require.NoError(t, err)
	f := peFile{image: image}
	if string(image[:2]) != "MZ" {
		return f
	}
	le := binary.LittleEndian
	header := image[le.Uint32(image[0x3C:]):]
	directories := header[24+96:]
	if le.Uint16(header[24:]) == 0x20B { // PE32+
		directories = header[24+112:]
	}
	const cliHeader = 14
	f.cli = le.Uint32(directories[8*cliHeader:])
	sections := header[24+int(le.Uint16(header[20:])):]
	for i := range int(le.Uint16(header[6:])) {
		f.sections = append(f.sections, sections[40*i:40*i+40])
	}
	return f
}

// at returns the image from an RVA to the end of its section.
func (f peFile) at(rva uint32) []byte {
	le := binary.LittleEndian
	for _, s := range f.sections {
		if start, size := le.Uint32(s[12:]), le.Uint32(s[16:]); rva-start < size {
			raw := le.Uint32(s[20:])
			return f.image[raw+rva-start : raw+size]
		}
	}
	return nil
}

// metadata finds the metadata by the CLI header (ECMA-335 II.25.3.3). A portable PDB is all metadata. It
// returns nil for other files.
func (f peFile) metadata() []byte {
	if string(f.image[:4]) == "BSJB" {
		return f.image
	}
	if f.cli == 0 {
		return nil
	}
	cli := f.at(f.cli)
	le := binary.LittleEndian
	return f.at(le.Uint32(cli[8:]))[:le.Uint32(cli[12:])]
}

func peMetadata(t testing.TB, path string) []byte {
	t.Helper()
	return openPE(t, path).metadata()
}

func openModule(t testing.TB, path string) *Metadata {
	t.Helper()
	b := peMetadata(t, path)
	require.NotEmpty(t, b, path)
	md, err := Parse(b)
	require.NoError(t, err, path)
	return md
}

// TestCorpusModules decodes everything in every module of the corpus.
func TestCorpusModules(t *testing.T) {
	checked := 0
	for _, path := range corpusModules(t) {
		b := peMetadata(t, path)
		if b == nil {
			continue
		}
		md, err := Parse(b)
		require.NoError(t, err, path)
		if err := checkAll(md); err != nil {
			assert.NoError(t, err, path)
		}
		checked++
	}
	testcase.Compared(t, checked)
}

// checkAll decodes every name and signature and returns the first failure.
func checkAll(md *Metadata) error {
	for rid := uint32(1); rid <= md.RowCount(TableTypeDef); rid++ {
		if err := checkType(md, rid); err != nil {
			return err
		}
	}
	return checkSignatures(md)
}

func checkType(md *Metadata, rid uint32) error {
	name, err := md.TypeDefFullName(rid)
	if err != nil {
		return err
	}
	if tok, ok := md.FindTypeDef(name); !ok || tok.Row() > rid {
		return corruptf(0, "%s is not found", name)
	}
	methods, err := md.Methods(rid)
	if err != nil {
		return err
	}
	for m, err := range methods.All() {
		if err != nil {
			return err
		}
		row, err := md.MethodDef(m)
		if err != nil {
			return err
		}
		sig, err := md.Blob(row.Signature)
		if err != nil {
			return err
		}
		if _, err := ParseMethodSig(sig); err != nil {
			return err
		}
		if owner, err := md.MethodOwner(m); err != nil || owner != rid {
			return corruptf(0, "method %d is of type %d, not %d: %v", m, owner, rid, err)
		}
	}
	return nil
}

func checkSignatures(md *Metadata) error {
	for rid := uint32(1); rid <= md.RowCount(TableField); rid++ {
		row, err := md.Field(rid)
		if err != nil {
			return err
		}
		sig, err := md.Blob(row.Signature)
		if err != nil {
			return err
		}
		if _, err := ParseFieldSig(sig); err != nil {
			return err
		}
	}
	for rid := uint32(1); rid <= md.RowCount(TableTypeSpec); rid++ {
		row, err := md.TypeSpec(rid)
		if err != nil {
			return err
		}
		sig, err := md.Blob(row.Signature)
		if err != nil {
			return err
		}
		if _, err := ParseTypeSpec(sig); err != nil {
			return err
		}
	}
	for rid := uint32(1); rid <= md.RowCount(TableMemberRef); rid++ {
		if _, err := md.MemberRef(rid); err != nil {
			return err
		}
	}
	return nil
}

// inSets reports whether the slow tests read a module: modules of the newest and the oldest runtime.
func inSets(path string) bool {
	set := filepath.Base(filepath.Dir(path))
	return set == "net10-linux" || set == "net31-linux"
}

// TestCorpusBodies decodes the IL of every method, and checks that branches and
// tokens lead somewhere.
func TestCorpusBodies(t *testing.T) {
	bodies, instructions := 0, 0
	for _, path := range corpusModules(t) {
		f := openPE(t, path)
		b := f.metadata()
		if b == nil || f.cli == 0 || !inSets(path) {
			continue
		}
		md, err := Parse(b)
		require.NoError(t, err)
		for rid := uint32(1); rid <= md.RowCount(TableMethodDef); rid++ {
			row, err := md.MethodDef(rid)
			require.NoError(t, err)
			const codeTypeMask = 3 // MethodImplAttributes: 0 is IL
			if row.RVA == 0 || row.ImplFlags&codeTypeMask != 0 {
				continue
			}
			m, err := ParseMethodBody(f.at(row.RVA))
			require.NoError(t, err, "%s method %d", path, rid)
			bodies++
			instructions += checkBody(t, md, &m, path)
		}
	}
	t.Logf("%d bodies, %d instructions", bodies, instructions)
	testcase.Compared(t, bodies)
}

func checkBody(t *testing.T, md *Metadata, m *MethodBody, path string) int {
	t.Helper()
	if !m.LocalSig.IsNil() {
		row, err := md.StandAloneSig(m.LocalSig.Row())
		require.NoError(t, err)
		b, err := md.Blob(row.Signature)
		require.NoError(t, err)
		_, err = ParseLocalSig(b)
		require.NoError(t, err, path)
	}
	starts := map[int]bool{}
	var targets []int
	n := 0
	for i, err := range Instructions(m.Code) {
		require.NoError(t, err, path)
		n++
		starts[i.Offset] = true
		switch {
		case i.Kind == OperandBranch8 || i.Kind == OperandBranch32:
			targets = append(targets, i.Target())
		case i.Kind == OperandSwitch:
			targets = slices.AppendSeq(targets, i.Targets())
		case i.Kind == OperandString:
			_, err := md.UserString(i.Token())
			require.NoError(t, err, path)
		case i.Kind.IsToken():
			require.LessOrEqual(t, i.Token().Row(), md.RowCount(i.Token().Table()), path)
		}
	}
	for _, target := range targets {
		require.True(t, starts[target], path)
	}
	return n
}

// coreEnums resolves the enums of other modules by name in the core library.
type coreEnums struct{ md, core *Metadata }

func (e coreEnums) Enum(t Token) (ElementType, bool) {
	if t.Table() != TableTypeRef {
		return 0, false
	}
	name, err := e.md.TypeRefFullName(t.Row())
	if err != nil {
		return 0, false
	}
	return e.EnumByName(name)
}

func (e coreEnums) EnumByName(name string) (ElementType, bool) {
	name, _, _ = strings.Cut(name, ",")
	t, ok := e.core.FindTypeDef(name)
	if !ok {
		return 0, false
	}
	k, err := e.core.EnumType(t.Row())
	return k, err == nil
}

// TestCorpusAttributes decodes every custom attribute and constant.
func TestCorpusAttributes(t *testing.T) {
	attributes, constants, unknown := 0, 0, 0
	for _, path := range corpusModules(t) {
		b := peMetadata(t, path)
		core := filepath.Join(filepath.Dir(path), "System.Private.CoreLib.dll")
		if b == nil || filepath.Ext(path) == ".pdb" || !inSets(path) {
			continue
		}
		md, err := Parse(b)
		require.NoError(t, err)
		enums := coreEnums{md, md}
		if _, err := os.Stat(core); err == nil {
			enums.core = openModule(t, core)
		}
		for rid := uint32(1); rid <= md.RowCount(TableCustomAttribute); rid++ {
			row, err := md.CustomAttribute(rid)
			require.NoError(t, err)
			if _, err = md.AttributeValue(row, enums); errors.Is(err, target.ErrUnsupported) {
				unknown++
				continue
			}
			require.NoError(t, err, "%s attribute %d", path, rid)
			attributes++
		}
		for rid := uint32(1); rid <= md.RowCount(TableField); rid++ {
			_, ok, err := md.ConstantOf(NewToken(TableField, rid))
			require.NoError(t, err)
			if ok {
				constants++
			}
		}
	}
	t.Logf("%d attributes, %d with enums of other modules, %d constants", attributes, unknown, constants)
	testcase.Compared(t, min(attributes, constants))
}

// TestCorpusSequencePoints reads the source lines of every method in the
// corpus's own PDBs.
func TestCorpusSequencePoints(t *testing.T) {
	points := 0
	for _, path := range corpusModules(t) {
		if filepath.Ext(path) != ".pdb" {
			continue
		}
		md, err := Parse(peMetadata(t, path))
		require.NoError(t, err, path)
		require.NotNil(t, md.PDB(), path)
		for rid := uint32(1); rid <= md.RowCount(TableMethodDebugInformation); rid++ {
			for p, err := range md.SequencePoints(rid) {
				require.NoError(t, err, path)
				if p.Hidden {
					continue
				}
				points++
				require.Less(t, p.StartLine, uint32(10_000), path)
				require.LessOrEqual(t, p.StartLine, p.EndLine, path)
				name, err := md.DocumentName(p.Document.Row())
				require.NoError(t, err, path)
				require.Contains(t, name, ".cs", path)
			}
		}
	}
	t.Logf("%d sequence points", points)
	testcase.Compared(t, points)
}

func BenchmarkParseCoreLib(b *testing.B) {
	data := peMetadata(b, corpusModule(b, "net10-linux", "System.Private.CoreLib.dll"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTypeDefFullName(b *testing.B) {
	md := openModule(b, corpusModule(b, "net10-linux", "System.Private.CoreLib.dll"))
	n, rid := md.RowCount(TableTypeDef), uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		rid = rid%n + 1
		if _, err := md.TypeDefFullName(rid); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTypeIndex(b *testing.B) {
	data := peMetadata(b, corpusModule(b, "net10-linux", "System.Private.CoreLib.dll"))
	b.ReportAllocs()
	for b.Loop() {
		md, err := Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := md.FindTypeDef("System.String"); !ok {
			b.Fatal("System.String is not found")
		}
	}
}

func BenchmarkFindTypeDef(b *testing.B) {
	md := openModule(b, corpusModule(b, "net10-linux", "System.Private.CoreLib.dll"))
	md.FindTypeDef("System.String")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := md.FindTypeDef("System.Collections.Generic.Dictionary`2+Enumerator"); !ok {
			b.Fatal("not found")
		}
	}
}
