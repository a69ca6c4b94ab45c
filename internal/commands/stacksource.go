package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackscan"
)

// source finds f's place in the source.
func (p *framePrinter) source(f *stackscan.Frame, md *dac.MethodDesc, r *stackFrame) {
}
