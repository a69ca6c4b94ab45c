package commands

import (
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// source finds f's place in the source. What has none, or whose PDB is not at
// hand, is left without: that is no fault of the dump's.
func (p *framePrinter) source(f *stackwalk.Frame, r *stackFrame) {
	if p.c.Bool("n") {
		return
	}
	line, ok := p.lines[f.IP]
	if !ok {
		line, _ = f.SourceLine()
		if p.lines == nil {
			p.lines = map[target.Addr]code.SourceLine{}
		}
		p.lines[f.IP] = line
	}
	r.File, r.Line = line.File, line.Line
}
