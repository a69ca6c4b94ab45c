package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/elfcore"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands"
	"github.com/sosgo/sosgo/internal/memmap"
	"github.com/sosgo/sosgo/internal/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// A job makes the slice of one dump.
type job struct {
	dump     string
	modules  []string
	commands []string
	lean     bool
}

// A container is the dump's file as the slice must repeat it.
type container interface {
	// ranges are the stored ranges of memory.
	ranges() []memmap.Range
	// build returns the file with other memory: disjoint pieces in any order.
	build(pieces []piece) ([]byte, error)
}

// versionPrefix begins the constant with the version in ELF runtimes.
const versionPrefix = "@(#)Version "

// moreThanWanted are commands that print more over the slice: the constant with
// the version of an ELF runtime is memory there.
var moreThanWanted = []string{"modules -v", "lm -v", "modules -v -n libcoreclr.so"}

// smallRange is the size in bytes of stored ranges whose zero pages are kept,
// because how much is stored of a loader heap tells how much it uses.
const smallRange = 1 << 20

// A piece is memory that the slice holds.
type piece struct {
	addr uint64
	data []byte
}

func (p *piece) end() uint64 { return p.addr + uint64(len(p.data)) }

func (j *job) run(ctx context.Context) ([]byte, error) {
	file, err := mmapfile.Open(j.dump, false)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw := file.Bytes(0, int(file.Size()))
	box, err := openContainer(raw)
	if err != nil {
		return nil, err
	}
	offsets, addrs, files, large := newReads(), newReads(), newFileReads(), &touchedPages{}
	open := func() (*sosgo.Dump, error) {
		return sosgo.OpenReaderAt(recordingFile{memmap.Bytes(raw), offsets}, file.Size(), sosgo.Options{
			Modules: j.modules, NoLocalFiles: true, Jobs: 1,
			WrapMemory: func(m target.Memory) target.Memory { return recordingMemory{m, addrs.note, large} },
			WrapFile:   files.wrap,
		})
	}
	want := answers(ctx, open, j.commands)
	wide, err := open()
	if err != nil {
		return nil, err
	}
	defer wide.Close()
	j.walk(wide)
	if err := large.touched(func(at uint64, n int) { addrs.parts.note(at, uint64(n)) }); err != nil {
		return nil, err
	}
	keepImages(wide, addrs)
	pieces := j.choose(wide, box, offsets, addrs)
	more, err := files.pieces(wide, pieces)
	if err != nil {
		return nil, err
	}
	small, err := box.build(append(pieces, more...))
	if err != nil {
		return nil, err
	}
	return small, j.verify(ctx, small, want)
}

// verify runs the commands over the slice.
func (j *job) verify(ctx context.Context, small []byte, want [][]byte) error {
	open := func() (*sosgo.Dump, error) {
		return sosgo.OpenReaderAt(memmap.Bytes(small), int64(len(small)), sosgo.Options{NoLocalFiles: true})
	}
	differ := 0
	for i, got := range answers(ctx, open, j.commands) {
		if !bytes.Equal(got, want[i]) && !slices.Contains(moreThanWanted, j.commands[i]) {
			if differ++; differ <= 10 {
				fmt.Fprintf(os.Stderr, "differs: %s\n%s\n", j.commands[i], firstDifference(want[i], got))
			}
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d commands print something else", differ, len(j.commands))
	}
	return nil
}

func firstDifference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) {
			return fmt.Sprintf("  %d lines, want %d", len(g), len(w))
		}
		if w[i] != g[i] {
			return fmt.Sprintf("  want %s\n  got  %s", w[i], g[i])
		}
	}
	return ""
}

// answers runs command lines in one session and returns what each printed,
// warnings and errors too.
func answers(ctx context.Context, open func() (*sosgo.Dump, error), lines []string) [][]byte {
	var out bytes.Buffer
	ends := make([]int, len(lines))
	mark := cli.Command{Name: "slicedumpmark", Group: cli.GroupShell, Summary: "notes where an answer ends", Hidden: true,
		Args: []cli.Arg{{Name: "line", Kind: cli.Int, Summary: "the number of the line"}},
		Run: func(c *cli.Context) error {
			i, _ := c.Int("line")
			ends[i] = out.Len()
			return nil
		}}
	args := []string{"-d", "dump"}
	for i, line := range lines {
		args = append(args, "-c", line, "-c", mark.Name+" "+strconv.Itoa(i))
	}
	env := cli.Env{
		Commands: append(commands.All(), mark, inventory()),
		Open:     func(context.Context, string, cli.OpenOptions) (cli.Dump, error) { return open() },
	}
	cli.Main(ctx, args, strings.NewReader(""), &out, &out, env)
	parts, start := make([][]byte, len(lines)), 0
	for i, end := range ends {
		parts[i] = out.Bytes()[start:max(start, end)]
		start = max(start, end)
	}
	return parts
}

