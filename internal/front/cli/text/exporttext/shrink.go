package exporttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Shrink describes what was left out.
func Shrink(p *report.Page, v *answer.Shrunk) {
	p.Printf("%s: %d bytes for a dump of %d bytes (%.1f %%)\n", report.Escape(v.File), v.Written, v.Size, 100*float64(v.Written)/float64(max(v.Size, 1)))
	for _, k := range v.Kinds {
		p.Printf("  left out %15d bytes  %s\n", k.Bytes, k.Kind)
	}
	if v.Before {
		p.Print("The dump was shrunk before: it is copied.\n")
		return
	}
	if v.LeftOut > 0 && v.Written >= v.Size {
		p.Print("The new file is no smaller: what is left out keeps its place in it and is marked. With -o FILE.zst it is compressed.\n")
	}
	p.Print("What is left out is not in the new dump for any command. It has secrets as before (see docs/shrink.md).\n")
}
