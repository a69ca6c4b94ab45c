package scrub

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// homes are the folders with a folder for each user, in lower case.
var homes = []string{"/home/", "/users/", `\users\`}

// userFolder returns the part of a path before the name of a user's folder, and the name.
func userFolder(path string) (home, name string, ok bool) {
	lower := strings.ToLower(path)
	for _, h := range homes {
		i := strings.Index(lower, h)
		if i < 0 || len(lower) != len(path) {
			continue
		}
		name, _, ok = strings.Cut(path[i+len(h):], h[:1])
		if ok && name != "" {
			return path[i : i+len(h)], name, true
		}
	}
	return "", "", false
}

// userNames returns patterns for the names of users in the paths of modules, files and PDBs. The folders around
// them stay.
func (s *imageScrubber) userNames() (out []pattern) {
	var paths []string
	for _, m := range s.target.Modules() {
		paths = append(paths, m.Path)
		if m.PDB != nil {
			paths = append(paths, m.PDB.Path)
		}
	}
	for r := range s.target.Regions() {
		paths = append(paths, r.Path)
	}
	var folders []string
	for _, p := range append(paths, s.paths...) {
		if home, name, ok := userFolder(p); ok {
			folders = append(folders, home+name+home[:1])
		}
	}
	slices.Sort(folders)
	for _, f := range slices.Compact(folders) {
		home, name, _ := userFolder(f)
		fresh := []byte(f)
		s.disguise.replace(fresh[len(home):len(home)+len(name)], false)
		out = append(out, pattern{[]byte(f), fresh}, pattern{wide(f), wide(string(fresh))})
	}
	return out
}

// wide returns a text in UTF-16.
func wide(text string) (b []byte) {
	for _, c := range utf16Of(text) {
		b = le.AppendUint16(b, c)
	}
	return b
}

// UserFolders returns the folders of modules inside users' folders. They have other names in the scrubbed dump.
func UserFolders(t target.Target) (out []string) {
	for _, m := range t.Modules() {
		if _, _, ok := userFolder(m.Path); ok {
			out = append(out, strings.TrimRight(strings.TrimSuffix(m.Path, target.BaseName(m.Path)), `/\`))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