// inventory is a command that prints what the library finds.
func inventory() cli.Command {
	return cli.Command{Name: inventoryName, Group: cli.GroupShell, Summary: "prints what the library finds", Hidden: true,
		NeedsDump: true,
		Run: func(c *cli.Context) error {
			d := c.Dump().(*sosgo.Dump)
			for _, inst := range d.Runtimes() {
				c.Printf("runtime %s %v\n", inst.Version(), inst.Module.Base)
			}
			rt, err := d.Runtime()
			if err != nil {
				return err
			}
			threads, err := rt.Threads()
			for _, t := range threads {
				c.Printf("thread %v %d %#x %v\n", t.Addr, t.ManagedID, t.OSID, t.LastThrown)
			}
			c.Printf("%v\n", err)
			modules, err := rt.KnownModules()
			for _, m := range modules {
				name, nameErr := m.SimpleName()
				c.Printf("module %v %s %v\n", m.Addr, name, nameErr)
			}
			c.Printf("%v\n", err)
			h, err := d.Heap()
			if err != nil {
				return err
			}
			for o, err := range h.Objects() {
				if err != nil {
					c.Printf("%v\n", err)
					continue
				}
				name, nameErr := rt.TypeName(o.Type.Addr, dac.NameNative)
				c.Printf("%v %v %d %s %v\n", o.Addr, o.Type.Addr, o.Size, name, nameErr)
			}
			return nil
		}}
}

// walk reads what any analysis needs, whatever the commands were: identities of
// images and, unless the slice is lean, all metadata of managed modules.
func (j *job) walk(d *sosgo.Dump) {
	for _, m := range d.Target().Modules() {
		if img, err := image.OpenMemory(d.Memory(), &m); err == nil {
			// What an image does not have need not be kept.
			_, _ = img.BuildID()
			_, _ = img.CodeViews()
		}
	}
	for m := range managed(d) {
		src := m.MetadataSource()
		for a := src.Addr; !j.lean && src.Addr != 0 && uint64(a-src.Addr) < src.Size; a = (a/pageSize + 1) * pageSize {
			_, _ = d.Memory().ReadMemory(make([]byte, pageSize), a&^(pageSize-1))
		}
		if img, err := m.PEImage(); err == nil {
			_, _ = img.CodeViews()
			_, _ = img.MVID()
			_, _ = img.ReadyToRun()
		}
	}
}

