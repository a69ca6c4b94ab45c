package modfiles

import (
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Installed proposes the files of .NET installations and NuGet's package folder on this machine, which often
// has the same builds. It finds the folders once.
type Installed struct {
	DotnetRoots    []string // DotnetRoots and PackageFolders replace this machine's; nil means this machine's
	PackageFolders []string

	once       sync.Once
	frameworks []string
}

// packagesInPath extracts package and version from a path such as …/microsoft.netcore.app.runtime.linux-x64/8.0.5/runtimes/… .
var packagesInPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[/\\]packages[/\\]([\w.-]+)[/\\](\d[\w.-]*)[/\\](.+)$`)
})

// Candidates implements Source.
func (s *Installed) Candidates(m *target.Module, _ *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		name := baseNameAsWritten(m.Path)
		if name == "" {
			return
		}
		for _, folder := range s.frameworkFolders() {
			p := filepath.Join(folder, name)
			if _, err := os.Lstat(p); err == nil && !yield(p) {
				return
			}
		}
		if match := packagesInPath().FindStringSubmatch(m.Path); match != nil {
			for _, folder := range s.packages() {
				rest := filepath.FromSlash(strings.ReplaceAll(match[3], `\`, "/"))
				p := filepath.Join(folder, strings.ToLower(match[1]), strings.ToLower(match[2]), rest)
				if rel, err := filepath.Rel(folder, p); err != nil || strings.HasPrefix(rel, "..") {
					continue // a recorded path must not lead out of the folder
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// frameworkFolders returns the folders shared/FRAMEWORK/VERSION of the roots.
func (s *Installed) frameworkFolders() []string {
	s.once.Do(func() {
		for _, root := range s.roots() {
			// A root that looks like a pattern is escaped, so the pattern is valid.
			found, _ := filepath.Glob(filepath.Join(globEscape(root), "shared", "*", "*"))
			s.frameworks = append(s.frameworks, found...)
		}
	})
	return s.frameworks
}

func baseNameAsWritten(p string) string {
	name := target.BaseName(p)
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// globEscape escapes s for filepath.Glob.
func globEscape(s string) string {
	if runtime.GOOS == "windows" {
		return s // Windows names contain no pattern characters, and \ separates
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func (s *Installed) roots() []string {
	if s.DotnetRoots != nil {
		return s.DotnetRoots
	}
	var out []string
	if v := os.Getenv("DOTNET_ROOT"); v != "" {
		out = append(out, v)
	}
	if runtime.GOOS == "windows" {
		if v := os.Getenv("ProgramFiles"); v != "" {
			out = append(out, filepath.Join(v, "dotnet"))
		}
	} else {
		out = append(out, "/usr/share/dotnet", "/usr/lib/dotnet", "/usr/lib64/dotnet", "/usr/local/share/dotnet", "/opt/dotnet")
	}
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Join(home, ".dotnet"))
	}
	return out
}

func (s *Installed) packages() []string {
	if s.PackageFolders != nil {
		return s.PackageFolders
	}
	if v := os.Getenv("NUGET_PACKAGES"); v != "" {
		return []string{v}
	}
	if home, err := os.UserHomeDir(); err == nil {
		return []string{filepath.Join(home, ".nuget", "packages")}
	}
	return nil
}
