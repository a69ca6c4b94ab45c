package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	answers "github.com/sosgo/sosgo/answer"
)

// signed reports whether a request has a valid AWS Signature Version 4 for eu-west-3.
func signed(r *http.Request, secret string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	part := map[string]string{}
	for _, p := range strings.Split(given, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		part[k] = v
	}
	scope := strings.SplitN(part["Credential"], "/", 2)
	when, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if !ok || len(scope) != 2 || scope[0] != "id" || err != nil || time.Since(when).Abs() > 15*time.Minute || scope[1] != when.Format("20060102")+"/eu-west-3/s3/aws4_request" {
		return false
	}
	names := strings.Split(part["SignedHeaders"], ";")
	if !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") {
		return false
	}
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	var query []string
	for k, list := range r.URL.Query() {
		for _, v := range list {
			query = append(query, strings.ReplaceAll(url.QueryEscape(k)+"="+url.QueryEscape(v), "+", "%20"))
		}
	}
	slices.Sort(query)
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.Join(query, "&"), headers.String(), part["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secret)
	for _, text := range append(strings.Split(scope[1], "/"), strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope[1], hex.EncodeToString(sum[:])}, "\n")) {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		key = m.Sum(nil)
	}
	return hex.EncodeToString(key) == part["Signature"]
}

// A store is a bucket that lists two objects at a time.
type store struct {
	objects map[string][]byte
	mu      sync.Mutex
	gets    map[string]int // number of reads by key
	lists   int
	refused int
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := strings.CutPrefix(r.URL.Path, "/bucket/")
	if !ok || !signed(r, "secret") {
		s.refused++
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if key != "" {
		s.gets[key]++
		b, ok := s.objects[key]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", tag(b))
		http.ServeContent(w, r, "", time.Unix(1_795_600_000, 0), bytes.NewReader(b))
		return
	}
	s.lists++
	type object struct {
		Key, LastModified, ETag string
		Size                    int
	}
	var list struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []object
	}
	q := r.URL.Query()
	var keys []string
	for k := range s.objects {
		if strings.HasPrefix(k, q.Get("prefix")) && k > q.Get("continuation-token") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if list.IsTruncated = len(keys) > 2; list.IsTruncated {
		keys = keys[:2]
		list.NextContinuationToken = keys[1]
	}
	for _, k := range keys {
		list.Contents = append(list.Contents, object{k, "2026-11-25T10:00:00.000Z", tag(s.objects[k]), len(s.objects[k])})
	}
	_ = xml.NewEncoder(w).Encode(list)
}

func tag(b []byte) string { return fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(b)))[:34] + `"` }

// TestFleetOfStore checks that fleet add reads the objects below a prefix of an S3-compatible store with signed
// requests. A second run reads only the changed dump. Objects that are not dumps are counted, and truncated ones are
// not retried.
func TestFleetOfStore(t *testing.T) {
	const n = 3
	folder, fleet := t.TempDir(), filepath.Join(t.TempDir(), "fleet")
	fleetDumps(t, folder, n+1)
	s := &store{objects: map[string][]byte{"other/d.dmp": nil, "cores/cut.dmp": []byte("MDMP, and no more"), "cores/notes.txt": []byte("about them")}, gets: map[string]int{}}
	var dumps [][]byte
	for i := range n + 1 {
		b, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("d%02d.dmp", i)))
		require.NoError(t, err)
		dumps = append(dumps, b)
	}
	names := []string{"cores/one.dmp", "cores/a b+c/two.dmp", "cores/ü/three.dmp"}
	for i, name := range names {
		s.objects[name] = dumps[i]
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	program, err := os.Executable()
	require.NoError(t, err)
	add := func(secret string) (done answers.FleetDone, errs string, err error) {
		c := exec.Command(program, "--json", "fleet", "add", fleet, "s3://bucket/cores/", "--processes", "2", "--label", "service=shop")
		c.Env = append(os.Environ(), asProgram+"=1", "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION=eu-west-3", "AWS_SESSION_TOKEN=", "SOSGO_TOKEN=")
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		err = c.Run()
		var d struct{ Result answers.FleetDone }
		require.NoError(t, json.Unmarshal(out.Bytes(), &d), "%s%s", out.Bytes(), said.Bytes())
		return d.Result, said.String(), err
	}
	_, errs, err := add("another")
	require.Error(t, err)
	assert.Contains(t, errs, "403")
	assert.Empty(t, s.gets)

	s.refused = 0
	done, errs, err := add("secret")
	require.NoError(t, err, errs)
	require.NotNil(t, done.Added, errs)
	assert.Equal(t, fmt.Sprint(n, 0, 1), fmt.Sprint(done.Added.Added, done.Added.Present, len(done.Added.Failures)), errs)
	assert.Equal(t, "s3://bucket/cores/cut.dmp", done.Added.Failures[0].File)
	assert.Zero(t, s.refused)
	assert.Equal(t, 3, s.lists)
	assert.Equal(t, 1, done.Added.Others)
	assert.Equal(t, 1, done.Added.Failures[0].Tries, "what is cut stays cut")
	assert.Zero(t, s.gets["other/d.dmp"])
	parts, err := filepath.Glob(filepath.Join(fleet, "date=*", "part=*"))
	require.NoError(t, err)
	assert.Len(t, parts, n)
	out, errs, code := run(t, "signature", "test", filepath.Join(moduleRoot, "internal", "app", "signature", "default.rules"), fleet)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "0 get another signature")

	clear(s.gets)
	s.objects["cores/one.dmp"] = dumps[n]
	done, errs, err = add("secret")
	require.NoError(t, err, errs)
	assert.Equal(t, fmt.Sprint(1, n-1, 1), fmt.Sprint(done.Added.Added, done.Added.Present, done.Added.Before), errs)
	assert.NotZero(t, s.gets["cores/one.dmp"])
	assert.Zero(t, s.gets["cores/cut.dmp"]+s.gets["cores/a b+c/two.dmp"])
}

