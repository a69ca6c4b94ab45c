package remote

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/base/webclient"
)

const (
	atOnce      = 8 // concurrent requests
	tries       = 5
	firstWait   = 200 * time.Millisecond // before the second try; doubles each time
	longestWait = 10 * time.Second       // requested by a server
	mostTime    = 2 * time.Minute        // for a part of the file, with all tries
	maxMessage  = 4 << 10                // bytes of an error's body
	mostCA      = 16 << 20               // bytes of a file of certificates
)

// reach determines how to request the address.
func (f *File) reach(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("this is no address")
	}
	if strings.EqualFold(u.Scheme, "s3") {
		if u, err = f.bucket(u); err != nil {
			return err
		}
	} else if token := f.env("SOSGO_TOKEN"); token != "" {
		if u.Scheme != "https" && !loopback(u.Hostname()) {
			return errors.New("SOSGO_TOKEN is sent over https alone")
		}
		f.sign = func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}
	}
	if u.Host == "" {
		return errors.New("the address has no host")
	}
	f.request = func() (*http.Request, error) { return http.NewRequest(http.MethodGet, u.String(), http.NoBody) }
	roots, err := f.roots()
	if err != nil {
		return err
	}
	f.client = webclient.New(webclient.Options{Roots: roots, Connections: atOnce, Exact: true, Others: func(_, to *url.URL) error {
		if f.o.Redirects {
			return nil
		}
		return fmt.Errorf("it redirects to another host, %.300s, which --remote-redirects allows", to.Host)
	}})
	return nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// roots returns the trusted authorities; nil means the system's.
func (f *File) roots() (*x509.CertPool, error) {
	if f.o.CA == "" {
		return nil, nil
	}
	file, err := os.Open(f.o.CA)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	pem, err := io.ReadAll(io.LimitReader(file, mostCA+1))
	if err != nil {
		return nil, err
	}
	if len(pem) > mostCA {
		return nil, fmt.Errorf("%s has more than %d bytes of certificates", f.o.CA, mostCA)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", f.o.CA)
	}
	return pool, nil
}

// A final error must not be retried.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// fetch reads n bytes of the file from off on. The first call learns the size and may return less. After the file is
// lost, it fails at once, so that a reader does not wait for each of its requests.
func (f *File) fetch(off, n int64) ([]byte, error) {
	f.slots <- struct{}{}
	defer func() { <-f.slots }()
	if err := f.lost.Load(); err != nil {
		return nil, *err
	}
	ctx := f.context()
	data, err := f.persist(ctx, off, n)
	if err != nil && ctx.Err() == nil {
		f.lost.CompareAndSwap(nil, &err)
	}
	return data, err
}

// persist reads n bytes from off on, with retries.
func (f *File) persist(ctx context.Context, off, n int64) ([]byte, error) {
	return retried(ctx, &f.o, func(ctx context.Context) ([]byte, time.Duration, error) { return f.try(ctx, off, n) })
}

// retried calls once, which sends a request, until it succeeds, fails for good or has taken too long in all. once also
// returns how long the server asks to wait.
func retried[T any](ctx context.Context, o *Options, once func(context.Context) (T, time.Duration, error)) (out T, err error) {
	pause, deadline := firstWait, time.Now().Add(cmp.Or(o.patience, mostTime))
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for try := 1; ; try++ {
		result, after, err := once(limited)
		if err == nil {
			return result, nil
		}
		var never final
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case errors.As(err, &never):
			return out, never.error
		case try == tries, !time.Now().Add(pause).Before(deadline):
			return out, fmt.Errorf("%w (tried %d times)", webclient.WithoutAddress(err), try)
		}
		if err := o.wait(ctx, min(max(after, pause), longestWait)); err != nil {
			return out, err
		}
		pause *= 2
	}
}

// try sends one request. after is the time that the server asks to wait.
func (f *File) try(ctx context.Context, off, n int64) (data []byte, after time.Duration, err error) {
	r, err := f.request()
	if err != nil {
		return nil, 0, final{errors.New("this is no address")}
	}
	r = r.WithContext(ctx)
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "sosgo")
	if f.etag != "" && !strings.HasPrefix(f.etag, "W/") {
		r.Header.Set("If-Match", f.etag)
	}
	if f.sign != nil {
		if err := f.sign(r); err != nil {
			return nil, 0, final{err}
		}
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, 0, lasting(err)
	}
	defer resp.Body.Close()
	f.mu.Lock()
	f.stats.Requests++
	f.mu.Unlock()
	if resp.StatusCode != http.StatusPartialContent {
		return nil, retryAfter(resp), f.refused(resp)
	}
	length, err := f.check(resp, off, n)
	if err != nil {
		return nil, 0, err
	}
	data = make([]byte, length)
	got, err := io.ReadFull(resp.Body, data)
	f.mu.Lock()
	f.stats.Bytes += int64(got)
	f.mu.Unlock()
	if err != nil {
		return nil, 0, fmt.Errorf("the answer has %d of %d bytes: %w", got, length, err)
	}
	switch more, err := io.ReadFull(resp.Body, make([]byte, 1)); {
	case more > 0:
		return nil, 0, fmt.Errorf("the answer has more than %d bytes", length)
	case err != io.EOF: // a server that never ends its answers would take the whole time for each
		return nil, 0, fmt.Errorf("the answer does not end after %d bytes: %w", length, err)
	}
	return data, 0, nil
}

