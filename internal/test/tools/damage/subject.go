package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// A container is the kind of file that is damaged.
type container string

const (
	elfDump    container = "ELF core"
	miniDump   container = "minidump"
	compressed container = "compressed dump"
	packed     container = "pack"
	report     container = "crash report"
	stacksOnly container = "minidump with stacks alone"
	moduleFile container = "module file"
	pdbFile    container = "PDB"
)

// A subject is a dump in memory, or a file next to one, that is damaged and then examined.
type subject struct {
	name string
	kind container

	raw     []byte   // the bytes to damage: the dump, or one file of files
	dump    []byte   // the bytes to open: raw, unless another file is damaged
	modules string   // the folder with module files, or empty
	files   []string // module files that are damaged in turn
	tar     bool     // raw is the archive in the pack, which is compressed again

	pools pools
	lines []line // to run on it, in the order of the commands
	heads []int64

	opening []place // read before any line
}

// A source describes a subject before it is read, so that all can be listed.
type source struct {
	name string
	kind container
	c    *testcase.Case // nil for a single file
	tar  bool
	read func() ([]byte, error) // reads the file if c is nil
}

// smallDump is the maximum size in bytes of an unpacked dump of the corpus to be damaged in memory.
const smallDump = 20 << 20

// sources lists the sources in a fixed order: the canned dumps and, with a corpus, its small dumps
// with their module files.
func sources() ([]source, error) {
	var out []source
	cases, err := testcase.CannedCases()
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		out = append(out, source{name: c.Name, kind: containerOf(c), c: c})
	}
	for _, c := range cases {
		if slices.Contains([]string{"net10-crash-null-triage", "win-net10-zoo-triage"}, c.Name) {
			out = append(out, source{name: c.Name + ".zst", kind: compressed, c: c})
		}
	}
	files, err := lone()
	if err != nil {
		return nil, err
	}
	out = append(out, files...)
	corpus, err := testcase.CorpusCases()
	if err != nil {
		return nil, err
	}
	for _, c := range corpus {
		m := &c.Manifest
		if c.Modules == "" || m.Kind != "normal" && m.Kind != "triage" {
			continue
		}
		out = append(out, source{name: "corpus/" + c.Name, kind: containerOf(c), c: c})
		if strings.Contains(c.Name, "zoo-normal") || strings.Contains(c.Name, "net8-stacks-triage") {
			out = append(out, source{name: c.Name + " modules", kind: moduleFile, c: c}, source{name: c.Name + " PDBs", kind: pdbFile, c: c})
		}
		if strings.Contains(c.Name, "zoo-triage") {
			out = append(out, source{name: c.Name + " pack", kind: packed, c: c}, source{name: c.Name + " archive", kind: packed, c: c, tar: true})
		}
	}
	return out, nil
}

// lone lists the files that are not cases: a crash report and, with dumps of other projects, a
// minidump with only stacks.
func lone() ([]source, error) {
	root, err := testcase.ModuleRoot()
	if err != nil {
		return nil, err
	}
	name := filepath.Join(root, "internal", "dump", "crashreport", "testdata", "net8-x64.crashreport.json")
	out := []source{{name: "crash report", kind: report, read: func() ([]byte, error) { return os.ReadFile(name) }}}
	const foreign = "game-server__1.dmp"
	if _, err := testcase.ForeignFile(foreign); err == nil {
		out = append(out, source{name: "stacks alone", kind: stacksOnly, read: func() ([]byte, error) { return testcase.ReadForeign(foreign) }})
	}
	return out, nil
}

func containerOf(c *testcase.Case) container {
	if c.Manifest.OS == "windows" {
		return miniDump
	}
	return elfDump
}

// load reads a subject, collects values for its lines, and records what they read. tmp is a folder
// for files; it should be in memory.
func (s *source) load(tmp string, e *examiner) (*subject, error) {
	if s.c != nil {
		if err := s.c.Unpack(); err != nil {
			return nil, err
		}
		s.read = s.c.Raw
	}
	raw, err := s.read()
	if err != nil {
		return nil, err
	}
	if len(raw) > smallDump {
		return nil, fmt.Errorf("%s: %d bytes are too many", s.name, len(raw))
	}
	out := &subject{name: s.name, kind: s.kind, raw: raw, dump: raw, tar: s.tar}
	if s.c != nil && s.c.Modules != "" {
		if out.modules, err = copyModules(s.c.Modules, tmp); err != nil {
			return nil, err
		}
	}
	if err := out.learn(e); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	switch s.kind {
	case compressed:
		out.raw, err = os.ReadFile(s.c.Path)
		out.dump = nil
	case packed:
		err = out.pack(s.tar)
	case moduleFile:
		out.files, err = filesOf(out.modules, ".dll", ".so")
	case pdbFile:
		out.files, err = filesOf(out.modules, ".pdb")
	}
	return out, err
}

// copyModules copies a folder of module files, which are damaged in place.
func copyModules(from, tmp string) (string, error) {
	to := filepath.Join(tmp, filepath.Base(from))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	return to, os.CopyFS(to, os.DirFS(from))
}

// filesOf returns the files of a folder with one of these extensions. Large files, which are read
// most, are listed several times.
func filesOf(dir string, ext ...string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list {
		if !slices.Contains(ext, filepath.Ext(e.Name())) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		out = append(out, path)
		for _, often := range []string{"Debuggee.dll", "System.Private.CoreLib.dll", "coreclr.dll", "libcoreclr.so"} {
			if e.Name() == often {
				out = append(out, path, path, path)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no %v", dir, ext)
	}
	return out, nil
}

// pack changes the subject to a pack of its dump and a few module files or, with tar, to the
// archive in the pack.
func (s *subject) pack(tar bool) error {
	few, err := os.MkdirTemp(filepath.Dir(s.modules), "few")
	if err != nil {
		return err
	}
	for _, name := range []string{"Debuggee.dll", "Debuggee.pdb", "System.Console.dll", "System.Memory.dll"} {
		b, err := os.ReadFile(filepath.Join(s.modules, name))
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(few, name), b, 0o600); err != nil {
			return err
		}
	}
	d, err := sosgo.OpenReaderAt(target.BytesSource(s.dump), int64(len(s.dump)), sosgo.Options{NoLocalFiles: true, Modules: []string{few}})
	if err != nil {
		return err
	}
	defer d.Close()
	var b bytes.Buffer
	if _, err := d.Pack(context.Background(), &b, nil); err != nil {
		return err
	}
	s.raw, s.dump, s.modules = b.Bytes(), nil, ""
	if !tar {
		return nil
	}
	dec, err := zstd.NewReader(&b)
	if err != nil {
		return err
	}
	defer dec.Close()
	s.raw, err = io.ReadAll(dec)
	return err
}

// openable returns the bytes to open for the damaged file raw: a damaged archive is compressed
// again.
func (s *subject) openable(raw []byte) ([]byte, error) {
	switch {
	case s.dump != nil && len(s.files) > 0:
		return s.dump, nil
	case s.tar:
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer enc.Close()
		return enc.EncodeAll(raw, nil), nil
	}
	return raw, nil
}

// options returns the options to open the subject with jobs workers.
func (s *subject) options(jobs int) sosgo.Options {
	o := sosgo.Options{NoLocalFiles: true, Jobs: jobs}
	if s.modules != "" {
		o.Modules = []string{s.modules}
	}
	return o
}

// alone reports whether the dump must be opened again for each command, because it keeps files
// open.
func (s *subject) alone() bool { return s.modules != "" || s.dump == nil }