// TestFleetOfLongListing: when the time for objects without the name of a dump is up, the dumps by their names are added, the rest is counted, and the
// command fails.
func TestFleetOfLongListing(t *testing.T) {
	folder := t.TempDir()
	fleetDumps(t, folder, 1)
	b, err := os.ReadFile(filepath.Join(folder, "d00.dmp"))
	require.NoError(t, err)
	s := &store{objects: map[string][]byte{"cores/x.dmp": b}, gets: map[string]int{}}
	for i := range 9 {
		s.objects[fmt.Sprintf("cores/%d.txt", i)] = []byte("about them")
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(program, "--json", "fleet", "add", filepath.Join(t.TempDir(), "fleet"), "s3://bucket/cores/")
	c.Env = append(os.Environ(), asProgram+"=1", shortPatience+"=1", "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=eu-west-3",
		"AWS_SESSION_TOKEN=", "SOSGO_TOKEN=")
	out, err := c.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	assert.Equal(t, 2, exit.ExitCode(), "%s", out)
	var said struct{ Result answers.FleetDone }
	require.NoError(t, json.Unmarshal(out, &said), "%s", out)
	added := said.Result.Added
	require.NotNil(t, added)
	assert.Equal(t, "1 1 1 1", fmt.Sprint(added.Added, added.Others, added.Retry, len(added.Failures)), "%s", out)
	require.Len(t, added.Failures, 1)
	assert.Equal(t, "s3://bucket/cores/", added.Failures[0].File)
	assert.Contains(t, added.Failures[0].Reason, "8 objects of the listing without the name of a dump were not looked at")
	assert.NotZero(t, s.gets["cores/0.txt"])
	assert.Zero(t, s.gets["cores/1.txt"])
}

// TestFleetOfOddKeys: an object with a key that leads out of the address is left out and said. The others are added.
func TestFleetOfOddKeys(t *testing.T) {
	folder := t.TempDir()
	fleetDumps(t, folder, 1)
	b, err := os.ReadFile(filepath.Join(folder, "d00.dmp"))
	require.NoError(t, err)
	s := &store{objects: map[string][]byte{"cores/../a.dmp": b, "cores/x.dmp": b, "cores/z/../../y.dmp": b}, gets: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(program, "--json", "fleet", "add", filepath.Join(t.TempDir(), "fleet"), "s3://bucket/cores/")
	c.Env = append(os.Environ(), asProgram+"=1", "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=eu-west-3", "AWS_SESSION_TOKEN=", "SOSGO_TOKEN=")
	out, err := c.Output()
	require.NoError(t, err, "%s", out)
	var said struct{ Result answers.FleetDone }
	require.NoError(t, json.Unmarshal(out, &said), "%s", out)
	added := said.Result.Added
	require.NotNil(t, added)
	assert.Equal(t, 1, added.Added, "%s", out)
	require.Len(t, added.Failures, 1, "%s", out)
	assert.Equal(t, "s3://bucket/cores/", added.Failures[0].File)
	assert.Equal(t, `2 objects of the listing are left out: the listing has the key "cores/../a.dmp", which is not below the address`, added.Failures[0].Reason)
	assert.Zero(t, s.gets["a.dmp"]+s.gets["y.dmp"]+s.refused)
}
