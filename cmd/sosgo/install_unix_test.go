//go:build linux || darwin || freebsd

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archiveOf returns an archive of a release with a program.
func archiveOf(t *testing.T, folder, program string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: folder + "/sosgo", Mode: 0o755, Size: int64(len(program))}))
	_, err := w.Write([]byte(program))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestInstallScript: install.sh installs what SHA256SUMS names, and nothing that differs from it.
func TestInstallScript(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	name := fmt.Sprintf("sosgo-v1.2.3-%s-%s", runtime.GOOS, runtime.GOARCH)
	good := archiveOf(t, name, "#!/bin/sh\necho sosgo v1.2.3\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(good))
	sums := sum + "  " + name + ".tar.gz\n" + sum + "  sosgo-v1.2.3-plan9-amd64.tar.gz\n"
	for _, c := range []struct {
		name, sums string
		archive    []byte
		version    string
		want       string // of the output; empty if it is installed
	}{
		{"latest", sums, good, "", ""},
		{"a version", sums, good, "v1.2.3", ""},
		{"another archive", sums, archiveOf(t, name, "#!/bin/sh\necho evil\n"), "", "is not the file that SHA256SUMS names"},
		{"a part of it", sums, good[:len(good)/2], "", "is not the file that SHA256SUMS names"},
		{"no sum", sum + "  sosgo-v1.2.3-plan9-amd64.tar.gz\n", good, "", "has no archive for"},
		{"two sums", sums + sum + "  sosgo-v1.2.4-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz\n", good, "", "several archives"},
		{"a path", sum + "  ../../etc/" + name + ".tar.gz\n", good, "", "has no archive for"},
		{"no release", "", good, "v9", "can't be downloaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := "/latest/download/"
			if c.version != "" {
				folder = "/download/" + c.version + "/"
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == folder+"SHA256SUMS" && c.sums != "":
					fmt.Fprint(w, c.sums)
				case r.URL.Path == folder+name+".tar.gz":
					_, _ = w.Write(c.archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			bin := filepath.Join(t.TempDir(), "bin")
			cmd := exec.Command("sh", "../../install.sh")
			cmd.Env = append(os.Environ(), "SOSGO_RELEASES="+server.URL, "SOSGO_BIN="+bin, "SOSGO_VERSION="+c.version, "no_proxy=127.0.0.1")
			out, err := cmd.CombinedOutput()
			if c.want == "" {
				require.NoError(t, err, string(out))
				assert.Contains(t, string(out), filepath.Join(bin, "sosgo")+": sosgo v1.2.3")
				return
			}
			assert.Error(t, err)
			assert.Contains(t, string(out), c.want)
			assert.NoFileExists(t, filepath.Join(bin, "sosgo"))
		})
	}
}
