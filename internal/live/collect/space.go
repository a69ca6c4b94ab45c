package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/live/processes"
	"github.com/sosgo/sosgo/internal/words"
)

// Parts of the estimate: what createdump writes of each thread's stack, for a dump without a heap; of modules, in which it
// reads metadata and code (8 to 21 MB for 110 to 150 modules); and for each dump its headers, which took 1.9 MB of 1.3 GB.
const (
	perThread = 64 << 10
	perDump   = 32 << 20
	headers   = 1 << 20
)

// estimate returns the most bytes that a dump should have, or 0 if that is not known. createdump writes the writable
// mappings, which contain the GC's heap, with parts of modules, and for the kind full all that can be read.
func estimate(kind answer.DumpKind, m *processes.Mapped, threads int) uint64 {
	if m == nil {
		return 0
	}
	bytes := min(m.Writable, perDump+perThread*uint64(threads))
	switch kind {
	case answer.DumpFull:
		bytes = m.Readable
	case answer.DumpHeap:
		bytes = m.Writable + min(m.Readable-m.Writable, perDump)
	}
	return bytes + bytes/128 + headers
}

// choose chooses the folder in which the runtime writes: the folder of the dump if the process can reach it and write
// to it, else its folder for temporary files.
func (j *job) choose(ctx context.Context) error {
	out := filepath.Dir(j.o.Out)
	var tried []string
	for _, dir := range j.folders(ctx, out) {
		st, err := j.view.Stat(dir)
		switch {
		case err != nil:
			tried = append(tried, fmt.Sprintf("%s: %v", dir, cause(err)))
			continue
		case !st.IsDir():
			tried = append(tried, dir+": it is not a folder")
			continue
		case !j.p.MayWrite(st):
			tried = append(tried, dir+": the process may not write there")
			continue
		}
		if _, readOnly, err := j.view.Space(dir); err == nil && readOnly {
			tried = append(tried, dir+": the file system is read-only")
			continue
		}
		j.dir = dir
		if ours, err := os.Stat(out); err == nil && !j.o.Leave {
			j.direct = os.SameFile(ours, st)
		}
		return nil
	}
	err := &processes.Refusal{Text: fmt.Sprintf("process %d has no folder for the dump", j.p.PID),
		Next: "-in DIR names a folder that the process can write to, such as a volume of its container"}
	for _, t := range tried {
		err.Text += "; " + t
	}
	return err
}

// folders returns the folders that are suitable, as paths of the process, in order.
func (j *job) folders(ctx context.Context, out string) []string {
	switch {
	case j.o.In != "":
		return []string{j.o.In}
	case j.o.Leave:
		return j.p.Temp(ctx)
	}
	ours, err := os.Stat(out)
	theirs, inside := j.view.Stat(out)
	if err == nil && inside == nil && os.SameFile(ours, theirs) {
		return append([]string{out}, j.p.Temp(ctx)...)
	}
	return j.p.Temp(ctx)
}

// cause returns the error below a path error.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// fits reports a dump that probably does not fit.
func (j *job) fits() error {
	need := j.answer.Estimate
	if j.o.Force || need == 0 || j.dir == "" {
		return nil
	}
	if most, ok := j.p.FileLimit(); ok && most < need {
		return &processes.Refusal{Text: fmt.Sprintf("the process may write files of at most %s (RLIMIT_FSIZE), and the dump may take %s", words.Size(most), words.Size(need)),
			Next: "-type mini is smaller; -force tries it"}
	}
	err := j.room(j.view, j.dir, need)
	if err == nil && !j.direct && !j.o.Leave {
		err = j.room(&processes.View{Same: true}, filepath.Dir(j.o.Out), need)
	}
	return err
}

// room reports a folder that probably has too little free space.
func (j *job) room(v *processes.View, dir string, need uint64) error {
	free, _, err := v.Space(dir)
	if err != nil || free >= need {
		return nil // if it is not known, the runtime finds out
	}
	return &processes.Refusal{Text: fmt.Sprintf("%s has %s free, and the dump may take %s", v.Path(dir), words.Size(free), words.Size(need)),
		Next: "-o FILE and -in DIR name other folders, -type mini is smaller, -force tries it"}
}

// A dump may be somewhat larger than its estimate, as the process may grow meanwhile.
const (
	mostTimes = 2
	mostMore  = 1 << 30
)

// fitsCopy reports a file of the runtime that is too large to be copied: it does not fit, or it is no dump of that process.
func (j *job) fitsCopy(size uint64) error {
	if most := mostTimes*j.answer.Estimate + mostMore; j.answer.Estimate > 0 && size > most && !j.o.Force {
		return &processes.Refusal{Text: fmt.Sprintf("the runtime's file has %s, and a dump of this process has about %s", words.Size(size), words.Size(j.answer.Estimate)),
			Next: otherFolder + "; -force copies it"}
	}
	return j.room(&processes.View{Same: true}, filepath.Dir(j.o.Out), size)
}
