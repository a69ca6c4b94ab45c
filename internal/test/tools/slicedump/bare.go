package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// mostOfImage is the maximum number of bytes per image, in pages that the process wrote to, that a
// bare slice keeps although nothing reads them: they prove the image's file.
const mostOfImage = 512 << 10

// runBare makes a slice that needs the same module files as the dump: it contains no memory from
// them. It keeps the parts of the dump that the commands read, and the parts that prove the files.
func (j *job) runBare(ctx context.Context) ([]byte, error) {
	rec, err := j.record()
	if err != nil {
		return nil, err
	}
	defer rec.file.Close()
	open := func() (*sosgo.Dump, error) { return rec.open(nil) }
	want := answers(ctx, open, j.commands)
	if err := rec.noteLarge(); err != nil {
		return nil, err
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	proof := newRecorder(pageSize)
	kept := map[string]uint64{}
	for r := range d.Target().Regions() {
		if r.Kind == target.RegionImage && !strings.HasPrefix(r.Path, "/memfd:") && kept[r.Path] < mostOfImage {
			n := min(r.Stored, mostOfImage-kept[r.Path])
			kept[r.Path] += n
			proof.note(uint64(r.Start), n)
		}
	}
	h, err := d.Heap()
	if err != nil {
		return nil, err
	}
	for _, s := range h.Segments() {
		proof.note(uint64(s.Objects.Start), s.Objects.Size())
	}
	var pieces []piece
	for _, r := range rec.box.ranges() {
		for a := uint64(r.Addr); a < uint64(r.Addr)+r.Size; a = (a/pageSize + 1) * pageSize {
			n := min((a/pageSize+1)*pageSize, uint64(r.Addr)+r.Size) - a
			off := uint64(r.Offset) + a - uint64(r.Addr)
			if rec.offsets.parts.read(off, n) || rec.offsets.pages.read(off, n) || rec.addrs.parts.read(a, n) || proof.read(a, n) {
				pieces = append(pieces, piece{a, rec.raw[off : off+n]})
			}
		}
	}
	small, err := rec.box.build(pieces)
	if err != nil {
		return nil, err
	}
	again := func() (*sosgo.Dump, error) {
		return sosgo.OpenReaderAt(target.BytesSource(small), int64(len(small)), sosgo.Options{Modules: j.modules, NoLocalFiles: true})
	}
	differ := 0
	for i, got := range answers(ctx, again, j.commands) {
		if string(got) != string(want[i]) {
			differ++
			fmt.Printf("differs: %s\n%s\n", j.commands[i], firstDifference(want[i], got))
		}
	}
	if differ > 0 {
		err = fmt.Errorf("%d of %d commands print something else", differ, len(j.commands))
	}
	return small, err
}

// bareCommands returns the commands with answers that a bare slice must keep.
func bareCommands() []string {
	return []string{"eeversion", "lm", "clrmodules", "clrthreads", "eeheap -gc", "dumpheap -stat", "dumpheap -mt 1",
		"clrstack -all", "name2ee Debuggee.dll Debuggee.Program", "dumpdomain", "syncblk"}
}
