//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeGo is a go command that compiles nothing: what it builds is a script that answers as sosgo does.
const fakeGo = `#!/bin/sh
case "$1" in
env) uname | tr A-Z a-z ;;
version) printf 'x: go1.26\n\tpath\tx\n\tdep\tgithub.com/google/go-dap\tv0.12.0\th1:x=\n' ;;
build)
  while [ "$1" != -o ]; do shift; done
  printf '#!/bin/sh\n# %s %s\necho "$*"\n' "$GOOS" "$GOARCH" >"$2"
  chmod +x "$2" ;;
esac
`

// TestReleaseFiles: the files for package managers name the archives that were made, with the sums that they have.
func TestReleaseFiles(t *testing.T) {
	for _, tool := range []string{"bash", "git", "tar", "zip", "awk", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if exec.Command("git", "rev-parse", "HEAD").Run() != nil || exec.Command("sed", "--version").Run() != nil || exec.Command("tar", "--version").Run() != nil {
		t.Skip("there is no repository, or the tools are not GNU's")
	}
	bin, out := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(fakeGo), 0o700)) //nolint:gosec // a program is executable
	cmd := exec.Command("bash", "../../.ci/release", out)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TARGETS=", "PACKAGES=", "MINISIGN_KEY=", "COSIGN_PRIVATE_KEY=")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))

	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		return string(raw)
	}
	sums := map[string]string{} // by archive
	for line := range strings.Lines(read("SHA256SUMS")) {
		words := strings.Fields(line)
		require.Len(t, words, 2, line)
		sums[words[1]] = words[0]
		assert.FileExists(t, filepath.Join(out, words[1]))
	}
	assert.Len(t, sums, 8, "seven archives and the list of modules")
	// named counts the archives that a file names by address, each with its sum behind it.
	named := func(text, pattern string) (n int) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			address, sum := m[1], strings.ToLower(m[2])
			assert.True(t, strings.HasPrefix(address, "https://github.com/sosgo/sosgo/releases/download/"), address)
			assert.Equal(t, sums[address[strings.LastIndex(address, "/")+1:]], sum, address)
			assert.Len(t, sum, 64, address)
			n++
		}
		return n
	}

	formula := read("sosgo.rb")
	assert.Equal(t, 4, named(formula, `url "([^"]+)"\s+sha256 "([^"]+)"`))
	assert.True(t, strings.HasPrefix(formula, "class Sosgo < Formula\n") && strings.HasSuffix(formula, "\nend\n"))
	assert.Equal(t, len(regexp.MustCompile(`(?m)^ *end$`).FindAllString(formula, -1)), len(regexp.MustCompile(`(?m)^ *class | do$|^ *def `).FindAllString(formula, -1)), "each block ends")

	var scoop struct {
		Version, Description, Homepage, License, Bin string
		Architecture                                 map[string]struct{ URL, Hash, Extract_dir string } //nolint:revive,staticcheck // scoop's name
	}
	require.NoError(t, json.Unmarshal([]byte(read("sosgo.json")), &scoop))
	assert.Equal(t, "sosgo.exe", scoop.Bin)
	assert.NotEmpty(t, scoop.Version)
	require.Len(t, scoop.Architecture, 2)
	for arch, a := range scoop.Architecture {
		assert.Equal(t, 1, named(a.URL+" "+a.Hash, `(\S+) (\S+)`), arch)
		assert.Equal(t, a.Extract_dir+".zip", a.URL[strings.LastIndex(a.URL, "/")+1:])
	}

	installer := read("winget/sosgo.sosgo.installer.yaml")
	assert.Equal(t, 2, named(installer, `InstallerUrl: (\S+)\n +InstallerSha256: ([0-9A-F]+)\n`))
	assert.Equal(t, 2, strings.Count(installer, `\sosgo.exe`))
	for name, kind := range map[string]string{"sosgo.sosgo.yaml": "version", "sosgo.sosgo.locale.en-US.yaml": "defaultLocale", "sosgo.sosgo.installer.yaml": "installer"} {
		text := read("winget/" + name)
		for _, line := range []string{"PackageIdentifier: sosgo.sosgo", "PackageVersion: " + scoop.Version, "ManifestType: " + kind, "ManifestVersion: 1.6.0"} {
			assert.Contains(t, "\n"+text, "\n"+line+"\n", name)
		}
	}
}
