package crash

import (
	"errors"
	"testing"

	"github.com/sosgo/sosgo/target"
)

// FuzzRecord parses and describes the JSON that NativeAOT writes when it crashes.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version":"1.0.0","runtime_base":"0x1000","runtime_type":"2","reason":"1","thread":"0x10","message":"m","exception":{` +
		`"address":"0x10","hr":"0x80004003","message":"x","type":"T","stack":[{"ip":"0x1","module":"0x0","offset":"0x1","name":"M"}],"inner":[{"hr":"0"}]}}`))
	f.Add([]byte(`{"exception":{"inner":[{"inner":[{"inner":[null]}]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRecord(b)
		if err != nil {
			if !errors.Is(err, target.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		_ = describeRecord(r, []target.Module{{Base: 0x1000, Size: 0x1000, Path: "/app/a"}})
	})
}
