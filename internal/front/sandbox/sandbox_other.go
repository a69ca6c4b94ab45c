//go:build !linux || !(amd64 || arm64)

package sandbox

import "runtime"

func enter() error {
	return unsupported("there is none for %s/%s, only for linux/amd64 and linux/arm64", runtime.GOOS, runtime.GOARCH)
}
