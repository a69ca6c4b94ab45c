package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of a listing.
const (
	mostListing = 16 << 20  // bytes of a response, which has at most a thousand objects
	mostObjects = 1_000_000 // of one listing
	mostAnswers = 10_000    // of one listing: one may have fewer objects than were asked for
)

// An Object is an object of a bucket.
type Object struct {
	Address  string // s3://BUCKET/KEY
	Size     int64
	Modified time.Time
	ETag     string
}

// List returns the objects at an address s3://BUCKET/PREFIX, in the server's order. It returns at most a million
// objects, with an error if there are more. It leaves out names that end with a slash, which stand for folders.
func List(address string, o Options) ([]Object, error) {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Scheme, "s3") {
		return nil, &Error{Name(address), errors.New("it is not s3://BUCKET/PREFIX")}
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
		return nil, &Error{f.name, err}
	}
	base, err := f.request()
	if err != nil {
		return nil, &Error{f.name, err}
	}
	path := strings.TrimSuffix(base.URL.Path, ".")
	var out []Object
	token := ""
	for range mostAnswers {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		page, err := f.listing(path, query)
		if err != nil {
			return out, &Error{f.name, err}
		}
		for _, c := range page.Contents {
			if !strings.HasSuffix(c.Key, "/") {
				out = append(out, Object{"s3://" + u.Host + "/" + c.Key, c.Size, c.LastModified, c.ETag})
			}
		}
		before := token
		switch token = page.NextContinuationToken; {
		case !page.IsTruncated || token == "":
			return out, nil
		case len(out) > mostObjects:
			return out, &Error{f.name, fmt.Errorf("more than %d objects", mostObjects)}
		case token == before:
			return out, &Error{f.name, errors.New("the listing does not go on: the server sends the same token again")}
		}
	}
	return out, &Error{f.name, fmt.Errorf("more than %d answers", mostAnswers)}
}

// A listPage is an answer of ListObjectsV2 (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
type listPage struct {
	Contents []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	IsTruncated           bool
	NextContinuationToken string
}

// listing requests a page of a listing, with retries.
func (f *File) listing(path string, query url.Values) (out listPage, err error) {
	ctx := f.context()
	pause := firstWait
	for try := 1; ; try++ {
		out, after, err := f.listOnce(ctx, path, query)
		var never final
		switch {
		case err == nil:
			return out, nil
		case ctx.Err() != nil:
			return out, ctx.Err()
		case errors.As(err, &never):
			return out, never.error
		case try == tries:
			return out, fmt.Errorf("%w (tried %d times)", withoutAddress(err), tries)
		}
		if err := f.o.wait(ctx, min(max(after, pause), longestWait)); err != nil {
			return out, err
		}
		pause *= 2
	}
}

func (f *File) listOnce(ctx context.Context, path string, query url.Values) (out listPage, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
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
	if err := xml.Unmarshal(body, &out); err != nil {
		return out, 0, final{fmt.Errorf("the answer is no listing: %w", err)}
	}
	return out, 0, nil
}