// versionConstant is the string with an ELF runtime's version. It lies among
// the variables, which no file supplies, in a page that dumps often lack; but
// nothing writes to it.
func versionConstant(d *sosgo.Dump, inst *dac.Instance) (piece, bool) {
	var text target.Addr
	for a := inst.Module.Base; inst.Module.Contains(a) && text == 0; a += pageSize {
		if src := d.MemorySource(a); src != "" && src != image.SourceDump {
			text = a
		}
	}
	raw, err := os.ReadFile(d.MemorySource(text))
	if err != nil {
		return piece{}, false
	}
	img, err := image.NewBytes(raw, image.Flat)
	if err != nil {
		return piece{}, false
	}
	for _, s := range img.Sections() {
		b := raw[s.Offset : s.Offset+s.FileSize]
		for i := bytes.Index(b, []byte(versionPrefix)); i >= 0; {
			n := bytes.IndexByte(b[i:], 0)
			if c := b[i+len(versionPrefix)]; s.Prot&target.ProtWrite != 0 && c >= '0' && c <= '9' {
				return piece{uint64(inst.Module.Base) + uint64(s.RVA) + uint64(i), b[i : i+n+1]}, true
			}
			next := bytes.Index(b[i+1:], []byte(versionPrefix))
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return piece{}, false
}

// managed iterates over the modules of all runtimes.
func managed(d *sosgo.Dump) iter.Seq[*dac.Module] {
	return func(yield func(*dac.Module) bool) {
		for _, inst := range d.Runtimes() {
			rt, err := inst.Open()
			if err != nil {
				continue // a NativeAOT runtime has no modules
			}
			modules, _ := rt.KnownModules()
			for _, m := range modules {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// keepImages adds the whole pages that were read of managed images, metadata
// above all, and the first page of every image.
func keepImages(d *sosgo.Dump, addrs *reads) {
	for _, m := range d.Target().Modules() {
		addrs.parts.note(uint64(m.Base), 1)
	}
	for m := range managed(d) {
		at, err := m.Image()
		for p := uint64(at.Start) / pageSize; err == nil && p*pageSize < uint64(at.End); p++ {
			if addrs.pages.pages[p] {
				addrs.parts.pages[p] = true
			}
		}
	}
}

// choose cuts the memory of d down.
func (j *job) choose(d *sosgo.Dump, box container, offsets, addrs *reads) []piece {
	own, inStack, inUse := ownMemory(d), stackMemory(d.Target(), false), stackMemory(d.Target(), true)
	pages := maps.Clone(addrs.parts.pages)
	for _, r := range box.ranges() {
		for a := uint64(r.Addr); a < uint64(r.Addr)+r.Size; a = (a/pageSize + 1) * pageSize {
			n := min((a/pageSize+1)*pageSize, uint64(r.Addr)+r.Size) - a
			off := uint64(r.Offset) + a - uint64(r.Addr)
			searched := offsets.pages.read(off, n) || addrs.pages.read(a, n)
			if offsets.parts.read(off, n) || inUse(a) ||
				own(a) && (searched || (!j.lean || inStack(a)) && (r.Size <= smallRange || !zero(d, a, n))) {
				pages[a/pageSize] = true
			}
		}
	}
	var pieces []piece
	for _, p := range slices.Sorted(maps.Keys(pages)) {
		pieces = appendPage(pieces, d, p*pageSize)
	}
	for _, inst := range d.Runtimes() {
		if p, ok := versionConstant(d, inst); ok && !target.Available(d.Target(), target.Addr(p.addr), 1) {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// ownMemory tells which addresses are the process's own: not those of files,
// but the variables of the runtimes, and files without a name, through which
// runtimes map code twice.
func ownMemory(d *sosgo.Dump) func(a uint64) bool {
	var regions []target.Region
	for r := range d.Target().Regions() {
		file := r.Kind == "image" || r.Path != "" && !strings.HasPrefix(r.Path, "/memfd:")
		if file && !isVariables(d, r) {
			regions = append(regions, r)
		}
	}
	return func(a uint64) bool {
		_, found := slices.BinarySearchFunc(regions, a, func(r target.Region, a uint64) int {
			switch {
			case uint64(r.Start) > a:
				return 1
			case a-uint64(r.Start) >= r.Size:
				return -1
			}
			return 0
		})
		return !found
	}
}

// stackMemory tells which addresses are those of stacks: of the region that a
// thread's stack pointer points to, or of the part in use. Stacks are scanned
// without a record.
func stackMemory(t target.Target, inUse bool) func(a uint64) bool {
	var stacks []target.Range
	for _, th := range t.Threads() {
		sp, ok := th.Registers.SP()
		for r := range t.Regions() {
			if at := uint64(sp - r.Start); !ok || at >= r.Size {
				continue
			}
			if stack := (target.Range{Start: r.Start, End: r.Start + target.Addr(r.Size)}); inUse {
				stacks = append(stacks, target.Range{Start: sp &^ (pageSize - 1), End: stack.End})
			} else {
				stacks = append(stacks, stack)
			}
		}
	}
	return func(a uint64) bool {
		return slices.ContainsFunc(stacks, func(r target.Range) bool { return r.Contains(target.Addr(a)) })
	}
}

// isVariables reports whether r is a writable part of a runtime. A page that is
// executable too is one that the loader had not copied for writing.
func isVariables(d *sosgo.Dump, r target.Region) bool {
	if r.Prot&(target.ProtWrite|target.ProtExec) != target.ProtWrite {
		return false
	}
	return slices.ContainsFunc(d.Runtimes(), func(inst *dac.Instance) bool { return inst.Module.Contains(r.Start) })
}

func zero(d *sosgo.Dump, a, n uint64) bool {
	b, err := target.Bytes(d.Target(), target.Addr(a), int(n))
	return err == nil && len(bytes.Trim(b, "\x00")) == 0
}

// appendPage adds what can be read of the page at a: the dump's bytes, and
// those of module files.
func appendPage(pieces []piece, d *sosgo.Dump, a uint64) []piece {
	for at, end := a, a+pageSize; at < end; {
		b := make([]byte, end-at)
		n, _ := d.Memory().ReadMemory(b, target.Addr(at))
		if last := len(pieces) - 1; n > 0 && last >= 0 && pieces[last].end() == at {
			pieces[last].data = append(pieces[last].data, b[:n]...)
		} else if n > 0 {
			pieces = append(pieces, piece{at, b[:n]})
		}
		// Parts of files begin anywhere in a page.
		at = max(at+uint64(n), at+1)
	}
	return pieces
}

func openContainer(raw []byte) (container, error) {
	if elfcore.Sniff(raw) {
		return openELF(raw)
	}
	return openMinidump(raw)
}

func compress(b []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(64<<20),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	return enc.EncodeAll(b, nil), nil
}
