package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/live/diagport"
	"github.com/sosgo/sosgo/internal/live/processes"
	"github.com/sosgo/sosgo/target"
)

// failures are what createdump writes when it fails, and what helps.
var failures = []struct{ text, next string }{
	{"Only full dumps are supported", fullOnly},
	{"No space left", "-o FILE or -in DIR names a folder on a larger disk; -type mini is smaller"},
	{"Disk quota exceeded", "-o FILE or -in DIR names a folder on a larger disk; -type mini is smaller"},
	{"File too large", "the process may not write files that large (RLIMIT_FSIZE); -type mini is smaller"},
	{"Read-only file system", "-in DIR names a folder that the process can write to, such as a volume of its container"},
	{"shared librar", "createdump's libraries must be installed (on Alpine: apk add libstdc++)"},
	{"execve", "createdump must be executable for the process's user, and its libraries must be installed (on Alpine: libstdc++)"},
	{"Permission denied", "-in DIR names a folder that the process can write to; if /proc or ptrace is meant, the container needs the capability SYS_PTRACE"},
	{"ptrace", forbidden},
	{"Operation not permitted", forbidden},
	{"seccomp", forbidden},
}

// ended is what to do about a createdump that a signal has ended, which the runtime does not report.
const ended = "the container's seccomp profile or its memory limit may do that: the kernel's log says so; add the capability SYS_PTRACE, or memory for createdump"

// fullOnly is the next step where createdump can't write another kind.
const fullOnly = "-type full"

const forbidden = "createdump reads its parent by ptrace: the container's seccomp profile must allow it, or add the capability SYS_PTRACE"

// explain returns the error of a dump that failed, with the next step.
func (j *job) explain(ctx context.Context, err error) error {
	var reported *diagport.RuntimeError
	var refusal *processes.Refusal
	switch {
	case ctx.Err() != nil, errors.As(err, &refusal):
		return err
	case j.ended():
		return &processes.Refusal{Text: fmt.Sprintf("process %d ended before its dump was complete", j.p.PID), Err: err,
			Next: "with DOTNET_DbgEnableMiniDump=1 the runtime writes a dump when it crashes"}
	case !errors.As(err, &reported):
		return &processes.Refusal{Text: "no dump was written", Err: err, Next: j.other()}
	case reported.Code == diagport.CodeUnknownCommand || reported.Code == diagport.CodeNotSupported:
		return &processes.Refusal{Text: "this runtime can't write dumps of itself (NativeAOT, Mono)", Err: err, Kind: target.ErrUnsupported, Next: j.other()}
	}
	for _, f := range failures {
		if strings.Contains(reported.Text, f.text) {
			return &processes.Refusal{Text: "no dump was written", Err: err, Next: f.next}
		}
	}
	return &processes.Refusal{Text: "no dump was written", Err: err,
		Next: "try again: createdump gives up if a thread ends meanwhile (it writes its reason to the standard error of the program); else: " + j.other()}
}

// dacName is the library by which createdump finds what kinds other than full have.
const dacName = "libmscordaccore.so"

// dac reports whether this library is beside the program.
func (j *job) dac() bool {
	_, err := j.view.Stat(path.Join(j.mapped.Runtime, dacName))
	return err == nil
}

// tool reports a runtime without a createdump that it can start. A runtime that fails to start it removes its socket.
func (j *job) tool() error {
	m := j.mapped
	if j.o.Force || m == nil || m.Runtime == "" {
		return nil
	}
	file := path.Join(m.Runtime, "createdump")
	st, err := j.view.Stat(file)
	switch {
	case err == nil && st.Mode()&0o111 == 0, err == nil && !j.p.MayRun(st):
		return &processes.Refusal{Text: fmt.Sprintf("process %d may not run %s, which writes the dump", j.p.PID, file), Kind: target.ErrUnsupported,
			Next: "make it executable; until then: " + j.other()}
	case !errors.Is(err, fs.ErrNotExist):
		return nil // it is there, or that can't be seen
	}
	if m.Single {
		switch has, err := j.p.HasDumper(); {
		case err != nil:
			return nil
		case has && j.o.Kind != answer.DumpFull && !j.dac(): // in .NET 8, it reports success, and the process that it has begun never ends
			return &processes.Refusal{Text: fmt.Sprintf("process %d is a single-file program without %s beside it, which is written only as a full dump", j.p.PID, dacName),
				Kind: target.ErrUnsupported, Next: fullOnly}
		case has:
			return nil
		}
	}
	what := fmt.Sprintf("the runtime of process %d has no createdump, which writes the dump, in %s", j.p.PID, m.Runtime)
	if m.Single {
		what = fmt.Sprintf("process %d is a single-file or NativeAOT program without a createdump, which writes the dump, beside it in %s", j.p.PID, m.Runtime)
	}
	return &processes.Refusal{Text: what, Kind: target.ErrUnsupported,
		Next: "the runtime pack of the same version (Microsoft.NETCore.App.Runtime) has it, to be copied there; until then: " + j.other()}
}

// ended reports whether the process has ended. The system closes its connections before that can be seen.
func (j *job) ended() bool {
	for start := time.Now(); time.Since(start) < quiet; time.Sleep(glance / 4) {
		if !j.p.Alive() {
			return true
		}
	}
	return false
}

// other returns the ways to a dump without the runtime's help.
func (j *job) other() string {
	return j.p.Gcore() + " (as root, with gdb), or a core of the kernel; DOTNET_DbgEnableMiniDump=1 in the program's environment writes a dump at a crash"
}
