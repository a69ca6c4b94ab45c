// Package collect makes a running .NET process write a dump of itself, and puts the dump where the user wants it. The
// runtime does the work: it starts its createdump. On failure nothing is left behind. Start with Dump.
package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/live/diagport"
	"github.com/sosgo/sosgo/internal/live/processes"
	"github.com/sosgo/sosgo/target"
)

// Options controls Dump.
type Options struct {
	Kind  answer.DumpKind
	Out   string // the dump; if empty, a name in the current folder
	Brief bool   // the caller deletes the dump soon: without Out, a folder of temporary files serves where the current folder can't be written
	In    string // the folder in which the runtime writes, as a path of the process; if empty, the first that is suitable
	Leave bool   // leave the dump in that folder, under a name of its own
	Force bool   // ask the runtime even if the estimate does not fit
	// Timeout limits the time of the dump, and of copying it. 0 means no limit.
	Timeout time.Duration
	// Verify describes an open file. It fails if the file is not a dump of the process that is whole. It does not open the file's name,
	// which can belong to another file meanwhile.
	Verify func(ctx context.Context, f *os.File) (answer.CollectedCheck, error)
	// Progress receives the bytes that were written and the estimate, or 0 if it is unknown.
	Progress func(done, total uint64)
}

// Times of the dialogue with a process.
const (
	patience   = 10 * time.Second       // until a process must have said what it is
	glance     = 100 * time.Millisecond // between two looks at the size of the file
	afterwards = 10 * time.Second       // to wait for a file that the runtime still creates
	quiet      = 500 * time.Millisecond // without createdump and without a file: none follows
)

// otherFolder is what to do about a folder in which others write.
const otherFolder = "-in DIR names a folder that only the process can write to"

// kinds are the kinds of dumps by name.
var kinds = map[answer.DumpKind]diagport.Kind{answer.DumpMini: diagport.Mini, answer.DumpHeap: diagport.Heap, answer.DumpTriage: diagport.Triage,
	answer.DumpFull: diagport.Full}

// A job is one dump.
type job struct {
	o       Options
	p       *processes.Process
	view    *processes.View
	mapped  *processes.Mapped // nil if it is not known
	client  *diagport.Client
	answer  *answer.Collected
	dir     string        // in which the runtime writes, as a path of the process
	part    string        // the file there
	direct  bool          // dir is the folder of the dump
	to      *outfile.File // the dump, if it is a copy; nil before it is created, and when it is complete
	created string        // the dump's name in dir, if it is left there
}

// Dump makes a process write a dump.
func Dump(ctx context.Context, p *processes.Process, o Options) (*answer.Collected, error) {
	j := &job{o: o, p: p, client: p.Client(), answer: &answer.Collected{Kind: o.Kind}}
	if err := j.prepare(ctx); err != nil {
		return nil, err
	}
	defer j.view.Close()
	err := j.create()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if o.Timeout > 0 {
		late := &processes.Refusal{Text: fmt.Sprintf("the dump was not complete after %v", o.Timeout), Next: "-timeout gives it more time; -type mini is faster"}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, late)
		defer cancel()
	}
	if err = j.request(ctx); err != nil && !j.isWhole(ctx, err) {
		err = j.explain(ctx, err)
	} else {
		j.answer.Took = answer.Seconds(time.Since(began).Round(time.Millisecond).Seconds())
		err = j.place(ctx)
	}
	if err != nil {
		return nil, with(with(err, j.discard()), j.clear())
	}
	return j.answer, nil
}

// with adds an error, which may be nil, to another one. Errors are printed on one line.
func with(err, more error) error {
	if more == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, more)
}

// create starts the file of a dump that is copied, so that it fails before the process stands still.
func (j *job) create() (err error) {
	if j.direct || j.o.Leave {
		return nil
	}
	j.to, err = outfile.Create(j.o.Out, outfile.Options{New: true, Perm: outfile.Private})
	return notWritten(err)
}

// notWritten returns an error about the place of the dump, with the next step. err may be nil.
func notWritten(err error) error {
	if err == nil {
		return nil
	}
	return &processes.Refusal{Text: "the dump can't be written", Err: err, Next: "-o FILE names another place"}
}

// discard removes the incomplete copy.
func (j *job) discard() error {
	if j.to == nil {
		return nil
	}
	return j.to.Discard()
}

