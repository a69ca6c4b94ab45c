package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// commonFolders are folders that say nothing about a machine, in lower case.
var commonFolders = []string{"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/run", "/app", "/srv", "/opt/dotnet", "/system", "/library",
	`c:\windows`, `c:\program files`, `c:\program files (x86)`, `c:\app`}

// A rename replaces a folder's path by another of the same length.
type rename struct{ from, to string }

// renames returns neutral names for the folders of some paths, and for those above them, the longest paths first. A folder below the root stays:
// its name alone may be a word.
func renames(paths []string) []rename {
	names := map[string]string{} // neutral paths by paths
	taken := map[string]bool{}
	for _, path := range slices.Sorted(slices.Values(paths)) {
		sep := "/"
		if len(path) > 2 && path[1] == ':' {
			sep = `\`
		}
		parts := strings.Split(path, sep)
		if len(parts) < 4 || parts[0] != "" && sep == "/" || isCommon(path, sep) {
			continue // at least /a/b/file
		}
		from, to := parts[0], parts[0]
		for _, part := range parts[1 : len(parts)-1] {
			from += sep + part
			if names[from] == "" {
				for i := 0; ; i++ {
					if name := to + sep + neutral(len(part), i); !taken[name] || i > 25 {
						names[from], taken[name] = name, true
						break
					}
				}
			}
			to = names[from]
		}
	}
	var out []rename
	for from, to := range names {
		if strings.Count(from, from[strings.IndexAny(from, `/\`):][:1]) > 1 {
			out = append(out, rename{from, to})
		}
	}
	slices.SortFunc(out, func(a, b rename) int { return cmp.Or(len(b.from)-len(a.from), strings.Compare(a.from, b.from)) })
	return out
}

func isCommon(path, sep string) bool {
	path = strings.ToLower(path)
	return slices.ContainsFunc(commonFolders, func(f string) bool { return strings.HasPrefix(path, f+sep) })
}

// neutral returns the i-th name of a length: folder, foldera, folderb ...
func neutral(n, i int) string {
	name := []byte(strings.Repeat("folder", n/6+1)[:n])
	if i > 0 && n > 0 {
		name[n-1] = byte('a' + i - 1)
	}
	return string(name)
}

// apply replaces the folders in a file, in place, as UTF-8 and as UTF-16. It returns how many it replaced.
func apply(file []byte, list []rename) (n int) {
	for _, r := range list {
		for _, size := range []int{1, 2} {
			from, to := spelled(r.from, size), spelled(r.to, size)
			for at := 0; ; at += len(from) {
				i := bytes.Index(file[at:], from)
				if i < 0 {
					break
				}
				if at += i; endsName(file, at+len(from), size) {
					copy(file[at:], to)
					n++
				}
			}
		}
	}
	return n
}

func spelled(text string, size int) []byte {
	if size == 1 {
		return []byte(text)
	}
	var b []byte
	for _, u := range utf16text.Units(text) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// endsName reports whether the name of a folder that ends at a place in a file is whole there.
func endsName(file []byte, at, size int) bool {
	if at+size > len(file) || size == 2 && file[at+1] != 0 {
		return true
	}
	c := file[at]
	return !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.')
}

// foldersOf returns paths with the folders of the machine where a dump was made: its modules' and this process's.
func foldersOf(d *sosgo.Dump) (paths []string) {
	for _, m := range d.Target().Modules() {
		paths = append(paths, m.Path)
	}
	if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, home+"/file")
	}
	if folder, err := os.Getwd(); err == nil {
		paths = append(paths, folder+"/file")
	}
	return paths
}

// anonymous gives the folders in a slice neutral names. The commands must print as many lines as before.
func (j *job) anonymous(ctx context.Context, small []byte, paths []string) error {
	open := func() (*sosgo.Dump, error) {
		return sosgo.OpenReaderAt(target.BytesSource(small), int64(len(small)), sosgo.Options{NoLocalFiles: true})
	}
	list := renames(paths)
	if !slices.ContainsFunc(list, func(r rename) bool {
		return bytes.Contains(small, []byte(r.from)) || bytes.Contains(small, spelled(r.from, 2))
	}) {
		return nil
	}
	want := answers(ctx, open, j.commands)
	n := apply(small, list)
	fmt.Fprintf(os.Stderr, "%d names of folders replaced\n", n)
	for i, got := range answers(ctx, open, j.commands) {
		if bytes.Count(got, []byte("\n")) != bytes.Count(want[i], []byte("\n")) {
			return fmt.Errorf("with other names of folders, %s prints\n%s", j.commands[i], firstDifference(want[i], got))
		}
	}
	return nil
}
