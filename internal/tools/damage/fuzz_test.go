package main

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// FuzzCommands overwrites what commands read of a dump and runs some of them, by
// one and by three workers. An input is a list of eleven bytes each: three choose
// a place that a command reads, and that command is run, eight are what is put
// there.
func FuzzCommands(f *testing.F) {
	all, err := sources()
	if err != nil || len(all) == 0 {
		f.Skip("testdata/dumps is not here: it is a module of its own")
	}
	e := newExaminer(f, all, "net10-crash-nested")
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x09\x01\x02\xff\xff\xff\xff\xff\xff\xff\x7f\x50\x03\x07\x41\x41\x41\x41\x41\x41\x41\x41"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &damager{raw: e.s.raw}
		defer d.mend()
		var lines []line
		for ; len(b) >= 11 && len(lines) < 8; b = b[11:] {
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
		for i, l := range lines {
			var before result
			for j, jobs := range []int{1, 3} {
				dump, err := sosgo.OpenReaderAt(target.BytesSource(e.s.raw), int64(len(e.s.raw)), e.s.options(jobs))
				if err != nil {
					return
				}
				r := e.s.runOpen(context.Background(), dump, jobs, l.text+" "+forms[i%len(forms)])
				e.judge(l.text, jobs, &r)
				if j > 0 && (r.sum != before.sum || r.code != before.code) {
					t.Errorf("%s: %s", l.text, difference(before.stdout+before.stderr, r.stdout+r.stderr))
				}
				before = r
			}
		}
		for _, found := range e.tally.Findings {
			t.Error(found)
		}
	})
}