// prepare asks the process, and chooses the folder.
func (j *job) prepare(ctx context.Context) (err error) {
	if err := j.output(); err != nil {
		return err
	}
	if pid := j.p.Dumper(); pid != 0 {
		return &processes.Refusal{Text: fmt.Sprintf("another dump of process %d is being written (createdump, process %d)", j.p.PID, pid), Next: "wait until it is done, and try again"}
	}
	j.answer.Process = j.p.Answer(ctx, patience)
	if err := ctx.Err(); err != nil {
		return err
	}
	if !j.answer.Process.Answers {
		return &processes.Refusal{Text: fmt.Sprintf("process %d can't be asked for a dump: %s", j.p.PID, j.answer.Process.Unreachable),
			Next: cmp.Or(j.answer.Process.Next, j.p.Gcore()+" takes one without the runtime's help")}
	}
	if j.view, err = j.p.View(); err != nil {
		return &processes.Refusal{Text: "the files of the process can't be reached", Err: err, Next: j.p.Reach(err)}
	}
	j.mapped, _ = j.p.Mapped() // without it, there is no estimate
	j.answer.Estimate = estimate(j.o.Kind, j.mapped, j.p.Threads())
	err = errors.Join(j.tool(), j.choose(ctx))
	if err == nil {
		j.removeOld()
		err = j.fits()
	}
	if err != nil {
		return errors.Join(err, j.view.Close())
	}
	j.part = path.Join(filepath.ToSlash(j.dir), partName(j.p.Inner))
	return nil
}

// output completes the name of the dump, and checks that it is free.
func (j *job) output() error {
	name := j.o.Out
	if name == "" {
		name = fmt.Sprintf("%s-%d-%s.dmp", fileName(j.p.Name), j.p.PID, time.Now().UTC().Format("20060102T150405"))
		if j.o.Brief && !writable(".") {
			name = filepath.Join(os.TempDir(), name)
		}
	}
	if j.o.Leave {
		j.created = filepath.Base(name)
		return nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(full); err == nil {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return notWritten(err)
	}
	if st, err := os.Stat(filepath.Dir(full)); err != nil {
		return notWritten(err)
	} else if !st.IsDir() {
		return notWritten(&fs.PathError{Op: "write", Path: name, Err: errors.New("its parent is not a folder")})
	}
	j.o.Out, j.answer.File = full, full
	return nil
}

// writable reports whether this process can create files in a folder. As a user that is not root, it often stands in the root folder of a container.
func writable(dir string) bool {
	_, remove, err := outfile.TempDir(dir)
	return err == nil && remove() == nil
}

// fileName returns a name of a program with other characters than letters, digits and ._- replaced.
func fileName(name string) string {
	out := []rune(name)
	for i, r := range out {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || i > 0 && (r == '.' || r == '_' || r == '-')) {
			out[i] = '_'
		}
	}
	return cmp.Or(string(out[:min(len(out), 64)]), "dotnet")
}

// isWhole reports whether the dump is complete although the runtime reports a failure without a reason. The runtime
// waits for the end of createdump. In a program that collects the ends of all its children, as System.Diagnostics.Process
// makes process 1 of a container do, it may not learn about it.
func (j *job) isWhole(ctx context.Context, err error) bool {
	var reported *diagport.RuntimeError
	if j.o.Verify == nil || !errors.As(err, &reported) || reported.Code != diagport.CodeFailed || reported.Text != "" {
		return false
	}
	for j.p.Dumper() != 0 && ctx.Err() == nil {
		time.Sleep(glance)
	}
	f, err := j.view.Open(j.part)
	if err != nil {
		return false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return false
	}
	if _, err := j.o.Verify(ctx, f); err != nil {
		return false
	}
	j.answer.Note(fmt.Errorf("the runtime did not see how its createdump ended; the dump is whole: %w", reported))
	return true
}

// request asks the runtime for the dump and waits for its answer.
func (j *job) request(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- j.client.Dump(ctx, j.part, kinds[j.o.Kind]) }()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if st, err := j.view.Lstat(j.part); err == nil {
				j.progress(st.Size())
			}
		}
	}
}

func (j *job) progress(done int64) {
	if j.o.Progress != nil {
		j.o.Progress(uint64(done), max(j.answer.Estimate, uint64(done)))
	}
}

// A LeftBehind reports a file of the runtime that could not be removed.
type LeftBehind struct {
	File string
	Err  error
}

func (l *LeftBehind) Error() string {
	return fmt.Sprintf("%s may stay behind (%v)", l.File, l.Err)
}

func (l *LeftBehind) Unwrap() error { return l.Err }

// Advice returns the next step.
func (l *LeftBehind) Advice() string { return "delete this file when createdump has ended" }

// clear removes the file of the runtime. If the runtime is still about to create it, clear waits; what the runtime
// writes afterwards goes to a file without a name.
func (j *job) clear() error {
	last := time.Now() // when createdump was seen
	for start := last; ; time.Sleep(glance / 4) {
		err := j.view.Remove(j.part)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return &LeftBehind{j.view.Path(j.part), err}
		case j.p.Dumper() != 0:
			last = time.Now()
		}
		if time.Since(last) > quiet {
			return nil
		}
		if time.Since(start) > afterwards {
			return &LeftBehind{j.view.Path(j.part), errors.New("the runtime may still create it")}
		}
	}
}

