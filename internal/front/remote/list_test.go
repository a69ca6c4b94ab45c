package remote

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestList: a listing is followed from page to page, tried again where the server fails, and signed with its query.
func TestList(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-3"}
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		given := r.Header.Get("Authorization")
		again := r.Clone(r.Context())
		again.URL.Host = r.Host
		(&keys{"id", "secret", "", "eu-west-3"}).sign(again, at)
		q := r.URL.Query()
		switch {
		case given != again.Header.Get("Authorization") || r.URL.Path != "/bucket/" || q.Get("prefix") != "a b/" || q.Get("list-type") != "2":
			w.WriteHeader(http.StatusForbidden)
		case requests == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case q.Get("continuation-token") == "":
			fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated><NextContinuationToken>n+x/1=</NextContinuationToken>
				<Contents><Key>a b/</Key><Size>0</Size></Contents>
				<Contents><Key>a b/one.dmp</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"e"</ETag><Size>7</Size></Contents></ListBucketResult>`)
		case q.Get("continuation-token") == "n+x/1=":
			fmt.Fprint(w, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a b/two.dmp</Key><Size>8</Size></Contents></ListBucketResult>`)
		}
	}))
	defer s.Close()
	env["AWS_ENDPOINT_URL"] = s.URL
	o := quick()
	o.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	o.now = func() time.Time { return at }
	list, err := List("s3://bucket/a b/", o)
	require.NoError(t, err)
	assert.Equal(t, []Object{{"s3://bucket/a b/one.dmp", 7, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), `"e"`}, {Address: "s3://bucket/a b/two.dmp", Size: 8}}, list.Objects)
	assert.Equal(t, 3, requests)

	env["AWS_SECRET_ACCESS_KEY"] = "another"
	_, err = List("s3://bucket/a b/", o)
	require.ErrorContains(t, err, "403")
	_, err = List("https://bucket/a", o)
	require.ErrorContains(t, err, "not s3://BUCKET/PREFIX")
}

