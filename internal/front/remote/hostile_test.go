package remote

import (
	"testing"
	"time"

	"github.com/sosgo/sosgo/internal/test/hostile"
)

// TestHostileServers runs all hostile behaviours against a dump at an address, one of S3, and a listing.
func TestHostileServers(t *testing.T) {
	options := func(url string) Options {
		env := map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
		o := quick()
		o.patience = 300 * time.Millisecond
		o.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		return o
	}
	open := func(address string, o Options) func() error {
		return func() error {
			f, err := Open(address, o)
			if err == nil { // the begin is as it should be
				_, err = f.ReadAt(make([]byte, 1), f.Size()-1)
			}
			return err
		}
	}
	t.Run("https", func(t *testing.T) {
		hostile.Attack(t, func(_ *testing.T, url string) func() error { return open(url+"/dump", options(url)) })
	})
	t.Run("s3", func(t *testing.T) {
		hostile.Attack(t, func(_ *testing.T, url string) func() error { return open("s3://bucket/dump", options(url)) })
	})
	t.Run("listing", func(t *testing.T) {
		hostile.Attack(t, func(_ *testing.T, url string) func() error {
			return func() error {
				_, err := List("s3://bucket/dumps/", options(url))
				return err
			}
		})
	})
}
