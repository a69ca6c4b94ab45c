// Package fleet keeps the tables of many dumps in a folder, for databases:
//
//	FLEET/date=2026-11-26/part=10a2bc537d5c2f82/dump.parquet   a dump: a part for each
//	                                            types.parquet  and so on
//	FLEET/date=2026-11-25/part=all-6b0f…/dump.parquet          a day with parts merged by Compact
//	FLEET/_log.ndjson                                          added files, and failures with reasons
//
// A part appears only when it is complete, and the existing parts are the only state: a killed process loses
// its current dump, and never adds one twice. Several processes may add to a fleet; one at a time may compact
// it. The package does not read dumps. Start at Open, Add and Compact.
package fleet

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/target"
)

const (
	logFile     = "_log.ndjson"
	journalFile = "_compact.json"
	idsFile     = "_ids" // in a compacted part: the ids of its dumps, one per line
	noDate      = "unknown"
	logPerm     = 0o600 // the log contains file names and reasons
	datePrefix  = "date="
	partPrefix  = "part="
	allPrefix   = "all-"
	mostLine    = 1 << 20  // bytes of a line of the log
	mostReason  = 4 << 10  // bytes of a reason in it
	mostText    = 64 << 20 // bytes of a list of ids, or of the journal
)

// A Fleet is a folder with tables of many dumps.
type Fleet struct {
	dir string

	mu    sync.Mutex
	known map[string]string // folders of dumps by id
}

// Open returns the fleet in a folder, which need not exist. It completes a compaction that was interrupted
// while it replaced parts, and removes what killed processes left.
func Open(dir string) (*Fleet, error) {
	f, err := open(dir)
	if machine.Failed(err) {
		err = outfile.Failed(err) // a fleet is opened to be written
	}
	return f, err
}

func open(dir string) (*Fleet, error) {
	f := &Fleet{dir: dir, known: map[string]string{}}
	if err := f.recover(false); err != nil {
		return nil, err
	}
	dates, err := f.dates()
	if err != nil {
		return nil, err
	}
	outfile.Sweep(dir)
	for _, date := range dates {
		outfile.Sweep(filepath.Join(dir, datePrefix+date)) // where parts were made before
		parts, err := f.parts(date)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			for _, id := range p.ids {
				f.known[id] = filepath.Join(dir, datePrefix+date, p.name)
			}
		}
	}
	return f, nil
}

// Has reports whether the fleet has a dump, and in which folder.
func (f *Fleet) Has(id string) (folder string, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	folder, found = f.known[id]
	return folder, found
}

// Add adds a dump. create must make a folder with the dump's tables completely or not at all: beside the partitions, so that readers of
// all parts (FLEET/*/*/dump.parquet) don't see it before. when is the time
// of the dump, nil if unknown; it selects the partition. added is false if the fleet already has the dump.
func (f *Fleet) Add(id string, when *time.Time, create func(folder string) error) (folder string, added bool, err error) {
	if !validID(id) {
		return "", false, target.Argumentf("%q is no id of a dump", id)
	}
	if folder, found := f.Has(id); found {
		return folder, false, nil
	}
	date := noDate
	if when != nil {
		date = when.UTC().Format(time.DateOnly)
	}
	dir, err := f.partition(date)
	if err != nil {
		return "", false, err
	}
	folder = filepath.Join(dir, partPrefix+id)
	err = create(folder)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return folder, false, nil
	}
	if err != nil {
		return "", false, err
	}
	f.mu.Lock()
	f.known[id] = folder
	f.mu.Unlock()
	return folder, true, nil
}

// validID reports whether an id can be part of the name of a folder.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "0123456789abcdef") == ""
}

// dates returns the partitions of the fleet in order.
func (f *Fleet) dates() ([]string, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if date, found := strings.CutPrefix(e.Name(), datePrefix); found && e.IsDir() {
			out = append(out, date)
		}
	}
	return out, nil
}

// partition returns the folder of a date, which may not exist. It fails for a link, which could lead out of the fleet.
func (f *Fleet) partition(date string) (string, error) {
	dir := filepath.Join(f.dir, datePrefix+date)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return "", &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR} // an error of this machine, and not of the dump
	}
	return dir, nil
}

// A part is a folder of tables.
type part struct {
	name string
	ids  []string
	all  bool // made by Compact
}

