package collect

import (
	"crypto/rand"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// partName returns the name of the file that the runtime of a process writes.
func partName(pid int) string { return fmt.Sprintf(".sosgo-%d-%s.dmp", pid, rand.Text()[:16]) }

// isPart matches the names that partName returns.
var isPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.sosgo-[0-9]+-[A-Z2-7]{16}\.dmp$`) })

const (
	abandoned  = time.Hour // since the last change of a file that nobody writes or copies any more
	mostPlaces = 10_000    // names of a folder that are looked at
)

// removeOld removes the files of commands that were killed: nobody else knows them. A file must have the name of one,
// belong to the process's user, and have no other name. What can't be removed stays.
func (j *job) removeOld() {
	f, err := j.view.Open(filepath.ToSlash(j.dir))
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostPlaces) // a part is enough
	slices.Sort(names)
	for _, name := range names {
		if !isPart().MatchString(name) {
			continue
		}
		inside := path.Join(filepath.ToSlash(j.dir), name)
		st, err := j.view.Lstat(inside)
		if err != nil || !st.Mode().IsRegular() || !j.p.Owns(st) || time.Since(st.ModTime()) < abandoned {
			continue
		}
		if j.view.Remove(inside) == nil {
			j.answer.Removed = append(j.answer.Removed, j.view.Path(inside))
		}
	}
}
