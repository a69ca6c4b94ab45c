package metadata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusModules lists the managed modules of the corpus. The test is skipped
// when the corpus is not there.
func corpusModules(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS is not set")
	}
	files, err := filepath.Glob(filepath.Join(root, "modules", "*", "*.dll"))
	require.NoError(t, err)
	pdbs, err := filepath.Glob(filepath.Join(root, "modules", "*", "*.pdb"))
	require.NoError(t, err)
	files = append(files, pdbs...)
	if len(files) == 0 {
		t.Skip("no modules in SOSGO_CORPUS")
	}
	return files
}

// corpusModule is the path of one module of the corpus.
func corpusModule(t testing.TB, set, name string) string {
	t.Helper()
	corpusModules(t)
	path := filepath.Join(os.Getenv("SOSGO_CORPUS"), "modules", set, name)
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return path
}

// peMetadata finds the metadata of a PE file, by the CLI header (ECMA-335
// II.25.3.3). It is nil when the file has none. debug/pe is no help: it rejects
// the machine types of precompiled modules.
func peMetadata(t testing.TB, path string) []byte {
	t.Helper()
	image, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(image[:4]) == "BSJB" { // a portable PDB
		return image
	}
	if string(image[:2]) != "MZ" {
		return nil
	}
	le := binary.LittleEndian
	header := image[le.Uint32(image[0x3C:]):]
	directories := header[24+96:]
	if le.Uint16(header[24:]) == 0x20B { // PE32+
		directories = header[24+112:]
	}
	const cliHeader = 14
	rva := le.Uint32(directories[8*cliHeader:])
	if rva == 0 {
		return nil
	}
	sections := header[24+int(le.Uint16(header[20:])):]
	at := func(rva uint32) []byte {
		for i := range int(le.Uint16(header[6:])) {
			s := sections[40*i:]
			if start := le.Uint32(s[12:]); rva-start < le.Uint32(s[16:]) {
				return image[le.Uint32(s[20:])+rva-start:]
			}
		}
		return nil
	}
	cli := at(rva)
	return at(le.Uint32(cli[8:]))[:le.Uint32(cli[12:])]
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
	}
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