// lasting marks errors that a retry cannot fix: certificates and refused redirects.
func lasting(err error) error {
	var refused *webclient.RedirectError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused):
		return final{refused}
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &dns) && dns.IsNotFound:
		return final{webclient.WithoutAddress(err)}
	}
	return err
}

// refused returns the error of a response without a part of the file.
func (f *File) refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	code := codeOf(string(body))
	err := statusError(resp.StatusCode, code)
	switch s := resp.StatusCode; {
	case s == http.StatusOK:
		return final{errors.New("the server does not serve parts of the file: download it")}
	case s == http.StatusPreconditionFailed, s == http.StatusRequestedRangeNotSatisfiable && f.size > 0:
		return final{ErrChanged}
	case s == http.StatusRequestedRangeNotSatisfiable && resp.Header.Get("Content-Range") == "bytes */0":
		return final{errors.New("the file is empty")}
	case s == http.StatusRequestedRangeNotSatisfiable:
		return final{fmt.Errorf("%w: it has no part at the begin of the file, which may be empty", err)}
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500 && s != http.StatusNotImplemented:
		return err
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return final{fmt.Errorf("%w: %s", err, credentials)}
	}
	return final{err}
}

const credentials = "SOSGO_TOKEN (https) or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (s3) let sosgo in; a signature in an address may be out of date"

// codeOf returns the code in an S3 error document, or "".
func codeOf(body string) string {
	_, rest, _ := strings.Cut(body, "<Code>")
	code, _, found := strings.Cut(rest, "</Code>")
	if !found || strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return code
}

func retryAfter(resp *http.Response) time.Duration {
	s, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return min(time.Duration(s)*time.Second, longestWait)
}

// mostSize is the greatest size of a file: more than any store allows, and far from the greatest int64.
const mostSize = 1 << 56

// check compares a response's header with the request and with the file as opened. It returns the length of the body.
func (f *File) check(resp *http.Response, off, n int64) (int64, error) {
	var from, to, size int64
	text := resp.Header.Get("Content-Range")
	if m, err := fmt.Sscanf(text, "bytes %d-%d/%d", &from, &to, &size); err != nil || m != 3 || fmt.Sprintf("bytes %d-%d/%d", from, to, size) != text {
		return 0, fmt.Errorf("the answer does not say which part of the file it is")
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return 0, final{fmt.Errorf("the server sends the file in another encoding, %.100q", e)}
	}
	etag, modified := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	f.mu.Lock()
	defer f.mu.Unlock()
	if size < 0 || size > mostSize {
		return 0, final{fmt.Errorf("the server says that the file has %d bytes", size)}
	}
	if f.size == 0 && size > 0 {
		f.size, f.etag, f.modified = size, etag, modified
	}
	want := min(n, f.size-off)
	switch {
	case size != f.size, etag != f.etag, etag == "" && modified != f.modified:
		return 0, final{ErrChanged}
	case from != off || to-from+1 != want:
		return 0, fmt.Errorf("the server answers with bytes %d to %d of those asked for, %d to %d", from, to, off, off+want-1)
	case resp.ContentLength >= 0 && resp.ContentLength != want:
		return 0, fmt.Errorf("the answer has %d bytes and says that it has %d", resp.ContentLength, want)
	}
	return want, nil
}

// bucket returns the address of an S3 object, and enables signing if there are credentials.
func (f *File) bucket(u *url.URL) (*url.URL, error) {
	key := strings.TrimPrefix(u.Path, "/")
	if u.Host == "" || key == "" || !regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$`).MatchString(u.Host) {
		return nil, errors.New("it is not s3://BUCKET/KEY")
	}
	region := cmp.Or(f.env("AWS_REGION"), f.env("AWS_DEFAULT_REGION"), "us-east-1")
	endpoint := cmp.Or(f.env("AWS_ENDPOINT_URL_S3"), f.env("AWS_ENDPOINT_URL"))
	host, path := "https://"+u.Host+".s3."+region+".amazonaws.com", "/"+key
	switch {
	case endpoint != "":
		host, path = strings.TrimSuffix(endpoint, "/"), "/"+u.Host+"/"+key
	case strings.Contains(u.Host, "."): // certificates do not match names with dots
		host, path = "https://s3."+region+".amazonaws.com", "/"+u.Host+"/"+key
	}
	out, err := url.Parse(host)
	if err != nil || out.Scheme != "https" && out.Scheme != "http" {
		return nil, errors.New("AWS_ENDPOINT_URL is no address of http or https")
	}
	out.Path += path
	out.RawPath = escapePath(out.Path)
	if k := (keys{f.env("AWS_ACCESS_KEY_ID"), f.env("AWS_SECRET_ACCESS_KEY"), f.env("AWS_SESSION_TOKEN"), region}); k.id != "" && k.secret != "" {
		f.sign = func(r *http.Request) error {
			k.sign(r, f.o.now())
			return nil
		}
	}
	return out, nil
}
