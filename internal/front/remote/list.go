package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a listing.
const (
	mostListing = 16 << 20  // bytes of a response, which has at most a thousand objects
	mostObjects = 1_000_000 // of one listing
	mostAnswers = 10_000    // of one listing: one may have fewer objects than were asked for
	mostSparse  = 100       // answers of a listing besides one for each leastDense objects
	leastDense  = 10        // objects
	listingTime = 10        // times the longest time of one answer
	longestKey  = 1024      // bytes, by S3's rules
	longestETag = 256       // bytes; S3's have under 50
)

// An Object is an object of a bucket.
type Object struct {
	Address  string // s3://BUCKET/KEY
	Size     int64
	Modified time.Time
	ETag     string
}

// A Listing is what a server lists at an address.
type Listing struct {
	Objects []Object // in the server's order
	Odd     int      // keys that were left out: they are no keys of S3, or not below the address
	Why     error    // the reason for the first of them
}

// List returns the objects at an address s3://BUCKET/PREFIX. It returns at most a million objects, with an error if there are more. It leaves out names
// that end with a slash, which stand for folders, names that the server repeats, and odd ones. If all are odd, it fails.
func List(address string, o Options) (Listing, error) {
	l, err := listAll(address, o)
	if err == nil && l.Odd > 0 && len(l.Objects) == 0 {
		err = &Error{Name(address), fmt.Errorf("%w: the server can't be trusted", l.Why)}
	}
	return l, err
}

// odd returns why a listed key is left out: requests for the keys of a listing are signed.
func odd(key, etag, prefix string) error {
	switch {
	case key == "" || len(key) > longestKey || len(etag) > longestETag:
		return fmt.Errorf("the listing has a key of %d bytes with an ETag of %d: that is no object of S3", len(key), len(etag))
	case strings.ContainsRune(key, utf8.RuneError):
		return fmt.Errorf("the listing has the key %.200q, with a character that XML can't have", key)
	case !isBelow(key, prefix):
		return fmt.Errorf("the listing has the key %.200q, which is not below the address", key)
	}
	return nil
}

func listAll(address string, o Options) (out Listing, err error) {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Scheme, "s3") {
		return out, &Error{Name(address), errors.New("it is not s3://BUCKET/PREFIX")}
	}
	f := &File{o: o, name: Name(address), slots: make(chan struct{}, 1)}
	if f.o.wait == nil {
		f.o.wait = wait
	}
	if f.o.now == nil {
		f.o.now = time.Now
	}
	prefix := strings.TrimPrefix(u.Path, "/")
	if err := f.reach("s3://" + u.Host + "/."); err != nil { // a key that stands for the bucket
		return out, &Error{f.name, err}
	}
	base, err := f.request()
	if err != nil {
		return out, &Error{f.name, err}
	}
	path := strings.TrimSuffix(base.URL.Path, ".")
	known := map[string]bool{}
	token := ""
	ctx, cancel := context.WithTimeout(f.context(), listingTime*cmp.Or(o.patience, mostTime))
	defer cancel()
	for answers := range mostAnswers {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		page, err := f.listing(ctx, path, query)
		if err != nil && ctx.Err() != nil && f.context().Err() == nil {
			err = fmt.Errorf("the listing does not end: %d objects until now", len(out.Objects))
		}
		if err != nil {
			return out, &Error{f.name, err}
		}
		for _, c := range page.Contents {
			if why := odd(c.Key, c.ETag, prefix); why != nil {
				out.Odd, out.Why = out.Odd+1, cmp.Or(out.Why, why)
				continue
			}
			if !strings.HasSuffix(c.Key, "/") && !known[c.Key] {
				known[c.Key] = true
				out.Objects = append(out.Objects, Object{"s3://" + u.Host + "/" + inPath(c.Key), c.Size, c.LastModified, c.ETag})
			}
		}
		before := token
		switch token = page.NextContinuationToken; {
		case !page.IsTruncated:
			return out, nil
		case token == "":
			return out, &Error{f.name, errors.New("the listing is cut: the server sends no token for the rest")}
		case len(out.Objects) > mostObjects:
			return out, &Error{f.name, fmt.Errorf("more than %d objects", mostObjects)}
		case token == before:
			return out, &Error{f.name, errors.New("the listing does not go on: the server sends the same token again")}
		case answers > mostSparse+len(out.Objects)/leastDense:
			return out, &Error{f.name, fmt.Errorf("the listing does not go on: %d answers have %d objects", answers, len(out.Objects))}
		}
	}
	return out, &Error{f.name, fmt.Errorf("more than %d answers", mostAnswers)}
}

