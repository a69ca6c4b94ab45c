package processes

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Mapped is the memory of a process as its list of mappings describes it.
type Mapped struct {
	Writable uint64   // bytes of the mappings that can be read and written
	Readable uint64   // bytes of all mappings that can be read
	Folders  []string // with the module files that are mapped, as paths of the process
	Runtime  string   // the folder of the runtime's library; of a single-file program the program's; empty if not known
	Single   bool     // the program contains the runtime
}

// Mapped reads the list of mappings. It is only known on Linux.
func (p *Process) Mapped() (*Mapped, error) {
	if p.system == nil {
		return nil, errors.ErrUnsupported
	}
	text, err := p.system.read(p.PID, "maps")
	if err != nil {
		return nil, err
	}
	m := &Mapped{Single: true}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[1], "r") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil || end < start {
			continue
		}
		m.Readable += end - start
		if strings.HasPrefix(fields[1], "rw") {
			m.Writable += end - start
		}
		if at := strings.IndexByte(line, '/'); at >= 0 {
			m.file(strings.TrimSuffix(strings.TrimSuffix(line[at:], "\n"), " (deleted)"), strings.Contains(fields[1], "x"))
		}
	}
	if m.Single {
		if exe, err := os.Readlink(p.system.path(p.PID, "exe")); err == nil {
			m.Runtime = path.Dir(exe)
			m.add(m.Runtime)
		}
	}
	return m, nil
}

// file notes a mapped file.
func (m *Mapped) file(name string, code bool) {
	if code && strings.HasSuffix(name, "/libcoreclr.so") {
		m.Runtime, m.Single = path.Dir(name), false
	}
	if ext := path.Ext(name); ext == ".dll" || ext == ".so" || ext == ".exe" {
		m.add(path.Dir(name))
	}
}

func (m *Mapped) add(dir string) {
	if !slices.Contains(m.Folders, dir) {
		m.Folders = append(m.Folders, dir)
	}
}

// FileLimit returns the most bytes that the process may write to a file. ok is false if there is no limit, or if it is
// not known.
func (p *Process) FileLimit() (bytes uint64, ok bool) {
	if p.system == nil {
		return 0, false
	}
	text, err := p.system.read(p.PID, "limits")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "Max file size"); found {
			if soft := strings.Fields(rest); len(soft) > 0 {
				bytes, err = strconv.ParseUint(soft[0], 10, 64)
				return bytes, err == nil
			}
		}
	}
	return 0, false
}

// Threads returns the number of threads of the process, or 0 if it is not known.
func (p *Process) Threads() int {
	if p.system == nil {
		return 0
	}
	names, err := os.ReadDir(p.system.path(p.PID, "task"))
	if err != nil {
		return 0
	}
	return len(names)
}

// Dumper returns the id of the createdump that the process's runtime has started, or 0. While it runs, the threads of
// the process are stopped.
func (p *Process) Dumper() int {
	if p.system == nil {
		return 0
	}
	names, err := os.ReadDir(p.system.Proc)
	if err != nil {
		return 0
	}
	for _, e := range names {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := p.system.read(pid, "stat")
		if err != nil || !strings.Contains(string(text), "(createdump) ") {
			continue
		}
		_, rest, _ := strings.Cut(string(text), "(createdump) ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(p.PID) {
			return pid
		}
	}
	return 0
}

// HasDumper reports whether the program itself contains createdump, as single-file programs of newer versions do.
func (p *Process) HasDumper() (bool, error) {
	if p.system == nil {
		return false, errors.ErrUnsupported
	}
	f, err := os.Open(p.system.path(p.PID, "exe"))
	if err != nil {
		return false, err
	}
	defer f.Close()
	mark := []byte("[createdump] ") // before each line that it writes
	b := make([]byte, 1<<20)
	for kept, read := 0, int64(0); read < maxProgram; {
		n, err := f.Read(b[kept:])
		if bytes.Contains(b[:kept+n], mark) {
			return true, nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		read += int64(n)
		kept = copy(b, b[max(0, kept+n-len(mark)):kept+n])
	}
	return false, nil
}

// View opens the file system of the process.
func (p *Process) View() (*View, error) {
	if p.system == nil {
		return hostView(), nil
	}
	return p.system.View(p)
}

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	if p.system == nil {
		return alive(p.PID)
	}
	start, err := p.system.startOf(p.PID)
	return err == nil && start == p.start
}

// Temp returns the folders for temporary files of the process, as its own paths. Where the system does not show the
// environment of a process, its runtime is asked.
func (p *Process) Temp(ctx context.Context) []string {
	if p.system != nil {
		environment, _ := p.system.environment(p.PID) // without it, the usual folder is left
		if dir := environment["TMPDIR"]; dir != "" && dir != "/tmp" {
			return []string{dir, "/tmp"}
		}
		return []string{"/tmp"}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out []string
	list, _ := p.Client().Environment(ctx) // likewise
	for _, entry := range list {
		if name, dir, _ := strings.Cut(entry, "="); slices.Contains([]string{"TMPDIR", "TEMP", "TMP"}, strings.ToUpper(name)) && dir != "" {
			out = append(out, dir)
		}
	}
	return append(out, os.TempDir())
}

// readAtMost reads a stream to its end, but no more than most bytes.
func readAtMost(r io.Reader, most int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, most)) }