// place checks the runtime's file and puts it where the dump belongs. If the user has stopped the command, there is no
// dump, also if the runtime was quicker.
func (j *job) place(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f, err := j.view.Open(j.part)
	if errors.Is(err, fs.ErrNotExist) {
		return &processes.Refusal{Text: "the runtime reports success, but wrote no file: its createdump was ended", Next: ended}
	}
	if err != nil {
		return &processes.Refusal{Text: "the runtime reports success, but its file can't be opened", Err: err, Next: otherFolder}
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular() || !j.p.Owns(st):
		return &processes.Refusal{Text: j.view.Path(j.part) + " is not a file that the process alone has made", Next: otherFolder}
	}
	if st.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			j.answer.Note(fmt.Errorf("others may read the dump: %w", err))
		}
	}
	j.answer.Size = st.Size()
	if !j.direct && !j.o.Leave {
		return j.copy(ctx, f, st.Size())
	}
	if err := j.verify(ctx, f, j.view.Path(j.part)); err != nil {
		return err
	}
	return j.rename(st)
}

// A renamedError is an error with the name of a file in its text replaced.
type renamedError struct {
	err      error
	from, to string
}

func (e *renamedError) Error() string { return strings.ReplaceAll(e.err.Error(), e.from, e.to) }

func (e *renamedError) Unwrap() error { return e.err }

// verify reads a file as a dump. Errors call it name.
func (j *job) verify(ctx context.Context, f *os.File, name string) (err error) {
	if j.o.Verify == nil {
		return nil
	}
	j.answer.Checked, err = j.o.Verify(ctx, f)
	if err != nil {
		err = &renamedError{err, f.Name(), name}
	}
	if errors.Is(err, target.ErrUnsupported) {
		j.answer.Note(fmt.Errorf("the dump could not be checked: %w", err))
	} else if err != nil {
		return &processes.Refusal{Text: "the runtime reports success, but its dump is not whole", Err: err, Next: "if createdump was ended meanwhile: " + ended}
	}
	return nil
}

// rename gives the runtime's file, which is described by st, its final name. It never replaces a file.
func (j *job) rename(st fs.FileInfo) error {
	name := path.Join(filepath.ToSlash(j.dir), cmp.Or(j.created, filepath.Base(j.o.Out)))
	switch err := j.view.Link(j.part, name); {
	case err == nil:
		if err := j.view.Remove(j.part); err != nil {
			return errors.Join(err, j.view.Remove(name))
		}
	case errors.Is(err, fs.ErrExist):
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	default: // not every file system has links
		if _, there := j.view.Lstat(name); !errors.Is(there, fs.ErrNotExist) {
			return cmp.Or(there, err)
		}
		if err := j.view.Rename(j.part, name); err != nil {
			return err
		}
	}
	if named, err := j.view.Lstat(name); err != nil || !os.SameFile(named, st) {
		return &processes.Refusal{Text: j.view.Path(name) + " is not the dump that was checked: it was exchanged meanwhile", Err: err, Next: otherFolder}
	}
	if j.o.Leave {
		j.answer.File, j.answer.Inside = j.view.Path(name), name
	}
	return nil
}

// copy copies the runtime's file of size bytes to the dump, and removes it. Whoever may write to the runtime's folder can make that
// file as large as they like.
func (j *job) copy(ctx context.Context, from *os.File, size int64) error {
	if err := j.fitsCopy(uint64(size)); err != nil {
		return err
	}
	const piece = 16 << 20
	for done := int64(0); done < size; {
		n, err := io.CopyN(j.to.File, from, min(piece, size-done))
		done += n
		j.progress(done)
		if err == io.EOF {
			return &processes.Refusal{Text: j.view.Path(j.part) + " became shorter while it was copied", Next: otherFolder}
		}
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
	}
	if n, _ := from.Read(make([]byte, 1)); n > 0 {
		return &processes.Refusal{Text: j.view.Path(j.part) + " grows while it is copied: createdump has not ended, or others write to it", Next: otherFolder}
	}
	if err := j.verify(ctx, j.to.File, j.o.Out); err != nil {
		return err
	}
	to := j.to
	j.to = nil // Commit removes it if it fails
	if err := to.Commit(); err != nil {
		return err
	}
	j.answer.Copied = true
	if err := j.view.Remove(j.part); err != nil {
		j.answer.Note(&LeftBehind{j.view.Path(j.part), err})
	}
	return nil
}
