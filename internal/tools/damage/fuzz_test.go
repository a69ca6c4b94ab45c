package main

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// FuzzCommands overwrites what commands read of a dump and runs some of them. An
// input is a list of eleven bytes each: three choose a place that a command reads,
// and that command is run, eight are what is put there. Bytes that are left over
// have three workers run them too, whose answers have to be the same. The commands
// of an input share a dump, one that opens quickly: the larger ones are those of
// .ci/run damage.
func FuzzCommands(f *testing.F) {
	all, err := sources()
	if err != nil || len(all) == 0 {
		f.Skip("testdata/dumps is not here: it is a module of its own")
	}
	e := newExaminer(f, all, "net10-crash-null-triage")
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x09\x01\x02\xff\xff\xff\xff\xff\xff\xff\x7f\x50\x03\x07\x41\x41\x41\x41\x41\x41\x41\x41"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &damager{raw: e.s.raw}
		defer d.mend()
		var lines []line
		for ; len(b) >= 11 && len(lines) < 4; b = b[11:] {
			l := e.s.lines[int(b[0])%len(e.s.lines)]
			lines = append(lines, l)
			places := l.reads
			if b[1] >= 128 && len(l.at) > 0 {
				places = l.at
			}
			if len(places) > 0 {
				p := places[(int(b[1])<<8|int(b[2]))%len(places)]
				d.putWord(int(p.off)&^7, binary.LittleEndian.Uint64(b[3:]))
			}
		}
		workers := []int{1}
		if len(b) > 0 {
			workers = append(workers, 3)
		}
		var before []result
		for _, jobs := range workers {
			dump, err := sosgo.OpenReaderAt(target.BytesSource(e.s.raw), int64(len(e.s.raw)), e.s.options(jobs))
			if err != nil {
				return
			}
			for i, l := range lines {
				r := e.s.runOpen(context.Background(), dump, jobs, l.text+" "+forms[i%len(forms)])
				e.judge(l.text, jobs, &r)
				if jobs == 1 {
					before = append(before, r)
				} else if r.sum != before[i].sum || r.code != before[i].code {
					t.Errorf("%s: %s", l.text, difference(before[i].stdout+before[i].stderr, r.stdout+r.stderr))
				}
			}
		}
		for _, found := range e.tally.Findings {
			t.Error(found)
		}
	})
}
