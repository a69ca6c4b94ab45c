package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// FuzzCommands overwrites what a command reads of a dump and runs it. The first two bytes of an
// input select a line; each ten bytes after them are a place that it reads of an undamaged dump,
// and its new content. If bytes are left over, three workers run the line too and must give the
// same answer. The dump is one that opens quickly, because each input opens it, or the one of -list
// that SOSGO_FUZZ_SUBJECT names; inputs have another meaning there.
func FuzzCommands(f *testing.F) {
	all, err := sources()
	if err != nil || len(all) == 0 {
		f.Skip("testdata/dumps is not here: it is a module of its own")
	}
	e := newExaminer(f, all, cmp.Or(os.Getenv("SOSGO_FUZZ_SUBJECT"), "net10-crash-null-triage"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x09\x01\x02\xff\xff\xff\xff\xff\xff\xff\x7f\x83\x07\x41\x41\x41\x41\x41\x41\x41\x41"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 {
			return
		}
		n := int(binary.BigEndian.Uint16(b))
		l := &e.s.lines[n%len(e.s.lines)]
		text := l.text + " " + forms[n/len(e.s.lines)%len(forms)]
		e.tally = newTally() // without findings of earlier inputs
		d := &damager{raw: e.s.raw}
		defer d.mend()
		for b = b[2:]; len(b) >= 10; b = b[10:] {
			places := l.reads
			if b[0] >= 128 && len(l.at) > 0 {
				places = l.at
			}
			if len(places) > 0 {
				p := places[int(binary.BigEndian.Uint16(b)&0x7fff)%len(places)]
				d.putWord(int(p.off)&^7, binary.LittleEndian.Uint64(b[2:]))
			}
		}
		workers := []int{1}
		if len(b) > 0 {
			workers = append(workers, 3)
		}
		var one result
		for _, jobs := range workers {
			dump, err := sosgo.OpenReaderAt(target.BytesSource(e.s.raw), int64(len(e.s.raw)), e.s.options(jobs))
			if err != nil {
				return
			}
			r := e.s.runOpen(context.Background(), dump, jobs, text)
			e.judge(text, jobs, &r)
			if jobs == 1 {
				one = r
			} else if r.sum != one.sum || r.code != one.code {
				t.Errorf("%s: %s", text, difference(one.stdout+one.stderr, r.stdout+r.stderr))
			}
		}
		for _, found := range e.tally.Findings {
			t.Error(found)
		}
	})
}
