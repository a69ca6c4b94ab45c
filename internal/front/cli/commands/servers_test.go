package commands_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// Tests with the real servers that .ci/run servers installs: the system's nginx, and the versitygw named by
// VERSITYGW.

// aServer starts a program and waits until it listens at address. The program ends with the test.
func aServer(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 20*time.Second, 50*time.Millisecond, "%v does not listen", cmd.Args)
}

// freeAddress returns an unused local address.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// sameAsFile compares the answers for a dump at an address with the answers for its file.
func sameAsFile(t *testing.T, file, address string) {
	t.Helper()
	for _, line := range [][]string{{"-c", "crashinfo", "-c", "clrstack -all", "-c", "clrthreads"}, {"dumpheap", "-stat"}, {"triage"}} {
		want, _, code := sosgoAt(t, "", append([]string{"-d", file}, line...)...)
		got, errs, codeThere := sosgoAt(t, "", append([]string{"-d", address}, line...)...)
		assert.Equal(t, code, codeThere, errs)
		assert.Equal(t, want, got, line)
	}
}

// aCore writes a dump to a file that servers can read.
func aCore(t *testing.T, dir string) string {
	t.Helper()
	raw, err := testdump.Open(t, "net10-crash-nested").Raw()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	file := filepath.Join(dir, "core")
	require.NoError(t, os.WriteFile(file, raw, 0o644))
	return file
}

// TestNginx reads a dump from nginx, and again after the file has changed.
func TestNginx(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx = "/usr/sbin/nginx"; !exists(nginx) {
			t.Skip("nginx is not here: apt-get install nginx-light")
		}
	}
	dir := t.TempDir()
	file := aCore(t, filepath.Join(dir, "www"))
	address := freeAddress(t)
	conf := filepath.Join(dir, "nginx.conf")
	settings := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/errors; events {} http { access_log %[1]s/requests; ", dir)
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		settings += fmt.Sprintf("%s_temp_path %s/%s; ", kind, dir, kind)
	}
	settings += fmt.Sprintf("server { listen %s; root %s/www; } }\n", address, dir)
	require.NoError(t, os.WriteFile(conf, []byte(settings), 0o600))
	aServer(t, address, exec.Command(nginx, "-e", filepath.Join(dir, "errors"), "-p", dir, "-c", conf))
	sameAsFile(t, file, "http://"+address+"/core")
	requests, err := os.ReadFile(filepath.Join(dir, "requests"))
	require.NoError(t, err)
	assert.Contains(t, string(requests), " 206 ", "nginx was asked for parts")
	_, errs, code := sosgoAt(t, "", "-d", "http://"+address+"/none", "crashinfo")
	assert.Equal(t, cli.ExitOpen, code)
	assert.Contains(t, errs, "404")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestVersityGW reads a dump from an S3 server that verifies signatures.
func TestVersityGW(t *testing.T) {
	gateway := os.Getenv("VERSITYGW")
	if gateway == "" {
		t.Skip("VERSITYGW names no program: go install github.com/versity/versitygw/cmd/versitygw@latest")
	}
	dir := t.TempDir()
	file := aCore(t, filepath.Join(dir, "dumps"))
	address := freeAddress(t)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "a secret", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_S3": "http://" + address, "AWS_SESSION_TOKEN": ""} {
		t.Setenv(name, value)
	}
	cmd := exec.Command(gateway, "--port", address, "--access", "reader", "--secret", "a secret", "--region", "us-east-1", "posix", "--nometa", dir)
	cmd.Dir = dir
	aServer(t, address, cmd)
	sameAsFile(t, file, "s3://dumps/core")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	_, errs, code := sosgoAt(t, "", "-d", "s3://dumps/core", "crashinfo")
	assert.Equal(t, cli.ExitOpen, code)
	assert.Contains(t, errs, "403")
}
