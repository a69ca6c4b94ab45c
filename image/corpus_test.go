package image_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/elfcore"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/mmapfile"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// A corpusCase is a case of the corpus with its dump opened.
type corpusCase struct {
	name     string
	dir      string
	modules  string // folder of module files, empty if the case has none
	kind     string
	runtime  string
	platform string
	target.Target
}

// eachCase runs f for every unpacked case whose name begins with prefix. It
// skips the test where there is no corpus.
func eachCase(t *testing.T, prefix string, f func(t *testing.T, c *corpusCase)) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS is not set")
	}
	manifests, err := filepath.Glob(filepath.Join(root, prefix+"*", "manifest.json"))
	require.NoError(t, err)
	for _, path := range manifests {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { f(t, openCase(t, path)) })
	}
}

func openCase(t testing.TB, manifest string) *corpusCase {
	b, err := os.ReadFile(manifest)
	require.NoError(t, err)
	var m struct{ Name, Dump, Modules, OS, Kind, Runtime string }
	require.NoError(t, json.Unmarshal(b, &m))
	c := &corpusCase{name: m.Name, dir: filepath.Dir(manifest), kind: m.Kind, runtime: m.Runtime, platform: m.OS}
	if m.Modules != "" {
		c.modules = filepath.Join(c.dir, m.Modules)
	}
	f, err := mmapfile.Open(filepath.Join(c.dir, m.Dump), false)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	if m.OS == "windows" {
		c.Target, err = minidump.Open(f)
	} else {
		c.Target, err = elfcore.Open(f)
	}
	require.NoError(t, err)
	return c
}

// oracle decodes the lines of an oracle file of the case.
func oracle[T any](t testing.TB, c *corpusCase, file string) []T {
	f, err := os.Open(filepath.Join(c.dir, "oracle", file))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	var out []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(s.Bytes(), &v))
		out = append(out, v)
	}
	require.NoError(t, s.Err())
	return out
}

// addr is a number that the oracle writes as "0x…".
type addr uint64

func (h *addr) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = addr(v)
	return err
}

type runtimeLine struct {
	Build, Module      string
	Base, Size         addr
	ContractDescriptor addr
}

type moduleLine struct {
	Name           string
	ImageBase      addr
	Size           addr
	Layout         string
	Metadata       addr
	MetadataLength int
	PDB            *struct {
		Path, GUID string
		Revision   uint32
	}
}

// runtimes are the CLRs of a case with the dump's module for each.
func runtimes(t *testing.T, c *corpusCase) []runtimeLine {
	return append(oracle[runtimeLine](t, c, "runtime.jsonl"), oracle[runtimeLine](t, c, "clr1/runtime.jsonl")...)
}

func moduleAt(c *corpusCase, base addr) *target.Module {
	list := c.Modules()
	for i := range list {
		if list[i].Base == target.Addr(base) {
			return &list[i]
		}
	}
	return nil
}

// fileOf is the module set's file of a path in the dump.
func (c *corpusCase) fileOf(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	file := filepath.Join(c.modules, parts[len(parts)-1])
	if len(parts) > 1 {
		// sxs: a folder for each runtime.
		if sub := filepath.Join(c.modules, parts[len(parts)-2], parts[len(parts)-1]); exists(sub) {
			return sub
		}
	}
	return file
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestCorpusRuntime(t *testing.T) {
	eachCase(t, "", func(t *testing.T, c *corpusCase) {
		for _, rt := range runtimes(t, c) {
			m := moduleAt(c, rt.Base)
			require.NotNil(t, m, "module at %#x", rt.Base)
			im, err := image.OpenMemory(c, m)
			require.NoError(t, err)
			if im.Kind() == image.KindELF {
				id, err := im.BuildID()
				require.NoError(t, err)
				assert.Equal(t, rt.Build, hex.EncodeToString(id))
			} else {
				assert.Equal(t, rt.Build, fmt.Sprintf("%x%x", im.TimeDateStamp(), im.SizeOfImage()))
			}
			rva, size, err := im.Symbol("g_dacTable")
			t.Logf("headers %v g_dacTable %#x %#x %v", im.HasHeaders(), rva, size, err)
			rva, size, err = im.Symbol("DotNetRuntimeContractDescriptor")
			t.Logf("descriptor %#x %#x %v, oracle %#x", uint64(im.Base())+uint64(rva), size, err, rt.ContractDescriptor)
			v, err := im.VersionString()
			t.Logf("version %s %v", v, err)
		}
	})
}

func TestCorpusManaged(t *testing.T) {
	eachCase(t, "", func(t *testing.T, c *corpusCase) {
		for _, line := range oracle[moduleLine](t, c, "modules.jsonl") {
			if line.ImageBase == 0 {
				continue
			}
			m := moduleAt(c, line.ImageBase)
			found := m != nil
			if m == nil {
				m = &target.Module{Base: target.Addr(line.ImageBase), Size: uint64(line.Size)}
			}
			im, err := image.OpenMemory(c, m)
			if err != nil {
				t.Logf("%s %v %v %v", line.Name, found, line.Layout, err)
				continue
			}
			md, err := im.Metadata()
			pdb, perr := im.PDB()
			id, merr := im.MVID()
			r2r, rerr := im.ReadyToRun()
			t.Logf("%s %v %v/%v md %#x+%#x %d oracle %#x+%#x %v gaps %v pdb %v %v mvid %x %v r2r %d.%d %d %v", line.Name, found, line.Layout, im.Layout(), uint64(im.Base())+uint64(md.RVA), len(md.Data), len(md.Data), line.Metadata, line.MetadataLength, err, len(md.Gaps), pdb.Path, perr, id, merr, r2r.Major, r2r.Minor, len(r2r.Sections), rerr)
		}
	})
}