// isBelow reports whether a key is among those that a listing of a prefix may have, also where a server on the way resolves its dots: requests
// for the listed keys are signed.
func isBelow(key, prefix string) bool {
	rest, found := strings.CutPrefix(key, prefix)
	if !found {
		return false
	}
	depth := 0
	for i, segment := range strings.Split(rest, "/") {
		switch whole := i > 0 || prefix == "" || strings.HasSuffix(prefix, "/"); {
		case segment == "..":
			depth--
		case whole && segment != "" && segment != ".":
			depth++
		}
		if depth < 0 {
			return false
		}
	}
	return true
}

// inPath escapes the characters of a key that do not stand for themselves in the path of an address, and those that an address can't have.
func inPath(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c < ' ' || c == 0x7f || strings.IndexByte("%?#", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// A listPage is an answer of ListObjectsV2 (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
type listPage struct {
	XMLName  xml.Name `xml:"ListBucketResult"` // a login page, for example, is no empty listing
	Contents []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	IsTruncated           bool
	NextContinuationToken string
}

// listing requests a page of a listing, with retries.
func (f *File) listing(ctx context.Context, path string, query url.Values) (listPage, error) {
	return retried(ctx, &f.o, func(ctx context.Context) (listPage, time.Duration, error) { return f.listOnce(ctx, path, query) })
}

func (f *File) listOnce(ctx context.Context, path string, query url.Values) (out listPage, after time.Duration, err error) {
	r, err := f.request()
	if err != nil {
		return out, 0, final{err}
	}
	r = r.WithContext(ctx)
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, "", strings.ReplaceAll(query.Encode(), "+", "%20")
	r.Header.Set("User-Agent", "sosgo")
	if f.sign != nil {
		if err := f.sign(r); err != nil {
			return out, 0, final{err}
		}
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return out, 0, lasting(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return out, retryAfter(resp), f.refused(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostListing+1))
	switch {
	case err != nil:
		return out, 0, err
	case len(body) > mostListing:
		return out, 0, final{fmt.Errorf("an answer of more than %d bytes", mostListing)}
	}
	if err := xml.Unmarshal(legible(body), &out); err != nil {
		return out, 0, final{fmt.Errorf("the answer is no listing: %.200s", err.Error())}
	}
	return out, 0, nil
}

// reference is a reference to a character of XML by its number.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`&#(?:x[0-9A-Fa-f]+|[0-9]+);`) })

// legible returns XML with U+FFFD in place of the characters that XML can't have (XML 1.0, 2.2). S3 allows them in keys, and refers to them all the same: one
// such key must not make the others unreadable.
func legible(text []byte) []byte {
	allowed := func(r rune) bool {
		return r >= ' ' && r != 0xfffe && r != 0xffff || r == '\t' || r == '\n' || r == '\r'
	}
	text = reference().ReplaceAllFunc(text, func(ref []byte) []byte {
		digits, base := string(ref[2:len(ref)-1]), 10
		if digits[0] == 'x' {
			digits, base = digits[1:], 16
		}
		if n, err := strconv.ParseUint(digits, base, 32); err == nil && n <= unicode.MaxRune && allowed(rune(n)) && utf8.ValidRune(rune(n)) {
			return ref
		}
		return []byte(string(utf8.RuneError))
	})
	return bytes.Map(func(r rune) rune { // which makes bytes that are no UTF-8 U+FFFD
		if allowed(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}