// TestListing: an answer that is no listing, or none at all, is an error.
func TestListing(t *testing.T) {
	status, body := http.StatusOK, "no listing"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	o := quick()
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	_, err := List("s3://bucket", o)
	require.ErrorContains(t, err, "no listing")
	body = `<html><body>Please log in.</body></html>`
	_, err = List("s3://bucket", o)
	require.ErrorContains(t, err, "no listing")
	body = `<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>`
	_, err = List("s3://bucket", o)
	require.ErrorContains(t, err, "cut")
	body = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken></ListBucketResult>`
	_, err = List("s3://bucket", o)
	require.ErrorContains(t, err, "same token")
	for _, object := range []string{"<Key>" + strings.Repeat("k", 2000) + "</Key>", "<Key>k</Key><ETag>" + strings.Repeat("e", 2000) + "</ETag>"} {
		body = "<ListBucketResult><Contents>" + object + "</Contents></ListBucketResult>"
		_, err = List("s3://bucket", o)
		require.ErrorContains(t, err, "no object of S3")
	}
	body = "<" + strings.Repeat("a", 1<<20) + "></" + strings.Repeat("a", 1<<20) + ">"
	_, err = List("s3://bucket", o)
	require.ErrorContains(t, err, "no listing")
	assert.Less(t, len(err.Error()), 1000)
	status = http.StatusBadGateway
	_, err = List("s3://bucket", o)
	require.ErrorContains(t, err, "tried 5 times")
}

// TestKeys: the address of each listed object leads to it, whatever characters its key has.
func TestKeys(t *testing.T) {
	keys := []string{"a b.dmp", "a%20b.dmp", "what?.dmp", "c#1.dmp", "100%.dmp", "é+&=.dmp", "up/../up.dmp", "/slash.dmp", "line\nfeed.dmp"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			fmt.Fprint(w, "<ListBucketResult>")
			for _, k := range keys {
				fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", strings.ReplaceAll(html.EscapeString(k), "\n", "&#10;"))
			}
			fmt.Fprint(w, "</ListBucketResult>")
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(strings.TrimPrefix(r.URL.Path, "/bucket/")))
	}))
	defer s.Close()
	o := quick()
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	list, err := List("s3://bucket", o)
	require.NoError(t, err)
	require.Len(t, list.Objects, len(keys))
	for i, key := range keys {
		f, err := Open(list.Objects[i].Address, o)
		require.NoError(t, err, key)
		got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		assert.Equal(t, key, string(got))
	}
}

// TestSlowListing: a listing of slow answers without end has an end.
func TestSlowListing(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", n.Add(1))
	}))
	defer s.Close()
	o := quick()
	o.patience = 100 * time.Millisecond
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	_, err := List("s3://bucket", o)
	require.Error(t, err)
	assert.Less(t, n.Load(), int64(25))
}

// TestLyingListing: keys outside of the address that was asked for are an error, and nothing is requested of them. Requests are signed.
func TestLyingListing(t *testing.T) {
	key := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.True(t, r.URL.Query().Has("list-type"))
		fmt.Fprintf(w, "<ListBucketResult><Contents><Key>%s</Key></Contents></ListBucketResult>", key)
	}))
	defer s.Close()
	o := quick()
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	for _, c := range []struct {
		address, key string
		below        bool
	}{
		{"s3://bucket/p/", "p/one.dmp", true},
		{"s3://bucket/p/", "p/a/../one.dmp", true},
		{"s3://bucket/p/", "p/..one.dmp", true},
		{"s3://bucket/p", "pone/one.dmp", true},
		{"s3://bucket/p/", "other/elsewhere.dmp", false},
		{"s3://bucket/p/", "/etc/passwd", false},
		{"s3://bucket/p/", "../../../etc/passwd", false},
		{"s3://bucket/p/", "p/../other.dmp", false},
		{"s3://bucket/p/", "p/a/../../other.dmp", false},
		{"s3://bucket/p/", "p/./../other.dmp", false},
		{"s3://bucket/p", "pone/../other.dmp", false},
		{"s3://bucket", "../another/one.dmp", false},
		{"s3://bucket", "", false},
	} {
		key = c.key
		list, err := List(c.address, o)
		if c.below {
			require.NoError(t, err, c.key)
			assert.Len(t, list.Objects, 1, c.key)
			assert.Zero(t, list.Odd)
			continue
		}
		require.Error(t, err, c.key)
		assert.Empty(t, list.Objects, c.key)
		assert.Equal(t, 1, list.Odd)
	}
}

// TestOddKeys: a listing leaves out and counts empty and long keys, and those that are not below the address. It has the others.
func TestOddKeys(t *testing.T) {
	long := strings.Repeat("k", longestKey)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.True(t, r.URL.Query().Has("list-type"))
		fmt.Fprint(w, "<ListBucketResult>")
		for _, key := range []string{"p/one.dmp", "p/../two.dmp", "", "p/three.dmp", "../../etc/passwd", "p/" + long, "p/&#x1;.dmp", "p/&#0000000000000000000007;", "p/\x02", "p/\xff", "p/&#xD800;", "p/four&#46;dmp"} {
			fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
		}
		fmt.Fprint(w, "</ListBucketResult>")
	}))
	defer s.Close()
	o := quick()
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	list, err := List("s3://bucket/p/", o)
	require.NoError(t, err)
	var names []string
	for _, object := range list.Objects {
		names = append(names, object.Address)
	}
	assert.Equal(t, []string{"s3://bucket/p/one.dmp", "s3://bucket/p/three.dmp", "s3://bucket/p/four.dmp"}, names)
	assert.Equal(t, 9, list.Odd)
	assert.ErrorContains(t, list.Why, `"p/../two.dmp"`)
}

// TestEndlessListing: a listing that goes on without objects, or with hardly any, has an end.
func TestEndlessListing(t *testing.T) {
	for _, object := range []string{"", "<Contents><Key>%d.dmp</Key></Contents>"} {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n++
			fmt.Fprintf(w, "<ListBucketResult>"+object+"<IsTruncated>true</IsTruncated><NextContinuationToken>%[1]d</NextContinuationToken></ListBucketResult>", n)
		}))
		defer s.Close()
		o := quick()
		o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
		_, err := List("s3://bucket", o)
		require.ErrorContains(t, err, "does not go on")
		assert.Less(t, n, 200)
	}
}

// TestRepeatedKeys: an object that a listing repeats, on a page or on several, is one object.
func TestRepeatedKeys(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := n.Add(1)
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%t</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", page < 3, page,
			strings.Repeat("<Contents><Key>one.dmp</Key></Contents>", 500))
	}))
	defer s.Close()
	o := quick()
	o.Env = func(name string) (string, bool) { return s.URL, name == "AWS_ENDPOINT_URL" }
	list, err := List("s3://bucket", o)
	require.NoError(t, err)
	require.Len(t, list.Objects, 1)
	assert.Equal(t, "s3://bucket/one.dmp", list.Objects[0].Address)
	assert.Equal(t, int64(3), n.Load())
}
