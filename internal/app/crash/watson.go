package crash

import (
	"github.com/sosgo/sosgo/target"
)

// WatsonBuckets returns why the answer has no parameters for grouping by Windows Error Reporting. It is always
// target.ErrUnsupported: only .NET on Windows collects them, and this package does not read them.
func WatsonBuckets(t target.Target) error {
	if t.Platform().OS != target.OSWindows {
		return target.Unsupportedf("no Watson buckets are present: only .NET on Windows has them")
	}
	return target.Unsupportedf("Watson buckets are not read")
}
