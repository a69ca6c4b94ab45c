package remote

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// keys are the credentials of a user of S3.
type keys struct{ id, secret, session, region string }

// noBody is the SHA-256 of nothing.
const noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign signs a request without a body by Signature Version 4
// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
func (k *keys) sign(r *http.Request, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", noBody)
	if k.session != "" {
		r.Header.Set("X-Amz-Security-Token", k.session)
	}
	lines := []string{"host:" + r.URL.Host}
	for name, values := range r.Header {
		switch lower := strings.ToLower(name); {
		case lower == "range", lower == "if-match", strings.HasPrefix(lower, "x-amz-"):
			lines = append(lines, lower+":"+strings.TrimSpace(values[0]))
		}
	}
	slices.Sort(lines)
	var names []string
	for _, l := range lines {
		name, _, _ := strings.Cut(l, ":")
		names = append(names, name)
	}
	signed := strings.Join(names, ";")
	canonical := strings.Join([]string{r.Method, escapePath(r.URL.Path), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"), strings.Join(lines, "\n") + "\n", signed, noBody}, "\n")
	scope := day + "/" + k.region + "/s3/aws4_request"
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{day, k.region, "s3", "aws4_request"} {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", k.id, scope, signed, hex.EncodeToString(mac(key, text))))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// escapePath escapes a path as signatures have it: everything but letters, digits, - . _ ~ and /.
func escapePath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