// parts returns the parts of a partition in the order of their names.
func (f *Fleet) parts(date string) ([]part, error) {
	dir := filepath.Join(f.dir, datePrefix+date)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []part
	for _, e := range entries {
		id, found := strings.CutPrefix(e.Name(), partPrefix)
		switch {
		case !found || !e.IsDir():
		case strings.HasPrefix(id, allPrefix):
			text, err := readWhole(filepath.Join(dir, e.Name(), idsFile))
			if err != nil {
				return nil, err
			}
			out = append(out, part{e.Name(), strings.Fields(string(text)), true})
		case validID(id):
			out = append(out, part{e.Name(), []string{id}, false})
		}
	}
	return out, nil
}

// readWhole returns the content of a file of this package, which has a bounded size.
func readWhole(path string) ([]byte, error) {
	r, err := mmapfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, mostText+1))
	if err == nil && len(text) > mostText {
		err = target.Corruptf("%s has more than %d bytes", path, mostText)
	}
	return text, err
}

// Values of Entry.Result.
const (
	Added   = "added"
	Present = "present" // the fleet already has it
	Failed  = "failed"
)

// An Entry of the log is the result for a file.
type Entry struct {
	File     string    `json:"file"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
	ETag     string    `json:"etag,omitempty"`
	ID       string    `json:"id,omitempty"`
	Result   string    `json:"result"` // Added, Present or Failed
	Exit     int       `json:"exit,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Tries    int       `json:"tries,omitempty"`
	Retry    bool      `json:"retry,omitempty"` // the machine or a server failed, and not the dump
	Seconds  float64   `json:"seconds"`
	At       time.Time `json:"noted"`
	Tool     string    `json:"tool,omitempty"`
}

// Same reports whether two entries have the same content, as far as that is known without reading it.
func (e *Entry) Same(o *Entry) bool {
	return e != nil && o != nil && e.File == o.File && e.Size == o.Size && e.Modified.Equal(o.Modified) && e.ETag == o.ETag
}

// Log appends an entry to the log. It cuts a reason that is too long for a line, as a server's words may be.
func (f *Fleet) Log(e Entry) error {
	if len(e.Reason) > mostReason {
		e.Reason = strings.ToValidUTF8(e.Reason[:mostReason], "") + " …"
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return outfile.Failed(err)
	}
	path, err := f.logPath()
	if err != nil {
		return err
	}
	w, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logPerm)
	if err != nil {
		return outfile.Failed(err)
	}
	// Write a line at once: several processes append. It starts with a newline to end a line that a killed
	// process left unfinished.
	_, err = w.Write(append(append([]byte{'\n'}, line...), '\n'))
	return outfile.Failed(cmp.Or(err, w.Close()))
}

// logPath returns the path of the log, which may not exist. It fails for a link and for what is no regular file: whoever
// made the folder may have chosen another file.
func (f *Fleet) logPath() (string, error) {
	path := filepath.Join(f.dir, logFile)
	if err := mmapfile.CheckRegular(path); err != nil {
		return "", err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return "", target.Unsupportedf("%s is a link", path)
	}
	return path, nil
}

// Entries returns the last entry of each file, in the order of the files. It skips unreadable lines, which a
// killed process leaves, and those that are longer than any of Log.
func (f *Fleet) Entries() ([]Entry, error) {
	r, err := mmapfile.OpenRegular(filepath.Join(f.dir, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	last := map[string]Entry{}
	in := bufio.NewReaderSize(r, mostLine)
	for err == nil {
		var line []byte
		if line, err = in.ReadSlice('\n'); errors.Is(err, bufio.ErrBufferFull) {
			err = skipLine(in)
			continue
		}
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.File != "" {
			last[e.File] = e
		}
	}
	if err != io.EOF {
		return nil, err
	}
	out := make([]Entry, 0, len(last))
	for _, e := range last {
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(a.File, b.File) })
	return out, nil
}

// skipLine reads the rest of a line.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// shortenLog rewrites the log with the last entry of each file.
func (f *Fleet) shortenLog() error {
	path, err := f.logPath()
	if err != nil {
		return err
	}
	entries, err := f.Entries()
	if err != nil || len(entries) == 0 {
		return err
	}
	return outfile.Write(path, outfile.Options{Perm: func() fs.FileMode { return logPerm }}, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for i := range entries {
			if err := e.Encode(&entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
